package keylang_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

func TestPrefixFree(t *testing.T) {
	for _, c := range []struct{ value, shorter, longer string }{
		{"uuid", "", ""},
		{"ulid", "", ""},
		{"ksuid", "", ""},
		{"time", "", ""},
		{"date", "", ""},
		{"bool", "", ""},
		{"Status", "", ""},
		{"int|pad(4)", "", ""},
		{"int|desc(4)", "", ""},
		{"time|ts(ms)", "", ""},
		{"id|hash(8)", "", ""},
		{"id|shard(10)", "", ""},
		{"id|shard(12)", "1", "10"},
		{"id", "a", "aa"},
		{"slug", "a", "aa"},
		{"email", "a@b", "a@bb"},
		{"text", "a", "aa"},
		{"text(1)", "", "a"}, // the empty text is a prefix of everything
		{"text|fold", "a", "aa"},
		{"int", "1", "10"},
		{"Short", "a", "a#"},
		{"time|first(7)", "", ""},
		{"id|first(1)", "", ""},
		{"id|first(2)", "a", "aa"},
	} {
		x, ok := value(t, c.value).PrefixFree()
		if ok != (c.longer == "") || x.Shorter != c.shorter || x.Longer != c.longer || ok == x.Certain {
			t.Errorf("%s: %+v %v, want %q and %q", c.value, x, ok, c.shorter, c.longer)
		}
	}
	if x, ok := template(t, "userId:id", "USER#{userId}").Language().PrefixFree(); ok || x.Longer != "USER#aa" {
		t.Errorf("USER#a is the beginning of USER#aa: %+v", x)
	}
	if x, ok := template(t, "userId:id", "USER#{userId}#").Language().PrefixFree(); !ok {
		t.Errorf("the # ends an id: %+v", x)
	}
}

func TestIntersectPrefix(t *testing.T) {
	for _, c := range []struct {
		fields, prefix, of string
		shorter, longer    string
	}{
		{"u:id", "USER#", "USER#{u}", "USER#", "USER#a"},
		{"u:id", "USER#{u}", "USER#{u}#POST", "USER#a", "USER#a#POST"},
		{"u:id", "USER#{u}#", "USER#{u}", "", ""},
		{"u:text", "USER#{u}#", "USER#{u}", "USER#a#", "USER#a#"},
		{"u:uuid", "TX#", "TXN#{u}", "", ""},
		{"u:uuid", "TX", "TXN#{u}", "TX", "TXN#3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c"},
		{"at:time m:time", "{at|date(yyyy-MM)}", "{m}", "2024-01", "2024-01-01T10:30:00.000Z"},
		{"n:int m:int", "{n|pad(3)}", "{m}", "100", "100"},
		{"s:Status", "S#{s}", "S#paid", "S#paid", "S#paid"},
		{"s:Level", "S#{s}", "S#paid", "", ""},
	} {
		x, ok := keylang.IntersectPrefix(template(t, c.fields, c.prefix).Language(), template(t, c.fields, c.of).Language())
		if ok != (c.longer != "") || x.Shorter != c.shorter || x.Longer != c.longer || ok != x.Certain {
			t.Errorf("begins_with %s finds %s: %+v %v, want %q and %q", c.prefix, c.of, x, ok, c.shorter, c.longer)
		}
	}
}

