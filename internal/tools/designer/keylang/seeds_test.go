package keylang_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

// The defects that a review of five systems found in their keys, each as a question.

func TestPortfolioEmailAndUserIDShareAnIndexKey(t *testing.T) {
	w, ok := keylang.Intersect(template(t, "email:email", "USER#{email}").Language(), template(t, "userId:id", "USER#{userId}").Language())
	if !ok || w.Text != "USER#a@b" || !w.Certain {
		t.Errorf("an id may look like an e-mail: %+v %v", w, ok)
	}
	marker := template(t, "email:email", "EMAIL#{email|lower}").Language()
	if w, ok := keylang.Intersect(marker, template(t, "userId:id", "USER#{userId}").Language()); ok {
		t.Errorf("the marker has a key of its own: %+v", w)
	}
}

func TestTrinityVotesOfUserFindTheJoinedRow(t *testing.T) {
	const spec = "userId:id movieId:int"
	prefix := template(t, spec, "{userId}#").Language()
	x, ok := keylang.IntersectPrefix(prefix, template(t, spec, "{userId}#JOINED").Language())
	if !ok || x.Shorter != "a#" || x.Longer != "a#JOINED" {
		t.Errorf("%+v %v", x, ok)
	}
	if x, ok := keylang.IntersectPrefix(template(t, spec, "VOTE#{userId}#").Language(), template(t, spec, "MEMBER#{userId}").Language()); ok {
		t.Errorf("the corrected design has none of it: %+v", x)
	}
}

func TestTransporteStatusIsTheSameForTripsAndCartas(t *testing.T) {
	d := &design.Design{Enums: []*design.Enum{
		{Name: "EstadoViaje", Values: []string{"programado", "en_curso", "borrador"}},
		{Name: "EstadoCarta", Values: []string{"borrador", "timbrada"}},
	}}
	of := func(enum string) keylang.Language {
		e := fields(t, "estado:"+enum)
		tmpl, err := keylang.OfTemplate(d, e, parse(t, "STATUS#{estado}"), design.KeyString)
		if err != nil {
			t.Fatal(err)
		}
		return tmpl.Language()
	}
	if w, ok := keylang.Intersect(of("EstadoViaje"), of("EstadoCarta")); !ok || w.Text != "STATUS#borrador" {
		t.Errorf("%+v %v", w, ok)
	}
	if n, finite := of("EstadoViaje").Count(); n != 3 || !finite {
		t.Errorf("all trips of all companies are in %g partitions", n)
	}
	e := fields(t, "u:id estado:EstadoViaje")
	scoped, err := keylang.OfTemplate(d, e, parse(t, "USER#{u}#VIAJE#{estado}"), design.KeyString)
	if err != nil {
		t.Fatal(err)
	}
	if n, finite := scoped.Language().Count(); finite {
		t.Errorf("the corrected key has %g partitions", n)
	}
}

func TestTransporteUnpaddedNumbersDoNotSort(t *testing.T) {
	e := fields(t, "orden:int")
	s, err := keylang.Sorts(shop(), e.Fields[0])
	if err != nil || s.Order != keylang.Unpadded {
		t.Errorf("UBICACION#10 is before UBICACION#2: %+v %v", s, err)
	}
	s, err = keylang.Sorts(shop(), e.Fields[0], design.Func{Name: "pad", Arg: "4"})
	if err != nil || s.Order != keylang.Ordered {
		t.Errorf("UBICACION#0010 is not: %+v %v", s, err)
	}
}

func TestCatFecitoOrdersByRandomID(t *testing.T) {
	e := fields(t, "orderId:uuid createdAt:time")
	if s, _ := keylang.Sorts(shop(), e.Fields[0]); s.Order != keylang.Random {
		t.Errorf("ORDER#{orderId}: %+v", s)
	}
	if s, _ := keylang.Sorts(shop(), e.Fields[1]); s.Order != keylang.Ordered {
		t.Errorf("ORDER#{createdAt}#{orderId}: %+v", s)
	}
}

// TestCatFecitoKeysDiscriminate proves what a table without a type attribute needs: no two items of different entities
// have the same key.
func TestCatFecitoKeysDiscriminate(t *testing.T) {
	const spec = "userId:uuid productId:uuid categoryId:slug orderId:uuid requestKey:id email:email name:text createdAt:time"
	keys := [][2]string{
		{"USER#{userId}", "METADATA"},
		{"USER#{userId}", "CREDENTIAL"},
		{"USER#{userId}", "CART#{productId}"},
		{"USER#{userId}", "ORDER#{createdAt}#{orderId}"},
		{"USER#{userId}", "CHECKOUT#{requestKey}"},
		{"EMAIL#{email|lower}", "UNIQUE"},
		{"PRODUCT#{productId}", "METADATA"},
		{"CATEGORY#{categoryId}", "METADATA"},
		{"ORDER#{orderId}", "METADATA"},
		{"ORDER#{orderId}", "ITEM#{productId}"},
	}
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if w, ok := keylang.Collide(key(t, spec, a[0], a[1]), key(t, spec, b[0], b[1])); ok {
				t.Errorf("%v and %v can both be %q", a, b, w.Key)
			}
		}
		if w, ok := keylang.Ambiguous(key(t, spec, a[0], a[1])...); ok {
			t.Errorf("%v: %+v", a, w)
		}
	}
	if w, ok := keylang.Intersect(template(t, spec, "CATEGORY#{categoryId}").Language(), template(t, spec, "CATEGORIES").Language()); ok {
		t.Errorf("%+v", w)
	}
	// Names with a space sort before the name that is their prefix.
	if w, ok := template(t, spec, "{name|fold}#{productId}").OutOfOrder(); !ok || w.Name != "name|fold" {
		t.Errorf("%+v %v", w, ok)
	}
}

