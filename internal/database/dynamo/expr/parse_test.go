package expr_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// The size of a text is checked before anything else, an empty text too.
func TestSize(t *testing.T) {
	padded := func(n int) string { return "a = :v" + strings.Repeat(" ", n-len("a = :v")) }
	if _, err := expr.Parse(expr.Condition, padded(4096)); err != nil {
		t.Errorf("4096 bytes: %v", err)
	}
	_, err := expr.Parse(expr.Filter, padded(4097))
	var e *expr.Error
	if !errorsAs(err, &e) {
		t.Fatalf("4097 bytes: %v", err)
	}
	if got, want := e.Error(), "Invalid FilterExpression: Expression size has exceeded the maximum allowed size;"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := e.Older(), "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"; got != want {
		t.Errorf("older layer: got %q, want %q", got, want)
	}
	for name, s := range surfaces {
		_, err := expr.Parse(s, "")
		if want := "Invalid " + s.String() + ": The expression can not be empty;"; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// 300 operators are allowed, 301 are not; more are not counted.
func TestOperatorCount(t *testing.T) {
	text := strings.TrimSuffix(strings.Repeat("a=:v OR ", 150), " OR ") // 150 comparisons, 149 ORs
	if _, err := expr.Parse(expr.Condition, text+" OR NOT b=:v"); err == nil || !strings.Contains(err.Error(), "operator count: 301") {
		t.Errorf("302 operators: %v", err)
	}
	if _, err := expr.Parse(expr.Condition, "NOT "+text); err != nil {
		t.Errorf("300 operators: %v", err)
	}
	_, err := expr.Parse(expr.Condition, strings.Repeat("NOT ", 2)+text)
	if want := "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"; err == nil || err.Error() != want {
		t.Errorf("301 operators: got %v, want %q", err, want)
	}
}

// An IN takes 100 operands; the script has the 101st.
func TestInOperands(t *testing.T) {
	text := "a IN (:v" + strings.Repeat(", :v", 99) + ")"
	if _, err := expr.Parse(expr.Condition, text); err != nil {
		t.Error(err)
	}
}

func TestReserved(t *testing.T) {
	for _, word := range []string{"ABORT", "zone", "Status", "ttl", "name"} {
		if !expr.Reserved(word) {
			t.Errorf("%s is reserved", word)
		}
	}
	for _, word := range []string{"id", "pk", "sizes", "", "ABORT\nABSOLUTE"} {
		if expr.Reserved(word) {
			t.Errorf("%q is not reserved", word)
		}
	}
}

// Two paths clash where one leads to the other, or where they part as a name and an index.
func TestCheckPaths(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a, b, a1, c.d, c.e, f[0], f[1]", ""},
		{"a, a", "overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]"},
		{"b, a.b, a", "overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]"},
		{"a.b[0], c, a.b[0].d", "overlap with each other; must remove or rewrite one of these paths; path one: [a, b, [0]], path two: [a, b, [0], d]"},
		{"a.b, a[1]", "conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]"},
		{"x, a[3].z, y, a.b", "conflict with each other; must remove or rewrite one of these paths; path one: [a, [3], z], path two: [a, b]"},
	} {
		e, err := expr.Parse(expr.Projection, c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := expr.CheckPaths(expr.Projection, e.Paths, expr.SortPaths(e.Paths, nil), nil); err != nil {
			got = strings.TrimPrefix(err.Error(), "Invalid ProjectionExpression: Two document paths ")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}

// Load gives what Parse gives, from many goroutines and for more texts than it keeps.
func TestLoad(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				text := "a = :v" + strconv.Itoa((i*7+g)%2000)
				e, err := expr.Load(expr.Condition, text)
				if err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
				if got := expr.Print(e); got != text {
					t.Errorf("got %q, want %q", got, text)
					return
				}
			}
		})
	}
	wg.Wait()
	first, err := expr.Load(expr.Filter, "kept = :v")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := expr.Load(expr.Filter, "kept = :v"); again != first {
		t.Error("a recently parsed text was parsed again")
	}
	other, err := expr.Load(expr.Condition, "kept = :v")
	if err != nil || other == first {
		t.Errorf("another surface got the same tree (%v)", err)
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = expr.Load(expr.Filter, "kept = :v") }); allocs > 0 {
		t.Errorf("a hit allocates %v times", allocs)
	}
}

// Parse never panics, and printing a tree gives a text with the same tree.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a = :v AND (b <> :w OR NOT c < d.e[3])", "((a = :v))", "size(a) > :n", "(a) = (:v)", "a IN (:a, b, size(c))",
		"a BETWEEN :a AND :b", "a, b.#c[0]", "SET a = if_not_exists(a, :z) + :v, b = (c) REMOVE d ADD e :f DELETE g :h",
		"SET a = (b - c)", "NOT (a = b AND NOT not c = d)", "contains(a, :b) OR (a = b OR c = d)", "\xff", "a\u00e9 = :v",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range surfaces {
			e, err := expr.Parse(s, text)
			if err != nil {
				_ = err.Error()
				continue
			}
			printed := expr.Print(e)
			if len(printed) > expr.MaxTextBytes { // spaces and commas may add up
				continue
			}
			again, err := expr.Parse(s, printed)
			if err != nil {
				t.Fatalf("%s %q printed as %q: %v", s, text, printed, err)
			}
			if diff := cmp.Diff(tree(e), tree(again)); diff != "" {
				t.Fatalf("%s %q printed as %q:\n%s", s, text, printed, diff)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := expr.Parse(expr.Condition, benchText); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadHit(b *testing.B) {
	for b.Loop() {
		if _, err := expr.Load(expr.Condition, benchText); err != nil {
			b.Fatal(err)
		}
	}
}

const benchText = "attribute_exists(pk) AND #status = :open AND (expires > :now OR attribute_not_exists(expires))"