func TestAmbiguous(t *testing.T) {
	for _, c := range []struct {
		fields string
		key    []string // templates
		want   string   // the texts, "" for none, "?" where there is one that is not certain
	}{
		// Two facts that distinguish an exact answer from a rule of thumb.
		{"userId:text movieId:int", []string{"{userId}#{movieId}"}, ""}, // the last # decides
		{"userId:id movieId:int", []string{"{userId}#{movieId}"}, ""},
		{"a:text b:text", []string{"IDE#{a}#{b}"}, "IDE#a##a"},
		{"a:uuid b:text", []string{"IDE#{a}#{b}"}, ""},

		{"a:text b:uuid", []string{"IDE#{a}#{b}"}, ""},
		{"a:id b:id", []string{"IDE#{a}#{b}"}, ""},
		{"a:id b:id", []string{"{a}.{b}"}, "a..a"},
		{"a:id b:id", []string{"{a}{b}"}, "aaa"},
		{"a:int b:int", []string{"{a}{b}"}, "110"}, // 00 is not an int
		{"a:int b:int", []string{"{a|pad(3)}{b|pad(3)}"}, ""},
		{"a:int b:int", []string{"{a|pad(3)}{b}"}, ""},
		{"a:slug b:slug", []string{"{a}-{b}"}, "a--a"},
		{"a:slug b:slug", []string{"{a}_{b}"}, ""},
		{"a:slug b:uuid", []string{"{a}-{b}"}, ""}, // a uuid has 36
		{"a:email b:id", []string{"{a}#{b}"}, ""},  // the first # after the @
		{"a:email b:text", []string{"{a}#{b}"}, ""},
		{"a:text b:email", []string{"{a}#{b}"}, "a##a@b"}, // a local part may begin with #
		{"a:text b:Status", []string{"{a}#{b}"}, ""},
		{"a:Short b:Short", []string{"{a}#{b}"}, ""}, // b would have to be "#a"
		{"a:text(1) b:text(1)", []string{"{a}{b}"}, "a"},
		{"at:time id:ulid", []string{"TX#{at}#{id}"}, ""},
		{"a:text", []string{"{a}"}, ""},
		{"e:email", []string{"EMAIL#{e|lower}"}, ""}, // two addresses are intentionally equal
		{"", []string{"METADATA"}, ""},

		// A partition key and a sort key.
		{"a:text b:text", []string{"U#{a}", "P#{b}"}, ""},
		{"a:text b:text", []string{"{a}#{b}", "{a}"}, ""}, // the sort key determines a, so a determines b
		{"a:text b:text", []string{"{a}#{b}", "{b}"}, ""}, // from the end
		{"a:text b:text", []string{"{a}", "{a}#{b}"}, ""},
		{"a:text b:text c:text", []string{"{a}#{b}", "{c}"}, "a##a a"},
		{"a:text b:text c:text", []string{"{a}#{b}#{c}", "{c}"}, "a##a#a a"},
		{"a:text b:text c:text", []string{"{a}#{b}#{c}", "{b}"}, "a####a #"}, // b is the same, at a different place
		{"a:text b:text c:text", []string{"{a}#{b}", "{b}#{c}"}, "## ##a"},
		{"a:text b:text c:uuid", []string{"{c}", "{a}#{b}"}, "3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c a##a"},
		{"a:time b:text c:text", []string{"{a|date(yyyy-MM)}", "{a}#{b}"}, ""},
		{"a:text b:text c:text d:text", []string{"{a}", "{b}", "{c}", "{a}#{d}"}, ""},
		{"a:text", []string{"{a}#{a}"}, "?"}, // a repeated word is not a regular language
	} {
		var list []keylang.Template
		for _, s := range c.key {
			list = append(list, template(t, c.fields, s))
		}
		w, ok := keylang.Ambiguous(list...)
		got := strings.Join(w.Key, " ")
		if ok && !w.Certain {
			got = "?"
		}
		if ok != (c.want != "") || got != c.want {
			t.Errorf("%v of %s: %+v %v, want %q", c.key, c.fields, w, ok, c.want)
		}
		if !w.Certain {
			continue
		}
		for i, tmpl := range list {
			valid(t, tmpl, w.First, w.Key[i])
			valid(t, tmpl, w.Second, w.Key[i])
		}
		if !differ(w.First, w.Second) {
			t.Errorf("%v: %v twice", c.key, w.First)
		}
	}
}

func TestCollide(t *testing.T) {
	const spec = "u:id p:uuid s:Status n:int a:text at:time"
	for _, c := range []struct {
		a, b    [2]string
		want    string
		certain bool
	}{
		{[2]string{"USER#{u}", "PROFILE"}, [2]string{"USER#{u}", "PROFILE"}, "USER#a/PROFILE", true},
		{[2]string{"USER#{u}", "PROFILE"}, [2]string{"USER#{p}", "POST#{p}"}, "", false},
		{[2]string{"USER#{u}", "{a}"}, [2]string{"USER#{p}", "POST#{p}"}, "USER#3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c/POST#3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c", true},
		{[2]string{"{u}", "{u}"}, [2]string{"{a}", "META"}, "META/META", true}, // the sort key determines u
		{[2]string{"{u}", "{u}"}, [2]string{"A", "B"}, "A/B", false},           // u cannot be both: over-approximated
		{[2]string{"{at|date(yyyy)}", "{at}"}, [2]string{"{at|date(yyyy)}", "{at}"}, "2024/2024-01-01T10:30:00.000Z", false},
	} {
		w, ok := keylang.Collide(key(t, spec, c.a[0], c.a[1]), key(t, spec, c.b[0], c.b[1]))
		if got := strings.Join(w.Key, "/"); ok != (c.want != "") || got != c.want && ok || w.Certain != c.certain {
			t.Errorf("%v and %v: %+v %v, want %q", c.a, c.b, w, ok, c.want)
		}
		if w.Certain {
			for i := range w.Key {
				valid(t, key(t, spec, c.a[0], c.a[1])[i], w.First, w.Key[i])
				valid(t, key(t, spec, c.b[0], c.b[1])[i], w.Second, w.Key[i])
			}
		}
	}
}

// TestLimits tests the lengths that are compared with DynamoDB's limits of keys: 2,048 and 1,024
// bytes, and not 0.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		fields, template string
		min, max         int // max -1: unbounded
	}{
		{"u:uuid", "USER#{u}", 41, 41},
		{"u:id", "USER#{u}", 6, -1},
		{"u:id(100) n:int", "USER#{u}#{n|pad(4)}", 11, 110},
		{"name:text(200) p:uuid", "{name|fold}#{p}", 37, 237},
		{"name:text", "{name|fold}", 0, -1},
		{"name:text", "{name|first(10)}", 0, 40},
		{"e:email", "EMAIL#{e|lower}", 9, 260},
		{"", "METADATA", 8, 8},
	} {
		l := template(t, c.fields, c.template).Language()
		n, bounded := l.MaxBytes()
		if !bounded {
			n = -1
		}
		if l.MinBytes() != c.min || n != c.max {
			t.Errorf("%s has from %d to %d bytes, want %d to %d", c.template, l.MinBytes(), n, c.min, c.max)
		}
	}
}