// TestAppCoreKeys tests the global feed's single partition and its shards, and the idempotency key.
func TestAppCoreKeys(t *testing.T) {
	const spec = "txId:ulid userId:id requestKey:id free:text createdAt:time"
	for text, want := range map[string]float64{"GLOBAL_TX": 1, "GLOBAL_TX#{txId|shard(10)}": 10, "TX#{txId}": 8 * math.Pow(32, 25)} {
		if n, _ := template(t, spec, text).Language().Count(); n != want {
			t.Errorf("%s has %g texts, want %g", text, n, want)
		}
	}
	if w, ok := keylang.Ambiguous(key(t, spec, "IDE#{userId}#{requestKey}", "METADATA")...); ok {
		t.Errorf("ids hold no #: %+v", w)
	}
	if w, ok := keylang.Ambiguous(key(t, spec, "IDE#{free}#{requestKey}", "METADATA")...); ok {
		t.Errorf("the last # decides: %+v", w)
	}
	if w, ok := keylang.Ambiguous(key(t, spec, "IDE#{userId}#{free}", "METADATA")...); ok {
		t.Errorf("the second # decides: %+v", w)
	}
	// A user's ID is a prefix of another's.
	if x, ok := template(t, spec, "USER#{userId}").Language().PrefixFree(); ok || x.Shorter != "USER#a" || x.Longer != "USER#aa" {
		t.Errorf("%+v %v", x, ok)
	}
	if _, ok := template(t, spec, "TX#{createdAt}#{txId}").Language().PrefixFree(); !ok {
		t.Error("a key of fixed width is no other's beginning")
	}
}

// TestExtremeTemplatesAreBounded tests extreme templates: an undecided question counts as an uncertain defect.
func TestExtremeTemplatesAreBounded(t *testing.T) {
	spec := "a:text l:text(20) n:id(400) u:uuid g:int b:Big"
	d := shop()
	big := &design.Enum{Name: "Big"}
	for i := range 3000 {
		big.Values = append(big.Values, fmt.Sprintf("value-%d", i))
	}
	d.Enums = append(d.Enums, big)
	of := func(s string) keylang.Template {
		tmpl, err := keylang.OfTemplate(d, fields(t, spec), parse(t, s), design.KeyString)
		if err != nil {
			t.Fatal(err)
		}
		return tmpl
	}
	for _, s := range []string{
		strings.Repeat("{a}", 60), strings.Repeat("{u}#", 300), strings.Repeat("{l}{n}", 50), strings.Repeat("{g}{n}{a}", 30),
		"{l}#{n}#{a}#{l}", "{a}{l}{a}{l}{a}{l}{a}{l}{n}{n}{g}{u}{a}",
	} {
		tmpl := of(s)
		w, ok := keylang.Ambiguous(tmpl, of("META"))
		if !ok {
			t.Errorf("%.20s… is not ambiguous", s)
		}
		if w.Certain {
			valid(t, tmpl, w.First, w.Key[0])
			valid(t, tmpl, w.Second, w.Key[0])
		}
		if w, ok := keylang.Collide([]keylang.Template{tmpl}, []keylang.Template{tmpl}); !ok || w.Certain && !tmpl.Language().Contains(w.Key[0]) {
			t.Errorf("%.20s… meets itself: %+v", s, w)
		}
		if n, finite := tmpl.Language().Count(); finite && n < 1 {
			t.Errorf("%.20s… has %g texts", s, n)
		}
	}
	many := of("B#{b}")
	if n, finite := many.Language().Count(); n != 3000 || !finite {
		t.Errorf("%g values", n)
	}
	if w, ok := keylang.Intersect(many.Language(), of("B#value-{g}").Language()); !ok || w.Certain {
		t.Errorf("a large enumeration is any text of its characters: %+v %v", w, ok)
	}
	if w, ok := keylang.Intersect(many.Language(), of("C#{a}").Language()); ok {
		t.Errorf("its literal is still its literal: %+v", w)
	}
	if n, bounded := many.Language().MaxBytes(); n != len("B#value-2999") || !bounded {
		t.Errorf("%d bytes", n)
	}
}
