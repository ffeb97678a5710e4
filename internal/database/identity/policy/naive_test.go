package policy

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzParse checks that no document panics or takes long, and that what is refused says where.
func FuzzParse(f *testing.F) {
	f.Add(allow(`"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["${aws:username, 'x'}","${*}"]}`), uint8(Identity))
	f.Add(`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":"111122223333"},"NotAction":"*","NotResource":"arn:aws:dynamodb:*"}}`, uint8(Resource))
	f.Add(`{"Statement":[{"Effect":"Allow","Principal":{"Federated":"x"},"Action":"sts:*","Condition":{"Null":{"a:b":true}}}]}`, uint8(Trust))
	f.Add("{\"Version\":\"2012-10-17\",\n\"Id\":\"\\ud800\"", uint8(Identity))
	f.Fuzz(func(t *testing.T, document string, kind uint8) {
		p, err := Parse(document, Kind(kind%3))
		if err != nil {
			if !strings.Contains(err.Error(), "At line ") {
				t.Errorf("%q: %v", document, err)
			}
			return
		}
		if !json.Valid([]byte(document)) {
			t.Errorf("%q is no JSON and was taken", document)
		}
		request := &Request{Action: "dynamodb:GetItem", Resource: table, Account: testAccount, Policy: p, Keys: keys{"a:b": One("c")}}
		Evaluate(userWith(p), request)
		EvaluateAssume(userWith(p), request)
		EvaluateFederated("x", request)
	})
}

// TestAgainstNaiveEvaluator decides random requests on random documents, compiled and by reading the documents as the IAM User Guide
// tells them.
func TestAgainstNaiveEvaluator(t *testing.T) {
	const trials = 5000
	met := map[Decision]int{}
	seed := rand.Uint64()
	for n := range uint64(trials) {
		g := generator{rand.New(rand.NewPCG(seed, n))}
		documents := [][]map[string]any{g.document(), g.document(), g.document()}
		compiled := make([]*Policy, len(documents))
		for i, d := range documents {
			text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": d})
			if err != nil {
				t.Fatal(err)
			}
			compiled[i] = mustParse(t, string(text), Identity)
		}
		who := userWith(compiled[0])
		if g.IntN(3) == 0 {
			who.Boundary = compiled[1]
		}
		if g.IntN(3) == 0 {
			who.Session = compiled[2:]
		}
		r := &Request{Action: g.of(actions), Resource: g.of(resources), Account: testAccount, Keys: g.keys()}
		want := naive(documents, who, r)
		met[want]++
		if got := Evaluate(who, r); got != want {
			text, _ := json.Marshal(documents)
			t.Fatalf("seed %d, trial %d: decision %d, want %d\n%s\nboundary %t, session %t, %+v", seed, n, got, want, text, who.Boundary != nil, who.Session != nil, r)
		}
	}
	for _, d := range []Decision{Allowed, IdentityDenies, BoundaryDenies, SessionDenies, IdentityAllowsNot, BoundaryAllowsNot, SessionAllowsNot} {
		if met[d] < trials/1000 {
			t.Errorf("decision %d came up %d times in %d", d, met[d], trials)
		}
	}
}

// generator makes documents and requests of few words, so that they often meet.
type generator struct{ *rand.Rand }

var (
	actions   = []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}
	resources = []string{table, table + "/index/ByYear", "arn:aws:dynamodb:us-east-1:111122223333:table/jane"}

	actionPatterns   = []string{"*", "dynamodb:*", "dynamodb:GetItem", "DynamoDB:?etitem", "dynamodb:P*", "s3:*", "dynamodb:*e*y"}
	resourcePatterns = []string{
		"*", table, table + "/*", table + "*", "arn:aws:dynamodb:*:*:table/M?sic*", "arn:aws:dynamodb:*", "arn:aws:*:table/Music",
		"arn:aws:dynamodb:*:*:table/${aws:username}", "arn:aws:dynamodb:*:*:table/*${a:none}", "arn:aws:dynamodb:*:*:*/${a:one, 'jane'}",
	}
	textOperands = []string{"x", "y", "xy", "X", "x*", "?", "*", "*y", "${a:one}", "${a:none}", "x${a:none, 'y'}", "${*}", "${aws:username}", "1${a:none}"}
	texts        = []string{"x", "y", "xy", "xyy", "X", "*", "jane", "é", ""}
	operatorsOf  = []string{
		"StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "Null",
		"NumericLessThan", "NumericNotEquals", "NumericGreaterThanEquals",
	}
	quantifiers = []string{"", "", "ForAllValues:", "ForAnyValue:"}
	names       = []string{"a:one", "A:Two", "a:none", "a:number", "a:all"}
)

