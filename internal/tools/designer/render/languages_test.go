package render_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// TestLanguages tests that rendered keys are in the language of the template, for random values and
// functions. The message has the seed.
func TestLanguages(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
	r := rand.New(rand.NewPCG(seed, 0))   //nolint:gosec // a test's values
	d := &design.Design{Enums: []*design.Enum{
		{Name: "Plain", Values: []string{"PENDING", "In Transit", "done!"}},
		{Name: "Accents", Values: []string{"Envío", "ÑANDÚ", " x  y "}},
	}}
	kinds := []design.Type{
		{Kind: design.KindID},
		{Kind: design.KindUUID},
		{Kind: design.KindULID},
		{Kind: design.KindKSUID},
		{Kind: design.KindSlug},
		{Kind: design.KindEmail},
		{Kind: design.KindText},
		{Kind: design.KindInt},
		{Kind: design.KindDecimal},
		{Kind: design.KindMoney},
		{Kind: design.KindBool},
		{Kind: design.KindTime},
		{Kind: design.KindDate},
		{Kind: design.KindTTL},
		{Kind: design.KindBytes},
		{Kind: design.KindEnum, Name: "Plain"},
		{Kind: design.KindEnum, Name: "Accents"},
	}
	rendered := 0
	for n := range 3000 {
		f := &design.Field{Name: "v", Type: kinds[n%len(kinds)], Path: []string{"v"}}
		if r.IntN(4) == 0 {
			f.MaxBytes = 1 + r.IntN(40)
		}
		var calls []string
		for range r.IntN(3) {
			calls = append(calls, randomCall(r))
		}
		text := "{" + strings.Join(append([]string{"v"}, calls...), "|") + "}"
		template, err := design.ParseTemplate(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		language, err := keylang.OfField(d, f, template.Parts[0].Funcs...)
		if err != nil {
			continue // the kind does not accept the functions
		}
		value := randomValue(r, d, f.Type)
		e := &design.Entity{Name: "E", Fields: []*design.Field{f}}
		got, err := render.Key(e, template, design.KeyString, map[string]design.Literal{"v": {Text: value}})
		if err != nil {
			continue // too long, too large, negative or empty
		}
		rendered++
		if !language.Contains(got) {
			t.Errorf("seed %d: %s (at most %d bytes) of the %s %q is %q, which is not in its language", seed, text, f.MaxBytes, f.Type, value, got)
		}
		if most, bounded := language.MaxBytes(); bounded && len(got) > most {
			t.Errorf("seed %d: %s of the %s %q is %q, longer than %d", seed, text, f.Type, value, got, most)
		}
	}
	if rendered < 500 {
		t.Errorf("seed %d: only %d values were rendered", seed, rendered)
	}
}

func randomCall(r *rand.Rand) string {
	calls := []string{
		"lower", "fold", "slug", "pad(19)", "pad(3)", "desc(18)", "desc(4)", "ts(ms)", "ts(s)", "date(yyyy)", "date(yyyy-MM)", "date(yyyy-MM-dd)",
		"date(yyyy-MM-ddTHH)", "shard(7)", "shard(10000)", "shard(auto)",
	}
	if n := r.IntN(len(calls) + 4); n < len(calls) {
		return calls[n]
	}
	return fmt.Sprintf("%s(%d)", []string{"first", "hash"}[r.IntN(2)], 1+r.IntN(40))
}

func randomValue(r *rand.Rand, d *design.Design, t design.Type) string {
	of := func(alphabet string, n int) string {
		runes := []rune(alphabet)
		var out strings.Builder
		for range n {
			out.WriteRune(runes[r.IntN(len(runes))])
		}
		return out.String()
	}
	const base62 = "0123456789ABCXYZabcxyz"
	at := time.UnixMilli(r.Int64N(4e12)).UTC()
	switch t.Kind {
	case design.KindID:
		return of(base62+"._:@-", 1+r.IntN(20))
	case design.KindUUID:
		return of("0123456789abcdef", 8) + strings.Repeat("-"+of("0123456789abcdef", 4), 3) + "-" + of("0123456789abcdef", 12)
	case design.KindULID:
		return of("01234567", 1) + of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25)
	case design.KindKSUID:
		return "2" + of(base62, 26) // the greatest one starts with a
	case design.KindSlug:
		return of("abcxyz019-", 1+r.IntN(20))
	case design.KindEmail:
		return of(base62+"!#$%&'*+/=?^_`{|}~.-", 1+r.IntN(10)) + "@" + of(base62+".-", 1+r.IntN(10))
	case design.KindInt, design.KindMoney:
		return strconv.FormatInt((r.Int64()-r.Int64())>>r.IntN(63), 10)
	case design.KindTTL:
		return strconv.FormatInt(at.Unix(), 10)
	case design.KindDecimal:
		return fmt.Sprintf("%d.%dE%d", r.IntN(2000)-1000, r.IntN(1000), r.IntN(20)-10)
	case design.KindBool:
		return strconv.FormatBool(r.IntN(2) == 0)
	case design.KindTime:
		return at.Format(time.RFC3339Nano)
	case design.KindDate:
		return at.Format("2006-01-02")
	case design.KindBytes:
		return base64.StdEncoding.EncodeToString([]byte(of(base62, r.IntN(12))))
	case design.KindEnum:
		values := d.Enum(t.Name).Values
		return values[r.IntN(len(values))]
	default:
		return of(" \t\n\u00a0\u2003\u0085aAzZ09!#-éÉßİıſKﬁ½²ﷺ가漢😀\u0301", r.IntN(20))
	}
}
