package table

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// check refuses values that are none of their fields' types: *ValueError. Fields that are not there are not asked for.
func (e *Entity) check(v Values) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		if value := v[f.Name]; value != nil {
			if err := f.Type.checkValue(f.Name, value, f.MaxBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValue refuses a value that is none of a type; name is for the error. An empty set is one: a field that has it is not
// stored.
func (t Type) checkValue(name string, v types.AttributeValue, maxBytes int) error {
	switch t.Kind {
	case kindStruct:
		return t.checkStruct(name, v)
	case kindList:
		list, ok := v.(*types.AttributeValueMemberL)
		if !ok || t.Elem == nil {
			return t.refuse(name, v)
		}
		for i, elem := range list.Value {
			if err := t.Elem.checkInner(name+"["+strconv.Itoa(i)+"]", elem, 0); err != nil {
				return err
			}
		}
		return nil
	case kindMap:
		m, ok := v.(*types.AttributeValueMemberM)
		if !ok || t.Elem == nil {
			return t.refuse(name, v)
		}
		for _, key := range slices.Sorted(maps.Keys(m.Value)) {
			if err := t.Elem.checkInner(name+"."+key, m.Value[key], 0); err != nil {
				return err
			}
		}
		return nil
	case kindSet:
		return t.checkSet(name, v)
	default:
		text, err := t.text(name, v)
		if err != nil {
			return err
		}
		if t.Kind.textual() && !t.contains(text) || t.Kind == kindTTL && strings.HasPrefix(text, "-") {
			return t.refuse(name, v)
		}
		return fits(name, text, maxBytes)
	}
}

// checkInner is checkValue for what stands inside of a value, which is stored as it is.
func (t Type) checkInner(name string, v types.AttributeValue, maxBytes int) error {
	if emptySet(v) {
		return &ValueError{Field: name, Reason: "is an empty set, which DynamoDB does not hold: leave it out"}
	}
	return t.checkValue(name, v, maxBytes)
}

// checkStruct checks a structure's fields, which are stored in a map as an entity's are in an item. Members that are no
// field are left alone: they may be another program's.
func (t Type) checkStruct(name string, v types.AttributeValue) error {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok || t.Fields == nil {
		return t.refuse(name, v)
	}
	for i := range *t.Fields {
		f := &(*t.Fields)[i]
		step := name + "." + f.Name
		value := at(m.Value, f.Path)
		switch {
		case value != nil:
			if err := f.Type.checkInner(step, value, f.MaxBytes); err != nil {
				return err
			}
		case !f.Optional && !f.Type.Kind.collection():
			return missing(step)
		}
	}
	return nil
}

// checkSet checks the members of a set, which differ.
func (t Type) checkSet(name string, v types.AttributeValue) error {
	members, ok := membersOf(v)
	if !ok || t.Elem == nil {
		return t.refuse(name, v)
	}
	met := make(map[string]bool, len(members))
	for i, member := range members {
		step := name + "[" + strconv.Itoa(i) + "]"
		if err := t.Elem.checkValue(step, member, 0); err != nil {
			return err
		}
		text, err := t.Elem.text(step, member)
		if err != nil {
			return err
		}
		if met[text] {
			return &ValueError{Field: step, Reason: "is in the set already"}
		}
		met[text] = true
	}
	return nil
}

// membersOf are a set's members as values.
func membersOf(v types.AttributeValue) ([]types.AttributeValue, bool) {
	var out []types.AttributeValue
	switch set := v.(type) {
	case *types.AttributeValueMemberSS:
		for _, s := range set.Value {
			out = append(out, &types.AttributeValueMemberS{Value: s})
		}
	case *types.AttributeValueMemberNS:
		for _, n := range set.Value {
			out = append(out, &types.AttributeValueMemberN{Value: n})
		}
	case *types.AttributeValueMemberBS:
		for _, b := range set.Value {
			out = append(out, &types.AttributeValueMemberB{Value: b})
		}
	default:
		return nil, false
	}
	return out, true
}

// text is the one text of a scalar value, as it stands in keys before functions. The value must be stored as its kind is,
// and numbers must be such; the languages of texts are contains' to know.
func (t Type) text(name string, v types.AttributeValue) (string, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if t.Kind.textual() && utf8.ValidString(v.Value) {
			return v.Value, nil
		}
	case *types.AttributeValueMemberN:
		number := keytext.Whole
		if t.Kind == kindDecimal {
			number = keytext.Decimal
		}
		if text, err := number(v.Value); err == nil && t.Kind.numeric() {
			return text, nil
		}
	case *types.AttributeValueMemberBOOL:
		if t.Kind == kindBool {
			return strconv.FormatBool(v.Value), nil
		}
	case *types.AttributeValueMemberB:
		if t.Kind == kindBytes {
			return string(v.Value), nil
		}
	default:
	}
	return "", t.refuse(name, v)
}

// refuse is the error of a value that is none of a type. It does not repeat the value, which may be a secret.
func (t Type) refuse(name string, v types.AttributeValue) error {
	is := "is not "
	if stored := storedAs(v); stored != t.stored() {
		is = "is a value of type " + stored + ", not "
	}
	return &ValueError{Field: name, Reason: is + t.described()}
}

// stored is the attribute type that values of a type have.
func (t Type) stored() string {
	switch {
	case t.Kind.textual():
		return "S"
	case t.Kind.numeric():
		return "N"
	}
	switch t.Kind {
	case kindBool:
		return "BOOL"
	case kindBytes:
		return "B"
	case kindStruct, kindMap:
		return "M"
	case kindList:
		return "L"
	case kindSet:
		if t.Elem != nil {
			return t.Elem.stored() + "S"
		}
	default:
	}
	return ""
}

// storedAs is the attribute type that a value has.
func storedAs(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	default:
		return "none"
	}
}

// fits holds a text to a field's limit, which is what bounds keys.
func fits(name, text string, maxBytes int) error {
	if maxBytes > 0 && len(text) > maxBytes {
		return &ValueError{Field: name, Reason: fmt.Sprintf("has %d bytes in a key, more than the %d that it may have", len(text), maxBytes)}
	}
	return nil
}

// missing is the error of a required value that is not there.
func missing(name string) error { return &ValueError{Field: name, Reason: "is missing"} }

func (p *Param) check(name string, v types.AttributeValue) error {
	switch {
	case v != nil:
		return p.Type.checkValue(name, v, p.MaxBytes)
	case p.Optional || p.Type.Kind.collection():
		return nil
	default:
		return missing(name)
	}
}