func (g generator) of(list []string) string { return list[g.IntN(len(list))] }

func (g generator) some(list []string) []string {
	picked := make([]string, 1+g.IntN(2))
	for i := range picked {
		picked[i] = g.of(list)
	}
	return picked
}

func (g generator) document() []map[string]any {
	document := make([]map[string]any, 1+g.IntN(3))
	for i := range document {
		s := map[string]any{"Effect": "Allow"}
		if g.IntN(5) == 0 {
			s["Effect"] = "Deny"
		}
		s[g.of([]string{"Action", "Action", "NotAction"})] = g.some(actionPatterns)
		s[g.of([]string{"Resource", "Resource", "NotResource"})] = g.some(resourcePatterns)
		if g.IntN(2) == 0 {
			s["Condition"] = g.condition()
		}
		document[i] = s
	}
	return document
}

func (g generator) condition() map[string]map[string][]string {
	name, operands := g.of(operatorsOf), g.some(textOperands)
	switch {
	case name == "Null":
		operands = []string{g.of([]string{"true", "false"})}
	case strings.HasPrefix(name, "Numeric"):
		operands = g.some([]string{"1", "2.50", "-3"})
	}
	if name != "Null" {
		name = g.of(quantifiers) + name + g.of([]string{"", "", "IfExists"})
	}
	return map[string]map[string][]string{name: {g.of(names): operands}}
}

func (g generator) keys() keys {
	k := keys{
		"a:one": One(g.of(texts)), "a:two": {Texts: []string{g.of(texts), g.of(texts)}},
		"a:number": One(g.of([]string{"1.0", "2.5", "7", "x"})),
	}
	if g.IntN(2) == 0 {
		k["a:all"] = Value{Unbounded: true}
	}
	return k
}

// naive decides by the documents of the principal's identity, boundary and session.
func naive(documents [][]map[string]any, who *Principal, r *Request) Decision {
	says := func(i int) (allows, denies bool) {
		for _, s := range documents[i] {
			if deny := s["Effect"] == "Deny"; naiveApplies(s, deny, who, r) {
				allows, denies = allows || !deny, denies || deny
			}
		}
		return allows, denies
	}
	identity, identityDenies := says(0)
	boundary, boundaryDenies := says(1)
	session, sessionDenies := says(2)
	bounded, limited := who.Boundary != nil, who.Session != nil
	switch {
	case identityDenies:
		return IdentityDenies
	case bounded && boundaryDenies:
		return BoundaryDenies
	case limited && sessionDenies:
		return SessionDenies
	case !identity:
		return IdentityAllowsNot
	case bounded && !boundary:
		return BoundaryAllowsNot
	case limited && !session:
		return SessionAllowsNot
	default:
		return Allowed
	}
}

func naiveApplies(s map[string]any, deny bool, who *Principal, r *Request) bool {
	value := func(key string) Value {
		if strings.EqualFold(key, "aws:username") {
			return One(who.Username)
		}
		return r.Keys.Key(strings.ToLower(key))
	}
	matches := func(list any, text string, how func(pattern, text string) (matched, unknown bool)) (matched, unknown bool) {
		for _, pattern := range list.([]string) {
			m, u := how(pattern, text)
			matched, unknown = matched || m, unknown || u
		}
		return matched, unknown
	}
	if list, ok := s["Action"]; ok {
		if m, _ := matches(list, strings.ToLower(r.Action), lowerGlob); !m {
			return false
		}
	} else if m, _ := matches(s["NotAction"], strings.ToLower(r.Action), lowerGlob); m {
		return false
	}
	arn := func(pattern, text string) (bool, bool) { return naiveARN(pattern, text, value) }
	if list, ok := s["Resource"]; ok {
		if m, _ := matches(list, r.Resource, arn); !m {
			return false
		}
	} else if m, unknown := matches(s["NotResource"], r.Resource, arn); m || unknown && !deny {
		return false
	}
	conditions, _ := s["Condition"].(map[string]map[string][]string)
	for operator, of := range conditions {
		for key, operands := range of {
			if !naiveCondition(operator, operands, value(key), deny, value) {
				return false
			}
		}
	}
	return true
}

