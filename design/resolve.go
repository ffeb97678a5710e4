package design

import (
	"cmp"
	"errors"
	"go/token"
	"strconv"
	"strings"
	"time"

	"github.com/monotable/monotable/design/internal/syntax"
)

// resolver makes a Design from a file's shapes: it sets defaults, and parses templates, conditions and values.
// References are checked once the design is complete (check.go).
type resolver struct {
	*syntax.Faults
	design *Design
}

func (r *resolver) file(f *fileShape) {
	d := r.design
	top := Pos{Line: 1, Column: 1}
	if f.Version.value != "1" {
		p := top
		if f.Version.given() {
			p = f.Version.pos
		}
		r.Hint(p, "start the design with the line \"design: 1\"", "the language version is missing or unknown: %q", f.Version.value)
	}
	if !f.Name.given() {
		r.Hint(top, "name: Shop", "the design has no name")
	}
	d.Doc = f.Doc
	r.put(&d.Name, f.Name)
	r.put(&d.Tenant, f.Tenant)
	r.put(&d.Person, f.Person)
	r.put(&d.Go.Package, f.Go.Package)
	d.Go.Package = cmp.Or(d.Go.Package, goPackage(d.Name))
	if len(f.Tables) == 0 {
		r.Hint(top, "tables: { Shop: { key: { pk: PK, sk: SK } } }", "the design has no tables")
	}
	r.types(f.Types)
	for _, t := range f.Tables {
		r.table(t)
	}
	for _, e := range f.Entities {
		r.entity(e)
	}
	for _, e := range d.Entities {
		for _, c := range e.Counters {
			if of := d.Entity(c.Of); of != nil && c.By == "" && Owner(of, e, "") == nil && len(namers(of, e)) == 1 {
				c.By = namers(of, e)[0]
			}
		}
	}
	for _, t := range d.Tables {
		r.keyTypes(t)
	}
	for _, read := range f.Reads {
		r.read(read)
	}
	for _, c := range f.Collections {
		r.collection(c)
	}
	for _, w := range f.Writes {
		r.write(w)
	}
	for _, flow := range f.Flows {
		r.flow(flow)
	}
	d.Workload = Workload{Budget: f.Workload.Budget, Pos: f.Workload.Pos}
	r.put(&d.Workload.Region, f.Workload.Region)
	r.runs(f)
	for _, race := range f.Races {
		r.race(race)
	}
}

// goPackage is the default name of the generated package.
func goPackage(name string) string {
	s := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return -1
	}, name)
	if !isGoPackage(s) {
		return "db" + s
	}
	return s
}

func isGoPackage(s string) bool {
	return token.IsIdentifier(s) && syntax.IsName(s) && s == strings.ToLower(s)
}

// put stores a text and its position.
func (r *resolver) put(to *string, t text) {
	*to = t.value
	if t.given() {
		r.Places[to] = t.pos
	}
}

// texts stores a list of texts and their positions; nil if there are none.
func (r *resolver) texts(list []text) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		r.put(&out[i], list[i])
	}
	return out
}

func (r *resolver) accept(list acceptShape) []Acceptance {
	var out []Acceptance
	for _, a := range list {
		if a.value.value == "" {
			r.Hint(a.pos, a.name+": \"why this is right here\"", "accepting a finding needs a reason")
		}
		out = append(out, Acceptance{Rule: a.name, Reason: a.value.value, Pos: a.pos})
	}
	return out
}

// template parses a template; nil after an error.
func (r *resolver) template(t text) *Template {
	out, err := ParseTemplate(t.value)
	if !r.Parsed(t.pos, err) {
		return nil
	}
	out.Pos = t.pos
	return out
}

// condition parses a condition; nil if there is none, and after an error.
func (r *resolver) condition(t text) *Condition {
	if !t.given() {
		return nil
	}
	out, err := ParseCondition(t.value)
	if !r.Parsed(t.pos, err) {
		return nil
	}
	out.Pos = t.pos
	return out
}

// maxLag is the maximum staleness; longer ones are mistakes.
const maxLag = 24 * time.Hour

// milliseconds parses 5s, 500ms, 1m; 0 if there is none.
func (r *resolver) milliseconds(t text) int {
	if !t.given() {
		return 0
	}
	d, err := time.ParseDuration(t.value)
	if err != nil || d < time.Millisecond || d > maxLag || d%time.Millisecond != 0 {
		r.Hint(t.pos, "write 5s or 500ms", "%q is not a duration from a millisecond to 24 hours", t.value)
		return 0
	}
	return int(d / time.Millisecond)
}

// maxAfter is the maximum lifetime of an item; longer ones are mistakes.
const maxAfter = 50 * 365 * 24 * time.Hour

// duration parses 90d, 24h, 15m.
func (r *resolver) duration(t text) time.Duration {
	if !t.given() {
		return 0
	}
	d, err := lengthOfTime(t.value)
	if err != nil {
		r.Hint(t.pos, "write 90d, 24h or 15m", "%q is not a duration from a second to 50 years", t.value)
	}
	return d
}

// lengthOfTime parses a duration in whole seconds: 90d, 24h, 15m.
func lengthOfTime(s string) (d time.Duration, err error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(syntax.Digits(days), 64)
		d = time.Duration(n * float64(24*time.Hour)) // an overflow is rejected below, as too long or negative
	} else {
		d, err = time.ParseDuration(s)
	}
	if err == nil && (d < time.Second || d > maxAfter || d%time.Second != 0) {
		err = errors.New("not from a second to 50 years")
	}
	if err != nil {
		return 0, err
	}
	return d, nil
}
