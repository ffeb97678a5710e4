package schema_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// The proofs that keys do not collide are about the languages of package keylang. What is let pass here must be in them.

// designed converts an entity to package design, with its design.
func designed(e *Entity) (*design.Design, *design.Entity) {
	d := &design.Design{}
	out := &design.Entity{Name: e.Name}
	for _, f := range e.Fields {
		t := design.Type{Kind: design.Kind(f.Type.Kind)}
		if t.Kind == design.KindEnum {
			t.Name = "Enum" + f.Name
			d.Enums = append(d.Enums, &design.Enum{Name: t.Name, Values: f.Type.Enum})
		}
		out.Fields = append(out.Fields, &design.Field{Name: f.Name, Type: t, Path: f.Path, MinBytes: f.MinBytes, MaxBytes: f.MaxBytes})
	}
	return d, out
}

// TestAcceptedValuesAreInTheirLanguages tests that every value accepted for a kind is in the kind's language.
func TestAcceptedValuesAreInTheirLanguages(t *testing.T) {
	r, seed := Seeded()
	passed, refused := map[Kind]int{}, map[Kind]int{} // of bytes, only too long ones are refused
	for i := range 8000 {
		kind := scalarKinds()[i%len(scalarKinds())]
		f := Field{Name: "v", Type: Type{Kind: kind}, Path: []string{"v"}}
		if kind == KindEnum {
			f.Type.Enum = []string{"open", "In Transit", "Envío"}
		}
		if r.IntN(4) == 0 {
			f.MaxBytes = 1 + r.IntN(40)
		}
		if kind == KindText || kind == KindSecret || kind == KindBytes {
			f.MinBytes = r.IntN(3)
		}
		text := randomScalar(r, f.Type)
		for range r.IntN(3) {
			text = mutated(r, text)
		}
		if f.MaxBytes > 0 && r.IntN(2) == 0 { // chance makes few that are too long
			text += strings.Repeat("1", f.MaxBytes)
		}
		v := storedText(f.Type, text)
		if kind == KindBool {
			v = ABool(r.IntN(2) == 0)
		}
		if err := f.Type.CheckValue("v", v, f.MinBytes, f.MaxBytes); err != nil {
			refused[kind]++
			continue
		}
		passed[kind]++
		inKey, err := f.Type.Text("v", v)
		if err != nil {
			t.Fatalf("seed %d: %s %q passes and has no text: %v", seed, kind, text, err)
		}
		d, e := designed(&Entity{Fields: []Field{f}})
		language, err := keylang.OfField(d, e.Fields[0])
		if err != nil {
			t.Fatal(err)
		}
		if !language.Contains(inKey) {
			t.Errorf("seed %d: %q passes as %s, as %q, which is not in its language", seed, text, kind, inKey)
		}
		if most, bounded := language.MaxBytes(); bounded && len(inKey) > most {
			t.Errorf("seed %d: %q passes as %s, longer than %d", seed, text, kind, most)
		}
	}
	for _, kind := range scalarKinds() {
		if passed[kind] < 40 || refused[kind] == 0 && kind != KindBool {
			t.Errorf("seed %d: %d values of kind %s passed and %d were rejected: too few for the test", seed, passed[kind], kind, refused[kind])
		}
	}
}

// TestKeysAreInTheirLanguages tests that keys are in the language that the design's checker computes for their template, and
// equal those in the design's documents.
func TestKeysAreInTheirLanguages(t *testing.T) {
	r, seed := Seeded()
	created := 0
	for range 3000 {
		e := &Entity{Name: "E"}
		var template strings.Builder
		for i := range 1 + r.IntN(3) {
			f := Field{Name: "f" + strconv.Itoa(i), Type: randomType(r, 0), Path: []string{"f"}, MaxBytes: r.IntN(2) * r.IntN(40)}
			if f.Type.Kind == KindText {
				f.MinBytes = r.IntN(3)
			}
			e.Fields = append(e.Fields, f)
			template.WriteString([]string{"", "#", "X#", "é"}[r.IntN(4)] + "{" + f.Name)
			for range r.IntN(3) {
				template.WriteString("|" + randomCall(r))
			}
			template.WriteString("}")
		}
		d, shown := designed(e)
		parsed, err := design.ParseTemplate(template.String())
		if err != nil {
			t.Fatalf("%s: %v", template.String(), err)
		}
		language, err := keylang.OfTemplate(d, shown, parsed, design.KeyString)
		if err != nil {
			continue // the functions are not for the kinds
		}
		v, literals := Values{}, map[string]design.Literal{}
		for _, f := range e.Fields {
			v[f.Name] = randomValue(r, f.Type)
			text, err := f.Type.Text(f.Name, v[f.Name])
			if err != nil {
				t.Fatal(err)
			}
			if f.Type.Kind == KindBytes {
				text = base64.StdEncoding.EncodeToString([]byte(text))
			}
			literals[f.Name] = design.Literal{Text: text}
		}
		keys, err := e.KeyOf([]KeyAttribute{TextKey("K", template.String())}, v)
		want, fault := render.Key(shown, parsed, design.KeyString, literals)
		if err != nil {
			if fault == nil {
				t.Errorf("seed %d: %s of %v: %v; a document shows %q", seed, template.String(), Attributes(Item(v)), err, want)
			}
			continue // too long, too large, negative or empty
		}
		created++
		got := keys["K"].(*types.AttributeValueMemberS).Value
		if got != want || fault != nil {
			t.Errorf("seed %d: %s of %v is %q; a document shows %q, %v", seed, template.String(), Attributes(Item(v)), got, want, fault)
		}
		if !language.Language().Contains(got) {
			t.Errorf("seed %d: %s of %v is %q, which is not in its language", seed, template.String(), Attributes(Item(v)), got)
		}
		entry := KeyAttribute{Attribute: Attribute{Name: "K", Type: types.ScalarAttributeTypeS}, Template: TemplateOf(template.String())}
		if !e.FitsKey(entry, Values{}, got) {
			t.Errorf("seed %d: %s of %v is %q, which it is said not to fit", seed, template.String(), Attributes(Item(v)), got)
		}
	}
	if created < 300 {
		t.Errorf("seed %d: only %d keys were made", seed, created)
	}
}

func randomCall(r *rand.Rand) string {
	calls := []string{
		"lower", "fold", "slug", "pad(19)", "desc(18)", "ts(ms)", "ts(s)", "date(yyyy)", "date(yyyy-MM-dd)", "date(yyyy-MM-ddTHH)", "shard(7)",
		"shard(auto)",
	}
	if n := r.IntN(len(calls) + 3); n < len(calls) {
		return calls[n]
	}
	return fmt.Sprintf("%s(%d)", []string{"first", "hash"}[r.IntN(2)], 1+r.IntN(40))
}