func naiveCondition(operator string, operands []string, v Value, deny bool, value func(string) Value) bool {
	if operator == "Null" {
		return (operands[0] == "true") == (len(v.Texts) == 0)
	}
	if v.Unbounded {
		return deny
	}
	operator, ifExists := strings.CutSuffix(operator, "IfExists")
	operator, all := strings.CutPrefix(operator, "ForAllValues:")
	operator, some := strings.CutPrefix(operator, "ForAnyValue:")
	negated := strings.Contains(operator, "Not")
	operator = strings.Replace(operator, "Not", "", 1)
	if len(v.Texts) == 0 {
		return ifExists || all || negated && !some
	}
	held := 0
	for _, text := range v.Texts {
		matched, unknown := false, false
		for _, operand := range operands {
			m, u := naiveTest(operator, text, operand, value)
			matched, unknown = matched || m, unknown || u
		}
		if negated {
			matched = !matched && (deny || !unknown)
		}
		if matched {
			held++
		}
	}
	if some || deny && !all {
		return held > 0
	}
	return held == len(v.Texts)
}

func naiveTest(operator, text, operand string, value func(string) Value) (matched, unknown bool) {
	if relation, ok := strings.CutPrefix(operator, "Numeric"); ok {
		a, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return false, false
		}
		b, err := strconv.ParseFloat(operand, 64)
		return err == nil && (relation == "LessThan" && a < b || relation == "Equals" && a == b || relation == "GreaterThanEquals" && a >= b), false
	}
	units := unitsOf(operand, value)
	switch operator {
	case "StringEquals":
		for i := range units {
			units[i].wild = 0
		}
	case "StringEqualsIgnoreCase":
		for i := range units {
			units[i].wild, units[i].char = 0, unicode.ToLower(units[i].char)
		}
		text = strings.ToLower(text)
		if slices.ContainsFunc(units, func(u unit) bool { return u.unknown }) {
			return false, true // it is expanded before it is compared
		}
	}
	return glob(units, []rune(text))
}

// unit is one character of a pattern, one of its wildcards, or a variable that has no value.
type unit struct {
	char    rune
	wild    rune // * or ?, also kept in char
	unknown bool
}

func unitsOf(pattern string, value func(string) Value) (units []unit) {
	literal := func(text string) {
		for _, c := range text {
			units = append(units, unit{char: c})
		}
	}
	for pattern != "" {
		if rest, ok := strings.CutPrefix(pattern, "${"); ok && value != nil {
			body, rest, _ := strings.Cut(rest, "}")
			pattern = rest
			key, fallback, optional := strings.Cut(body, ", ")
			switch v := value(key); {
			case body == "*":
				literal("*")
			case len(v.Texts) == 1:
				literal(v.Texts[0])
			case optional:
				literal(strings.Trim(fallback, "'"))
			default:
				units = append(units, unit{unknown: true})
			}
			continue
		}
		c, size := utf8.DecodeRuneInString(pattern)
		u := unit{char: c}
		if c == '*' || c == '?' {
			u.wild = c
		}
		units, pattern = append(units, u), pattern[size:]
	}
	return units
}

// glob tries all ways to match. unknown: it came to a variable without a value.
func glob(units []unit, text []rune) (matched, unknown bool) {
	switch {
	case len(units) == 0:
		return len(text) == 0, false
	case units[0].unknown:
		return false, true
	case units[0].wild == '*':
		for i := 0; i <= len(text); i++ {
			m, u := glob(units[1:], text[i:])
			matched, unknown = matched || m, unknown || u
		}
		return matched, unknown
	case len(text) > 0 && (units[0].wild == '?' || units[0].char == text[0]):
		return glob(units[1:], text[1:])
	default:
		return false, false
	}
}

func lowerGlob(pattern, text string) (matched, unknown bool) {
	return glob(unitsOf(strings.ToLower(pattern), nil), []rune(text))
}

// naiveARN compares the first five parts of an ARN each by itself.
func naiveARN(pattern, arn string, value func(string) Value) (matched, unknown bool) {
	if pattern == "*" {
		return true, false
	}
	units := unitsOf(pattern, value)
	for range 5 {
		end := slices.IndexFunc(units, func(u unit) bool { return u.char == ':' })
		if end < 0 {
			break
		}
		part, rest, more := strings.Cut(arn, ":")
		if m, u := glob(units[:end], []rune(part)); !m || !more {
			return false, u
		}
		units, arn = units[end+1:], rest
	}
	return glob(units, []rune(arn))
}
