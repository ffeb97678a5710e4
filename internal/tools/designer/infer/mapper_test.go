package infer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/infer"
)

// translated translates a model, and checks for lines in the text and elements of Left.
func translated(t *testing.T, of infer.Mapper, model string, lines, left []string) {
	t.Helper()
	out, err := infer.Translate(of, "", []byte(model))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range lines {
		if !hasLine(string(out.Text), want) {
			t.Errorf("there is no line %q in\n%s", want, out.Text)
		}
	}
	for _, want := range left {
		if !slices.Contains(out.Left, want) {
			t.Errorf("%q is not left out, but %q", want, out.Left)
		}
		if _, short, _ := strings.Cut(want, ": "); !strings.Contains(string(out.Text), short+"\n") {
			t.Errorf("no comment says %q:\n%s", want, out.Text)
		}
	}
	if len(out.Left) != len(left) {
		t.Errorf("left out are %q, want %q", out.Left, left)
	}
	if again, err := design.Format("draft", out.Text); err != nil || string(again) != string(out.Text) {
		t.Errorf("the text is not canonical: %v", err)
	}
}

// TestElectroDB translates a model in JSON, without Node.js: keys with labels, case conversion, templates, no sort key,
// several attributes; and things that no template can express.
func TestElectroDB(t *testing.T) {
	translated(t, infer.ElectroDB, `{
		"model": {"entity": "Page{1}", "version": "3", "service": "Wiki"},
		"attributes": {
			"slug": {"type": "string", "required": true},
			"lang": {"type": ["en", "De"], "required": true},
			"rank": {"type": "number", "padding": {"length": 6, "char": "_"}},
			"views": {"type": "number", "required": true},
			"not": {"type": "string", "required": true, "validate": true}
		},
		"indexes": {
			"page": {"pk": {"field": "pk", "facets": ["slug"]}},
			"shout": {"index": "gs1", "pk": {"field": "g1pk", "composite": ["lang"], "casing": "upper"}, "sk": {"field": "g1sk", "composite": []}},
			"padded": {"index": "gs2", "pk": {"field": "g2pk", "composite": ["rank"]}},
			"many": {"index": "gs3", "type": "composite", "pk": {"composite": ["lang", "slug"]}, "sk": {"composite": ["views"]}},
			"loud": {"index": "gs4", "pk": {"field": "g4pk", "composite": ["views"], "casing": "upper"}, "condition": true, "projection": "keys_only"},
			"braces": {"index": "gs5", "pk": {"field": "slug", "composite": ["slug"]}, "sk": {"field": "g5sk", "template": "A}${lang}Z", "casing": "none"}, "projection": ["views"]}
		}
	}`, []string{
		"name: Wiki", "key: { pk: pk }", "gs1: { pk: g1pk, sk: g1sk }  # no entry of Page1 can be expressed: lang is in capital letters",
		"gs2: { pk: g2pk }  # no entry of Page1 can be expressed: rank is padded with \"_\"",
		"gs3: { pk: [lang, slug], sk: \"views:N\" }", "gs4: { pk: g4pk, project: keys }",
		"gs5: { pk: slug, sk: g5sk, project: [views, edbVersion] }", "Page1:", `type: "Page{1}"`,
		`key: { pk: "$wiki$page{{1}}_3#slug_{slug|lower}" }`, `gs3: { pk: ["{lang}", "{slug}"], sk: "{views}" }`, `gs4: { pk: "$WIKI$PAGE{{1}}_3#VIEWS_{views}" }`,
		`gs5: { pk: "{slug}", sk: "A}}{lang}Z" }`, `notField: { type: text, attr: not }`, "Page1BySlug: { one: Page1, by: [slug] }",
		"Page1sByLoud: { many: Page1, via: gs4, by: [views], page: 50 }",
	}, []string{
		"Page1: validate of not",
		"Page1: index gs1: lang is in capital letters",
		`Page1: index gs2: rank is padded with "_"`,
		"Page1: condition of index gs4: items for which it does not hold are not in it",
	})
	// An index is kept because of one entity's items, although another's cannot be expressed, and also if an entity cannot
	// be expressed at all.
	translated(t, infer.ElectroDB, `[{
		"model": {"entity": "A", "version": "1", "service": "Two"}, "attributes": {"id": {"type": "string"}, "any": {"type": "any"}, "n": {"type": "number"}},
		"indexes": {
			"main": {"pk": {"field": "pk", "composite": ["id"]}},
			"one": {"index": "gs1", "pk": {"field": "g1", "composite": ["any"]}, "projection": "keys_only"},
			"many": {"index": "gs2", "type": "composite", "pk": {"composite": ["any"]}, "sk": {"composite": ["n"]}}
		}
	}, {
		"model": {"entity": "B", "version": "1", "service": "Two"}, "attributes": {"id": {"type": "string"}, "n": {"type": "number", "required": true}},
		"indexes": {
			"main": {"pk": {"field": "pk", "composite": ["id"]}},
			"one": {"index": "gs1", "pk": {"field": "g1", "composite": ["n"], "cast": "number"}}
		}
	}, {
		"model": {"entity": "C", "version": "1", "service": "Two"}, "attributes": {"any": {"type": "any"}, "n": {"type": "number"}},
		"indexes": {
			"main": {"pk": {"field": "pk", "composite": ["any"]}},
			"one": {"index": "gs3", "pk": {"field": "g3", "composite": ["n"], "cast": "number"}}
		}
	}]`, []string{
		`gs1: { pk: "g1:N", project: keys }`, `gs2: { pk: any, sk: "n:N" }  # no entry of A can be expressed: any is not a field`,
		`gs3: { pk: "g3:N" }  # no entry of C can be expressed: its primary key cannot be expressed`, `index: { gs1: { pk: "{n}" } }`,
	}, []string{
		"A: any, whose type is any", "A: index gs1: any is not a field", "A: index gs2: any is not a field",
		"C: any, whose type is any", "entity C: any is not a field in its primary key",
	})
	for model, want := range map[string]string{
		`{"model": {"entity": "A", "service": "s"}, "indexes": {"x": {"index": "g", "pk": {"field": "a"}}}}`:                                                                    "it has no primary index",
		`{"model": {"entity": "A", "service": "s"}, "attributes": {"a": {"type": "string"}}, "indexes": {"x": {"pk": {"field": "pk", "composite": ["a"], "casing": "upper"}}}}`: "entity A: a is in capital letters in its primary key",
		`{"service": "s", "entity": "e"}`: "not an ElectroDB model", `[1]`: "not a list of ElectroDB models",
		`{"model": {"entity": "A", "service": "s"}, "attributes": 1, "indexes": {}}`: "instead of an object",
	} {
		if _, err := infer.Translate(infer.ElectroDB, "", []byte(model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", model, err, want)
		}
	}
}

// TestOneTable translates a schema in JSON, without Node.js: nested values, dates as numbers, padding, and things that no
// template can express.
func TestOneTable(t *testing.T) {
	translated(t, infer.OneTable, `{
		"format": "onetable:1.1.0", "version": "0.0.1",
		"indexes": {"primary": {"hash": "pk", "sort": "sk"}, "gs1": {"hash": "gs1pk", "sort": "day", "project": "keys"}, "gs2": {"hash": "gs2pk", "project": ["score"]}},
		"models": {
			"_Schema": {"pk": {"type": "string", "value": "_schema"}},
			"Game": {
				"pk": {"type": "string", "value": "${squad}"}, "sk": {"type": "string", "value": "game#${score:8:0}#${id}"},
				"squad": {"type": "string", "value": "team#${team}"},
				"id": {"type": "string", "generate": "uuid"}, "team": {"type": "string", "required": true},
				"score": {"type": "number", "default": 0}, "day": {"type": "date", "required": true},
				"gs1pk": {"type": "string", "value": "all{}"}, "gs2pk": {"type": "string", "value": "${where.city}"},
				"where": {"type": "object", "schema": {"city": {"type": "string"}}}, "packed": {"type": "string", "map": "box.a"},
				"marks": {"type": "array", "items": {"type": "object", "schema": {"by": {"type": "string", "required": true}}}}
			}
		}
	}`, []string{
		`gs1: { pk: gs1pk, sk: "day:N", project: keys }`, "gs2: { pk: gs2pk, project: [score] }", "type_attr: _type",
		`key: { pk: "team#{team}", sk: "game#{score|pad(8)}#{id}" }`, `index: { gs1: { pk: "all{{}}", sk: "{day}" } }`,
		"id: uuid", "score: int  # guess: because it is padded in a key", "day: int", "marks: list<GameMarksItem>?", "where: GameWhere?",
		"GamesInGs1: { many: Game, via: gs1, page: 50 }",
	}, []string{
		"Game: value of squad",
		"Game: default of score",
		"Game: packed, which is packed into box.a",
		"Game: index gs2: where.city is not an imported field",
	})
	for model, want := range map[string]string{
		`{}`: "not a OneTable schema", `x`: "not a OneTable schema",
		`{"indexes": {"primary": {"hash": "pk"}}, "models": {"A": {"pk": {"type": "string", "value": true}}}}`:                                             "model A: its primary key: it has no template",
		`{"indexes": {"primary": {"hash": "pk"}}, "models": {"A": {"pk": {"type": "string", "value": "${a"}}}}`:                                            "has no end",
		`{"indexes": {"primary": {"hash": "pk"}}, "models": {"A": {"pk": {"type": "string", "value": "${b}"}, "b": {"type": "string", "value": "${b}"}}}}`: "model A",
	} {
		if _, err := infer.Translate(infer.OneTable, "", []byte(model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", model, err, want)
		}
	}
}

// TestToolbox tests that keys are derived from what entities write for made-up items; a key that no template produces
// becomes a field.
func TestToolbox(t *testing.T) {
	translated(t, infer.Toolbox, `[{
		"entityName": "Cat", "computed": true, "entityAttribute": false, "timestamps": {"created": false, "modified": {"name": "seen", "savedAs": "s"}},
		"table": {"tableName": "cats", "partitionKey": {"name": "PK", "type": "string"}, "sortKey": {"name": "n", "type": "number"},
			"indexes": {"byHome": {"type": "global", "partitionKey": {"name": "home", "type": "string"}, "sortKey": {"name": "gs", "type": "string"}}, "byNone": {"type": "global", "partitionKey": {"name": "none", "type": "string"}}}},
		"schema": {"attributes": {
			"name": {"type": "string", "key": true}, "home": {"type": "string"}, "lives": {"type": "number"}, "gs": {"type": "string", "hidden": true},
			"PK": {"type": "string", "key": true}, "n": {"type": "number", "key": true}, "who": {"type": "anyOf"}
		}},
		"items": [
			{"PK": "CAT#anna{7}", "n": 412, "name": "Anna", "home": "H1", "lives": 7, "gs": "0007|H1"},
			{"PK": "CAT#berta{11}", "n": 967, "name": "Berta", "home": "H22", "lives": 11, "gs": "0011|H22"}
		]}, {"entityName": "Dog", "table": {"partitionKey": {"name": "PK"}}, "fault": "no\nbone", "items": []}, {"entityName": "Cow", "table": {"partitionKey": {"name": "PK"}}}]`, []string{
		"name: Cats", `key: { pk: PK, sk: "n:N" }`, "type_attr: none", `key: { pk: "CAT#{name|lower}{{{lives}}}", sk: "{n}" }`,
		`index: { byHome: { pk: "{home}", sk: "{lives|pad(4)}|{home}" } }`, "n: decimal", "lives: int", "seen: { type: time, attr: s }",
	}, []string{
		"Cat: who, which is of type anyOf",
		`Cat: how a key is computed: n is "412" in one item and "967" in another, which no template renders from their values`,
		"entity Dog: its keys cannot be determined, because it rejects a generated item: no bone",
		"entity Cow: its keys cannot be determined, because there are no written items: use the module, not its DTO",
	})
	for _, model := range []string{`[{"entityName": "A"}]`, `{}`, `[]`} {
		if _, err := infer.Translate(infer.Toolbox, "", []byte(model)); err == nil {
			t.Errorf("%s is taken for a model", model)
		}
	}
}

// TestToolboxPadding tests that zero padding is detected if only a later item has a number short enough to show it.
func TestToolboxPadding(t *testing.T) {
	translated(t, infer.Toolbox, `[{
		"entityName": "Reading", "computed": true, "entityAttribute": false, "timestamps": false,
		"table": {"tableName": "readings", "partitionKey": {"name": "PK", "type": "string"}, "sortKey": {"name": "SK", "type": "string"}},
		"schema": {"attributes": {"sensor": {"type": "string", "key": true}, "day": {"type": "number", "key": true}, "level": {"type": "number", "key": true}, "plain": {"type": "number"}}},
		"items": [
			{"PK": "S#Qa1", "SK": "D#100003#107922#115841", "sensor": "Qa1", "day": 100003, "level": 107922, "plain": 115841},
			{"PK": "S#Qb2", "SK": "D#000002#3#0004", "sensor": "Qb2", "day": 2, "level": 3, "plain": 4}
		]}]`, []string{`key: { pk: "S#{sensor}", sk: "D#{day|pad(6)}#{level}#{plain|pad(4)}" }`, "day: int  # guess: because it is padded in a key", "level: decimal"}, nil)
}

// FuzzTranslate tests that no model causes a panic, and that the result loads.
func FuzzTranslate(f *testing.F) {
	f.Add("electrodb", `{"model":{"entity":"A","service":"s"},"attributes":{"a":{"type":"string"}},"indexes":{"x":{"pk":{"field":"pk","composite":["a"]},"sk":{"field":"sk","template":"${a"}}}}`)
	f.Add("onetable", `{"indexes":{"primary":{"hash":"pk","sort":"sk"}},"models":{"A":{"pk":{"type":"string","value":"a#${b:5}"},"b":{"type":"number"}}}}`)
	f.Add("toolbox", `[{"entityName":"A","table":{"partitionKey":{"name":"a"}},"schema":{"attributes":{"a":{"type":"string"}}},"items":[{"a":"x"},{"a":"y"}]}]`)
	f.Fuzz(func(t *testing.T, of, model string) {
		_, err := infer.Translate(infer.Mapper(of), "", []byte(model))
		if err != nil && strings.Contains(err.Error(), "cannot be formatted") {
			t.Error(err)
		}
	})
}
