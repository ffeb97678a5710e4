package races

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// values makes the values of a scenario, from literals of the design or made up.
type values struct {
	design *design.Design
	// now is the start time of the scenario.
	now time.Time
	// named maps IDs that were made from short names to those names: a design says r-1 where a UUID is needed.
	named map[string]string
}

func newValues(d *design.Design, now time.Time) *values {
	return &values{design: d, now: now, named: map[string]string{}}
}

// of converts a literal to a value of a type in stored form; nil for null.
func (v *values) of(t design.Type, l design.Literal) (types.AttributeValue, error) {
	switch {
	case l.Null:
		return nil, nil //nolint:nilnil // null is stored as no attribute
	case t.Kind == design.KindBytes:
		raw, err := base64.StdEncoding.DecodeString(l.Text)
		if err != nil {
			return nil, fmt.Errorf("%q is not base 64", l.Text)
		}
		return &types.AttributeValueMemberB{Value: raw}, nil
	case t.Scalar():
		text, err := render.Text(t, l)
		if err != nil {
			return nil, err
		}
		return lower.Scalar(t, v.id(t.Kind, text)), nil
	case t.Kind == design.KindStruct:
		return v.structure(v.design.Struct(t.Name), l)
	case t.Kind == design.KindMap:
		return v.mapping(t, l)
	default:
		return v.list(t, l)
	}
}

func (v *values) structure(s *design.Struct, l design.Literal) (types.AttributeValue, error) {
	if l.Map == nil {
		return nil, fmt.Errorf("%s is a struct, written as { field: value }", s.Name)
	}
	out := map[string]types.AttributeValue{}
	for name, member := range l.Map {
		i := slices.IndexFunc(s.Fields, func(f *design.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no field %q", s.Name, name)
		}
		value, err := v.of(s.Fields[i].Type, member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != nil {
			lower.Put(out, s.Fields[i].Path, value)
		}
	}
	return &types.AttributeValueMemberM{Value: out}, nil
}

func (v *values) mapping(t design.Type, l design.Literal) (types.AttributeValue, error) {
	if l.Map == nil {
		return nil, fmt.Errorf("a map is written as { name: value }")
	}
	out := map[string]types.AttributeValue{}
	for name, member := range l.Map {
		value, err := v.of(*t.Elem, member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = value
	}
	return &types.AttributeValueMemberM{Value: out}, nil
}

// list is a list or a set.
func (v *values) list(t design.Type, l design.Literal) (types.AttributeValue, error) {
	if l.List == nil {
		return nil, fmt.Errorf("a %s is written as [a, b]", t.Kind)
	}
	out := make([]types.AttributeValue, len(l.List))
	for i, elem := range l.List {
		value, err := v.of(*t.Elem, elem)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out[i] = value
	}
	if t.Kind == design.KindSet {
		return setOf(out), nil
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

func setOf(members []types.AttributeValue) types.AttributeValue {
	texts, numbers, bytes := []string(nil), []string(nil), [][]byte(nil)
	for _, m := range members {
		switch m := m.(type) {
		case *types.AttributeValueMemberN:
			numbers = append(numbers, m.Value)
		case *types.AttributeValueMemberB:
			bytes = append(bytes, m.Value)
		case *types.AttributeValueMemberS:
			texts = append(texts, m.Value)
		}
	}
	switch {
	case numbers != nil:
		return &types.AttributeValueMemberNS{Value: numbers}
	case bytes != nil:
		return &types.AttributeValueMemberBS{Value: bytes}
	default:
		return &types.AttributeValueMemberSS{Value: texts}
	}
}

// id is the ID of a kind that a text stands for: the text itself if it is valid or the kind has no form of its own,
// otherwise one derived from it, always the same.
func (v *values) id(k design.Kind, text string) string {
	form := func(id string) string { v.named[id] = text; return id }
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:])
	switch {
	case k == design.KindUUID && len(text) != 36:
		return form(digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-8" + digits[17:20] + "-" + digits[20:32])
	case k == design.KindULID && len(text) != 26:
		return form("0" + strings.ToUpper(digits[:25])) // hexadecimal digits are valid in Crockford's alphabet
	case k == design.KindKSUID && len(text) != 27:
		return form("0" + digits[:26])
	default:
		return text
	}
}

// inventedValue is a value that a scenario needs and does not provide: equal names get equal values, so that writes touch the same
// items.
func (v *values) inventedValue(name string, t design.Type) types.AttributeValue {
	later := v.now.Add(24 * time.Hour)
	name = v.design.NamedLike(name, t)
	switch t.Kind {
	case design.KindInt, design.KindDecimal, design.KindMoney:
		return &types.AttributeValueMemberN{Value: "3"}
	case design.KindBool:
		return &types.AttributeValueMemberBOOL{Value: true}
	case design.KindTime:
		return &types.AttributeValueMemberS{Value: v.now.Format(keytext.TimeLayout)}
	case design.KindDate:
		return &types.AttributeValueMemberS{Value: v.now.Format(keytext.DateLayout)}
	case design.KindTTL:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(later.Unix())}
	case design.KindBytes:
		return &types.AttributeValueMemberB{Value: []byte(name)}
	case design.KindEmail:
		return &types.AttributeValueMemberS{Value: name + "@example.com"}
	case design.KindSlug:
		return &types.AttributeValueMemberS{Value: strings.ReplaceAll(strings.ToLower(name), "_", "-")}
	case design.KindEnum:
		return &types.AttributeValueMemberS{Value: v.design.Enum(t.Name).Values[0]}
	case design.KindStruct:
		out := map[string]types.AttributeValue{}
		for _, f := range v.design.Struct(t.Name).Fields {
			if !f.Optional {
				lower.Put(out, f.Path, v.inventedValue(f.Name, f.Type))
			}
		}
		return &types.AttributeValueMemberM{Value: out}
	case design.KindList:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	case design.KindMap:
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
	case design.KindSet:
		return setOf([]types.AttributeValue{v.inventedValue(name, *t.Elem)})
	default:
		return &types.AttributeValueMemberS{Value: v.id(t.Kind, name)}
	}
}

// inventedID is the n-th ID that an attempt of a process generates: it differs from all others, and is the same whenever the
// attempt is run again.
func (v *values) inventedID(k table.Kind, process, attempt, n int) string {
	text := fmt.Sprintf("%s-%d", letter(process), n)
	if attempt > 0 {
		text = fmt.Sprintf("%s%d-%d", letter(process), attempt+1, n)
	}
	return v.id(design.Kind(k), text)
}

// letter names a process.
func letter(process int) string { return string(rune('A' + process)) }

// show formats a value as readable text.
func (v *values) show(value types.AttributeValue) string {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		if name, isNamed := v.named[value.Value]; isNamed {
			return name
		}
		return value.Value
	case *types.AttributeValueMemberN:
		return value.Value
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(value.Value)
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(value.Value)
	case *types.AttributeValueMemberL:
		return "[" + joined(value.Value, v.show) + "]"
	case *types.AttributeValueMemberSS:
		return "[" + joined(value.Value, func(s string) string { return s }) + "]"
	case *types.AttributeValueMemberNS:
		return "[" + joined(value.Value, func(s string) string { return s }) + "]"
	case *types.AttributeValueMemberM:
		return "{…}"
	default:
		return "…"
	}
}

func joined[T any](list []T, text func(T) string) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return strings.Join(out, ", ")
}
