package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// The maps beside the expressions are looked at before any text.
func TestNewBinder(t *testing.T) {
	long := strings.Repeat("a", 255)
	value := attr.String("x")
	for _, c := range []struct {
		name   string
		names  map[string]string
		values attr.Item
		want   string
	}{
		{name: "neither"},
		{name: "empty names", names: map[string]string{}, want: "ExpressionAttributeNames must not be empty"},
		{name: "empty values", values: attr.Item{}, want: "ExpressionAttributeValues must not be empty"},
		{name: "alias of 255 bytes", names: map[string]string{"#" + long[1:]: "a"}},
		{
			name: "alias of 256 bytes", names: map[string]string{"#" + long: "a"},
			want: `ExpressionAttributeNames contains invalid key: The key length exceeds the maximum of 255 bytes; key: "#` + long + `"`,
		},
		{
			name: "placeholder of 256 bytes", values: attr.Item{{Name: ":" + long, Value: value}},
			want: `ExpressionAttributeValues contains invalid key: The key length exceeds the maximum of 255 bytes; key: ":` + long + `"`,
		},
		{
			name: "bare sigil", names: map[string]string{"#": "a"},
			want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`,
		},
		{
			name: "no sigil", values: attr.Item{{Name: "v", Value: value}},
			want: `ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`,
		},
		{name: "name of 65535 bytes", names: map[string]string{"#a": strings.Repeat("n", 65535)}},
		{
			name: "name of 65536 bytes", names: map[string]string{"#a": strings.Repeat("n", 65536)},
			want: "Attribute name is too large, must be less than 65536 bytes",
		},
		{name: "more than 2 MB of names", names: manyNames(), want: "ExpressionAttributeNames exceeds max size"},
		{
			name: "more than 2 MB of values", values: attr.Item{{Name: ":v", Value: attr.String(strings.Repeat("v", 2<<20))}},
			want: "ExpressionAttributeValues exceeds max size",
		},
		{
			name: "the first in the order of keys", names: map[string]string{"#b-": "x", "#a-": "x", "#c-": "x"},
			want: `ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := eval.NewBinder(c.names, c.values)
			if got := message(err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Names and values without an expression are refused whatever they are.
func TestCheckAlone(t *testing.T) {
	f := func(names map[string]string, values attr.Item, possible []string, want string) {
		t.Helper()
		if got := message(eval.CheckAlone(names, values, possible...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(nil, nil, nil, "")
	f(map[string]string{}, attr.Item{}, nil, "ExpressionAttributeNames can only be specified when using expressions")
	f(nil, attr.Item{}, []string{"ConditionExpression"},
		"ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null")
	f(nil, attr.Item{}, []string{"UpdateExpression", "ConditionExpression"},
		"ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null")
}

// manyNames is more than 2 MB of names, each of them allowed.
func manyNames() map[string]string {
	out := map[string]string{}
	for i := range 40 {
		out["#"+strings.Repeat("x", i+1)] = strings.Repeat("n", 60000)
	}
	return out
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const tooDeep = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"

// nested is a scalar inside depth maps.
func nested(depth int) attr.Value {
	v := attr.String("leaf")
	for range depth {
		v = attr.Map(attr.Item{{Name: "m", Value: v}})
	}
	return v
}

// A value has 31 levels of maps at most, which is looked at after everything else in the request; an update
// must not make an item deeper than that either.
func TestDepth(t *testing.T) {
	bind := func(v attr.Value, text string) (*eval.Update, error) {
		b, err := eval.NewBinder(nil, attr.Item{{Name: ":v", Value: v}})
		if err != nil {
			return nil, err
		}
		u, err := b.Update(text)
		if err != nil {
			return nil, err
		}
		return u, b.Done()
	}
	if _, err := bind(nested(32), "SET a = :v"); message(err) != tooDeep {
		t.Errorf("32 levels: %v", err)
	}
	if _, err := bind(nested(32), "SET a = :v, b = :w"); !strings.Contains(message(err), ":w") {
		t.Errorf("an undefined value is checked before the depth: %v", err)
	}
	u, err := bind(nested(31), "SET a = :v")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Apply(nil); err != nil {
		t.Errorf("31 levels: %v", err)
	}
	u, err = bind(nested(31), "SET a.x = :v")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Apply(attr.Item{{Name: "a", Value: attr.Map(nil)}}); message(err) != tooDeep {
		t.Errorf("31 levels one level down: %v", err)
	}
}

// Many values are distinguished like few.
func TestDistinctValuesOfManyOperands(t *testing.T) {
	values := attr.Item{}
	text := strings.Builder{}
	for i := range 40 {
		key := ":v" + string(rune('A'+i/10)) + string(rune('0'+i%10))
		values = values.With(key, attr.Number("1"))
		if i == 17 || i == 33 {
			continue
		}
		if i > 0 {
			text.WriteString(" OR ")
		}
		text.WriteString("a = " + key)
	}
	b, err := eval.NewBinder(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Condition(expr.Filter, text.String()); err != nil {
		t.Fatal(err)
	}
	if got, want := message(b.Done()), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:vB7, :vD3}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckMixed(t *testing.T) {
	err := eval.CheckMixed([]string{"ConditionExpression"}, []string{"AttributeUpdates", "Expected"})
	want := "Can not use both expression and non-expression parameters in the same request: " +
		"Non-expression parameters: {AttributeUpdates, Expected} Expression parameters: {ConditionExpression}"
	if got := message(err); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := eval.CheckMixed(nil, []string{"Expected"}); err != nil {
		t.Error(err)
	}
}

// A nil condition is true of everything.
func TestNoCondition(t *testing.T) {
	var c *eval.Condition
	if ok, err := c.Eval(nil); !ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
}

// fuzzItem has every kind of value and names that short expressions hit.
var fuzzItem = attr.Item{
	{Name: "a", Value: attr.Number("1")},
	{Name: "b", Value: attr.Map(attr.Item{{Name: "a", Value: attr.String("x")}, {Name: "c", Value: attr.List(nil)}})},
	{Name: "c", Value: attr.List([]attr.Value{attr.Number("2"), attr.Map(attr.Item{{Name: "a", Value: attr.Null()}}), attr.Bool(true)})},
	{Name: "d", Value: attr.Set(attr.KindNumberSet, []attr.Value{attr.Number("1"), attr.Number("2")})},
	{Name: "e", Value: attr.Binary("\x00\xff")},
}

var fuzzValues = attr.Item{
	{Name: ":b", Value: attr.Binary("\x00")},
	{Name: ":l", Value: attr.List([]attr.Value{attr.String("x")})},
	{Name: ":m", Value: attr.Map(nil)},
	{Name: ":n", Value: attr.Number("1")},
	{Name: ":s", Value: attr.String("S")},
	{Name: ":t", Value: attr.Set(attr.KindNumberSet, []attr.Value{attr.Number("1")})},
}

// Nothing panics and nothing changes the item it is given; an update reads only what it was given, so it
// gives the same again.
func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{
		"a = :n AND contains(c, :n) OR NOT size(d) >= b.a", "a, b.c[0], c[1].#x, c[0]", "attribute_type(a, :s)",
		"SET a = a + :n, c[7] = :l, c[0] = if_not_exists(b.z, :m) REMOVE c[1], b.a ADD d :t", "DELETE d :t REMOVE e",
		"SET c = list_append(c, :l), b.c = :m", "a BETWEEN :n AND :n", "begins_with(e, :b) AND a IN (:n, b.a)",
	} {
		f.Add(text)
	}
	before := fuzzItem.String()
	f.Fuzz(func(t *testing.T, text string) {
		b, err := eval.NewBinder(map[string]string{"#x": "a"}, fuzzValues)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []expr.Surface{expr.Condition, expr.Filter} {
			if c, err := b.Condition(s, text); err == nil {
				_, _ = c.Eval(fuzzItem)
				_, _ = c.Eval(nil)
				_ = c.Attributes()
			}
		}
		_, _ = b.KeyCondition(text)
		if p, err := b.Projection(text); err == nil {
			whole := p.Apply(fuzzItem)
			if again := p.Apply(whole); len(p.Attributes()) < len(whole) || len(again) > len(whole) {
				t.Errorf("%q projects %s to %s", text, whole, again)
			}
		}
		if u, err := b.Update(text); err == nil {
			fuzzUpdate(t, text, u)
		}
		_ = b.Done()
		if diff := cmp.Diff(before, fuzzItem.String()); diff != "" {
			t.Fatalf("%q changed the item:\n%s", text, diff)
		}
	})
}

func fuzzUpdate(t *testing.T, text string, u *eval.Update) {
	t.Helper()
	_, _ = u.Apply(nil)
	updated, err := u.Apply(fuzzItem)
	if err != nil {
		return
	}
	_ = u.Touched(fuzzItem)
	_ = u.Touched(updated)
	again, err := u.Apply(fuzzItem)
	if err != nil || !again.Equal(updated) {
		t.Errorf("%q: %s, then %s (%v)", text, updated, again, err)
	}
	for i := 1; i < len(updated); i++ {
		if updated[i-1].Name >= updated[i].Name {
			t.Errorf("%q leaves names out of order: %s", text, updated)
		}
	}
}
