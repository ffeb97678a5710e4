package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/plural"
)

// Check rejects values of the wrong type for their fields: *ValueError. Absent fields are not checked.
func (e *Entity) Check(v Values) error {
	for i := range e.Fields {
		f := &e.Fields[i]
		if value := v[f.Name]; value != nil {
			if err := f.Type.CheckValue(f.Name, value, f.MinBytes, f.MaxBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckValue rejects a value of the wrong type; name is for the error. An empty set is valid: a field with one is not stored.
func (t Type) CheckValue(name string, v types.AttributeValue, minBytes, maxBytes int) error {
	switch t.Kind {
	case KindStruct:
		return t.checkStruct(name, v)
	case KindList:
		list, ok := v.(*types.AttributeValueMemberL)
		if !ok || t.Elem == nil {
			return t.refuse(name, v)
		}
		for i, elem := range list.Value {
			if err := t.Elem.checkInner(name+"["+strconv.Itoa(i)+"]", elem, 0, 0); err != nil {
				return err
			}
		}
		return nil
	case KindMap:
		m, ok := v.(*types.AttributeValueMemberM)
		if !ok || t.Elem == nil {
			return t.refuse(name, v)
		}
		for _, key := range slices.Sorted(maps.Keys(m.Value)) {
			if key == "" {
				return &ValueError{Field: name, Reason: "has an empty key, which DynamoDB cannot store"}
			}
			if err := t.Elem.checkInner(name+"."+key, m.Value[key], 0, 0); err != nil {
				return err
			}
		}
		return nil
	case KindSet:
		return t.checkSet(name, v)
	default:
		text, err := t.Text(name, v)
		if err != nil {
			return err
		}
		if t.Kind.textual() && !t.Contains(text) || t.Kind == KindTTL && strings.HasPrefix(text, "-") {
			return t.refuse(name, v)
		}
		return fits(name, text, "", minBytes, maxBytes)
	}
}

// checkInner is CheckValue for values inside of other values, which are stored as they are.
func (t Type) checkInner(name string, v types.AttributeValue, minBytes, maxBytes int) error {
	if EmptySet(v) || v == nil && t.Kind == KindSet {
		return &ValueError{Field: name, Reason: "is an empty set, which DynamoDB cannot store: leave it out"}
	}
	return t.CheckValue(name, v, minBytes, maxBytes)
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
		value := At(m.Value, f.Path)
		switch {
		case value != nil:
			if err := f.Type.checkInner(step, value, f.MinBytes, f.MaxBytes); err != nil {
				return err
			}
		case !f.Optional && !f.Type.Kind.Collection():
			return Missing(step)
		}
	}
	return nil
}

// checkSet checks the members of a set, which differ.
func (t Type) checkSet(name string, v types.AttributeValue) error {
	members, ok := MembersOf(v)
	if !ok || t.Elem == nil {
		return t.refuse(name, v)
	}
	met := make(map[string]bool, len(members))
	for i, member := range members {
		step := name + "[" + strconv.Itoa(i) + "]"
		if err := t.Elem.CheckValue(step, member, 0, 0); err != nil {
			return err
		}
		text, err := t.Elem.Text(step, member)
		if err != nil {
			return err
		}
		if met[text] {
			return &ValueError{Field: step, Reason: "is already in the set"}
		}
		met[text] = true
	}
	return nil
}

// MembersOf are a set's members as values.
func MembersOf(v types.AttributeValue) ([]types.AttributeValue, bool) {
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

// Text returns the text of a scalar value, as it is in keys before functions. The value must have its kind's stored type, and
// numbers must be valid; the languages of texts are checked by contains.
func (t Type) Text(name string, v types.AttributeValue) (string, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if t.Kind.textual() && utf8.ValidString(v.Value) {
			return v.Value, nil
		}
	case *types.AttributeValueMemberN:
		number := keytext.Whole
		if t.Kind == KindDecimal {
			number = keytext.Decimal
		}
		if text, err := number(v.Value); err == nil && t.Kind.Numeric() {
			return text, nil
		}
	case *types.AttributeValueMemberBOOL:
		if t.Kind == KindBool {
			return strconv.FormatBool(v.Value), nil
		}
	case *types.AttributeValueMemberB:
		if t.Kind == KindBytes {
			return string(v.Value), nil
		}
	default:
	}
	return "", t.refuse(name, v)
}

// refuse returns the error for a value of the wrong type. It does not repeat the value, which may be a secret.
func (t Type) refuse(name string, v types.AttributeValue) error {
	is := "is not "
	if stored := StoredAs(v); stored != t.stored() {
		is = "is a value of type " + stored + ", not "
	}
	return &ValueError{Field: name, Reason: is + t.described()}
}

// stored is the attribute type that values of a type have.
func (t Type) stored() string {
	switch {
	case t.Kind.textual():
		return "S"
	case t.Kind.Numeric():
		return "N"
	}
	switch t.Kind {
	case KindBool:
		return "BOOL"
	case KindBytes:
		return "B"
	case KindStruct, KindMap:
		return "M"
	case KindList:
		return "L"
	case KindSet:
		if t.Elem != nil {
			return t.Elem.stored() + "S"
		}
	default:
	}
	return ""
}

// StoredAs is the attribute type that a value has.
func StoredAs(v types.AttributeValue) string {
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

// fits checks a text against a field's limits. where is " in a key" if the text is not the value itself.
func fits(name, text, where string, minBytes, maxBytes int) error {
	if len(text) < minBytes {
		return &ValueError{Field: name, Reason: fmt.Sprintf("has %s%s: the minimum is %d", plural.Of(len(text), "byte"), where, minBytes)}
	}
	if maxBytes > 0 && len(text) > maxBytes {
		return &ValueError{Field: name, Reason: fmt.Sprintf("has %d bytes%s: the maximum is %d", len(text), where, maxBytes)}
	}
	return nil
}

// Missing is the error of a required value that is not there.
func Missing(name string) error { return &ValueError{Field: name, Reason: "is missing"} }

// IsNull reports whether a value is NULL, which no type is stored as.
func IsNull(v types.AttributeValue) bool {
	_, is := v.(*types.AttributeValueMemberNULL)
	return is
}

// Check rejects a value that is missing or is not of the param's type; name is for the error.
func (p *Param) Check(name string, v types.AttributeValue) error {
	switch {
	case p.Removable && IsNull(v):
		return nil
	case v != nil:
		return p.Type.CheckValue(name, v, p.MinBytes, p.MaxBytes)
	case p.Optional || p.Type.Kind.Collection():
		return nil
	default:
		return Missing(name)
	}
}