// TestOrders tests which texts sort like their values, with the reason that a finding would print.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		value  string
		want   keylang.Order
		reason string // a part of it
	}{
		{"id", keylang.Random, "no meaningful order"},
		{"uuid", keylang.Random, "random"},
		{"ulid", keylang.Ordered, "time"},
		{"ulid|lower", keylang.Ordered, "time"},
		{"ksuid", keylang.Ordered, "time"},
		{"ksuid|lower", keylang.Random, "lower case"},
		{"time", keylang.Ordered, "fixed width"},
		{"date", keylang.Ordered, "fixed width"},
		{"date|date(yyyy-MM-dd)", keylang.Ordered, "fixed width"},
		{"time|date(yyyy-MM)", keylang.Coarse, "month"},
		{"time|ts(ms)", keylang.Ordered, "13 digits"},
		{"time|ts(s)", keylang.Coarse, "same second"},
		{"time|ts(ms)|desc(13)", keylang.Reversed, "10^13"},
		{"time|first(4)", keylang.Coarse, "first 4"},
		{"int", keylang.Unpadded, "10 sorts before 9"},
		{"money", keylang.Unpadded, "pad"},
		{"ttl", keylang.Unpadded, "pad(10)"},
		{"decimal", keylang.Unpadded, "no function"},
		{"int|pad(4)", keylang.Ordered, "4 digits"},
		{"int|desc(4)", keylang.Reversed, "10^4"},
		{"int|band(100)", keylang.Unpadded, "pad(n) after |band"},
		{"int|band(100)|pad(6)", keylang.Coarse, "same band of 100"},
		{"int|band(100)|desc(6)", keylang.Coarse, "same band of 100"},
		{"int|mod(4)|pad(2)", keylang.Random, "remainder"},
		{"id|shard(8)", keylang.Random, "hash"},
		{"id|shard(12)|pad(2)", keylang.Random, "hash"},
		{"int|hash(8)", keylang.Random, "hash"},
		{"text", keylang.ByText, "Z sorts before a"},
		{"text|lower", keylang.ByText, "lower case"},
		{"text|fold", keylang.ByText, "without case and accents"},
		{"email|lower", keylang.ByText, "lower case"},
		{"slug", keylang.ByText, "code point"},
		{"text|first(3)", keylang.Coarse, "first 3"},
		{"Level", keylang.Ordered, "declared"},
		{"Status", keylang.ByText, "Shipped first"},
		{"Status|lower", keylang.ByText, "paid first"},
		{"bool", keylang.Ordered, "false"},
		{"bytes", keylang.Ordered, "as they are"},
	} {
		kind, _, _ := strings.Cut(c.value, "|")
		e := fields(t, "x:"+kind)
		calls := parse(t, "{x"+strings.TrimPrefix(c.value, kind)+"}").Parts[0].Funcs
		s, err := keylang.Sorts(shop(), e.Fields[0], calls...)
		if err != nil || s.Order != c.want || !strings.Contains(s.Reason, c.reason) {
			t.Errorf("%s: %+v %v, want %d because of %q", c.value, s, err, c.want, c.reason)
		}
	}
}

// TestSeparatorsThatBreakOrder tests separators that break the order of the preceding value.
func TestSeparatorsThatBreakOrder(t *testing.T) {
	for _, c := range []struct {
		fields, template string
		longer           string
		certain          bool
	}{
		{"name:text id:uuid", "{name|fold}#{id}", "a!", true}, // "a!#…" is before "a#…"
		{"name:text id:uuid", "{name|slug}#{id}", "", false},
		{"name:slug id:uuid", "{name}#{id}", "", false}, // - sorts after #
		{"name:slug id:uuid", "{name}~{id}", "aa", true},
		{"u:id id:uuid", "{u}#{id}", "", false},
		{"u:slug n:int", "{u}-{n}", "a-", false}, // depends on what follows the second -
		{"at:time id:uuid", "{at}#{id}", "", false},
		{"name:text", "P#{name}", "", false}, // the end sorts before everything
		{"n:int m:int", "{n}{m}", "1-", false},
	} {
		w, ok := template(t, c.fields, c.template).OutOfOrder()
		if c.template == "{n}{m}" {
			if !ok {
				t.Errorf("%s is out of order", c.template)
			}
			continue
		}
		if ok != (c.longer != "") || w.Longer != c.longer || w.Certain != c.certain {
			t.Errorf("%s: %+v %v, want %q", c.template, w, ok, c.longer)
		}
	}
}
