package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

func (c *checker) write(w *Write) {
	c.accepted(w.Accept)
	c.fields(w.Params)
	if len(w.Steps) == 0 {
		c.missing(w.Pos, "write %s has no steps", w.Name)
	}
	for _, f := range w.Params {
		if f.Name == "line" || f.Name == "lines" {
			c.Fault(f.Pos, "a param cannot be named %s: that name is reserved for the lines of the write", f.Name)
		}
	}
	taken := set{}
	for _, s := range w.Steps {
		if s.Name != "" {
			c.name(taken, "a step", s.Name, c.At(&s.Name, s.Pos))
		}
		c.step(w, s)
	}
	if w.Idempotent != nil {
		c.idempotent(w, w.Idempotent)
	}
	if w.Batch {
		c.batch(w)
	}
}

// batch checks that a write fits BatchWriteItem: puts and deletes of items without related items.
func (c *checker) batch(w *Write) {
	const alone = "remove batch: true to make it one transaction"
	if w.Lines == nil {
		c.Hint(w.Pos, "lines: {}", "a batch writes lines, but write %s does not take lines", w.Name)
	}
	if w.Idempotent != nil {
		c.Hint(w.Idempotent.Pos, alone, "a batch is not atomic, so a record cannot say that it is done: puts and deletes can be retried without one")
	}
	for _, s := range w.Steps {
		switch e := c.design.Entity(s.Entity); {
		case !s.Each:
			c.Hint(s.Pos, "each: lines", "each step of a batch must be repeated for lines")
		case s.Action != Put && s.Action != Delete:
			c.Hint(s.Pos, alone, "a batch can only put and delete: BatchWriteItem cannot %s", s.Action)
		case s.When != nil || len(s.Else) > 0:
			c.Hint(s.Pos, alone, "a step of a batch cannot have a condition: BatchWriteItem does not support them")
		case e == nil:
		case len(e.Copies) > 0:
			c.Hint(s.Pos, alone, "%s has copies, which a batch cannot keep in sync: some of its writes may remain undone", e.Name)
		case len(e.Unique) > 0:
			c.Hint(s.Pos, alone, "%s has unique values, which a batch cannot guarantee: BatchWriteItem does not support conditions", e.Name)
		case len(e.Counters) > 0 && s.Action == Put:
			c.Hint(s.Pos, alone, "%s has counters, which a put would overwrite", e.Name)
		case c.counted(e):
			c.Hint(s.Pos, alone, "%s is counted, and a batch cannot keep the counters: it does not know the previous items", e.Name)
		}
	}
}

// counted reports whether some entity counts, or sums, the items of an entity.
func (c *checker) counted(of *Entity) bool {
	return slices.ContainsFunc(c.design.Entities, func(e *Entity) bool {
		return slices.ContainsFunc(e.Counters, func(x *Counter) bool { return x.Of == of.Name })
	})
}

func (c *checker) idempotent(w *Write, i *Idempotent) {
	c.entity(&i.With, i.Pos)
	if i.Replay != "" && c.design.Read(i.Replay) == nil && c.design.Collection(i.Replay) == nil {
		c.Hint(c.At(&i.Replay, i.Pos), syntax.Suggestion(i.Replay, c.patternNames()), "there is no read or collection %q whose result a retry could return", i.Replay)
	}
	if r := c.design.Read(i.Replay); r != nil && (r.Count || r.Each || r.Scan) {
		c.Hint(c.At(&i.Replay, i.Pos), "one: "+r.Entity+", or many: "+r.Entity, "%s is a read by %s, whose result a retry cannot return", r.Name, r.Keyword())
	}
	known := namesIn(w.Params, func(f *Field) string { return f.Name })
	if w.Lines != nil {
		known = append(known, "lines")
	}
	for _, s := range w.Steps {
		if e := c.design.Entity(s.Entity); e != nil {
			known = append(known, namesIn(e.Fields, func(f *Field) string { return f.Name })...)
		}
	}
	for n := range i.Request {
		if !slices.Contains(known, i.Request[n]) {
			c.Hint(c.At(&i.Request[n], i.Pos), syntax.Suggestion(i.Request[n], known), "%q is neither a param of %s nor a field of the items it writes", i.Request[n], w.Name)
		}
	}
}

// patternNames are the names of reads and collections.
func (c *checker) patternNames() []string {
	return slices.Concat(
		namesIn(c.design.Reads, func(r *Read) string { return r.Name }),
		namesIn(c.design.Collections, func(x *Collection) string { return x.Name }),
	)
}

func (c *checker) step(w *Write, s *Step) {
	actions := []string{string(Create), string(Put), string(Update), string(Upsert), string(Delete), string(Check)}
	c.word((*string)(&s.Action), s.Pos, actions...)
	e := c.entity(&s.Entity, s.Pos)
	if s.Each && w.Lines == nil {
		c.Hint(s.Pos, "add lines: { max: 30 } to the write", "the step is repeated for lines, but the write does not take lines")
	}
	params := paramsOnly
	if s.Each {
		params = lineParams
	}
	c.identity(w, e, s, params)
	c.assignments(w, e, s, params)
	c.condition(e, s.When, params)
	taken := set{}
	for i, x := range s.Else {
		c.name(taken, "an error", x.Error, x.Pos)
		c.condition(e, x.When, params)
		if x.When == nil && i < len(s.Else)-1 {
			c.missing(x.Pos, "error %s always matches: the errors after it are never used", x.Error)
		}
	}
	switch {
	case s.Action == Check && s.When == nil:
		c.missing(s.Pos, "a check needs a condition")
	case len(s.Else) > 0 && s.When == nil && (s.Action == Put || s.Action == Upsert || s.Action == Delete):
		c.Hint(s.Pos, "when: …", "the step has errors, but no condition that could fail")
	}
}

// identity checks what identifies a step's item: fields of its key, each once, and no field of the item itself, which is
// unknown before the item is found.
func (c *checker) identity(w *Write, e *Entity, s *Step, params parameters) {
	met := set{}
	for _, a := range s.By {
		if a.Value == nil {
			c.missing(a.Pos, "field %s has no value", a.Field)
			continue
		}
		switch {
		case e == nil:
		case e.Field(a.Field) == nil:
			c.field(e, a.Field, a.Pos)
		case !slices.Contains(slices.Concat(fieldsOf(e.Key.PK), fieldsOf(e.Key.SK)), a.Field):
			c.Hint(a.Pos, "set: { "+a.Field+": … }", "field %q is not in the key of %s, so it cannot select the item", a.Field, e.Name)
		}
		if met[a.Field] {
			c.Fault(a.Pos, "field %q is assigned twice", a.Field)
		}
		met[a.Field] = true
		for _, t := range a.Value.Terms {
			if t.Kind == FieldTerm {
				c.Hint(c.Source.Within(a.Value.Pos, a.Value.Text, t.At), "write :"+t.Name, "the item's fields are not known before the item is found")
				return
			}
		}
		c.valueExpr(w, e, a.Value, params)
	}
}

// fieldsOf are the fields of a template, which may be nil.
func fieldsOf(t *Template) []string {
	if t == nil {
		return nil
	}
	return t.Fields()
}

// assignments checks what a step sets: only in actions that allow it, each field once, with existing values.
func (c *checker) assignments(w *Write, e *Entity, s *Step, params parameters) {
	can := map[Action]string{Create: "set", Put: "set", Update: "set add drop append prepend", Upsert: "set add init drop append prepend"}
	met := set{}
	for _, list := range []struct {
		key string
		of  []*Assignment
	}{{"set", s.Set}, {"add", s.Add}, {"init", s.Init}, {"drop", s.Drop}, {"append", s.Append}, {"prepend", s.Prepend}} {
		if len(list.of) > 0 && !slices.Contains(strings.Fields(can[s.Action]), list.key) {
			c.Fault(list.of[0].Pos, "a step with %s cannot %s fields", s.Action, list.key)
		}
		for _, a := range list.of {
			if a.Value == nil {
				c.missing(a.Pos, "field %s has no value", a.Field)
				continue
			}
			if !c.target(s, a.Field, a.Pos, params) {
				continue
			}
			if s.Action != Update && c.element(a.Field, a.Pos) {
				continue
			}
			f := c.path(e, a.Field, a.Pos)
			if met[a.Field] {
				c.Fault(a.Pos, "field %q is assigned twice", a.Field)
			}
			met[a.Field] = true
			if f != nil && c.takes(e, list.key, f, a) {
				continue
			}
			c.valueExpr(w, e, a.Value, params)
		}
	}
	c.patched(e, s, met)
	c.removals(e, s, met, params)
}

// target checks a path that is changed: a field or nested field; map keys in it may be parameters.
func (c *checker) target(s *Step, path string, p Pos, params parameters) bool {
	plain := PathSteps(path)
	for i, step := range plain {
		name, given := strings.CutPrefix(step, ":")
		if !given || i == 0 {
			continue
		}
		c.param(name, p, params)
		if s.Action != Update {
			c.Hint(p, "use an update of an item that has the map", "%s leads to a key of a map, which may not exist for %s", path, article(string(s.Action)))
			return false
		}
		plain[i] = strings.ReplaceAll(name, ".", "_")
	}
	if !syntax.IsPath(strings.ReplaceAll(strings.Join(plain, "."), ".[", "["), true) {
		c.Fault(p, "%q is not a field", path)
		return false
	}
	return true
}

// article prefixes a word with its article.
func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an " + word
	}
	return "a " + word
}

// takes reports a field that a step cannot add to, drop from, or append to, and returns whether it did.
func (c *checker) takes(e *Entity, how string, f *Field, a *Assignment) bool {
	var fault bool
	kind := f.Type.Kind
	switch how {
	case "add":
		fault = !f.Type.Numeric() && kind != KindSet
	case "drop":
		fault = kind != KindSet
	case "append", "prepend":
		fault = kind != KindList
	default:
		return false
	}
	whole := e.Field(a.Field)
	counter := slices.IndexFunc(e.Counters, func(x *Counter) bool { return x.Field == a.Field })
	switch {
	case how == "add" && counter >= 0:
		c.Hint(a.Pos, "remove it: the steps on "+e.Counters[counter].Of+" change it",
			"field %q is a counter of %s and is maintained automatically", a.Field, e.Name)
		fault = true
	case fault && how == "drop":
		c.Hint(a.Pos, "set: { "+a.Field+": … }, or remove", "field %s has type %s: drop removes members from a set", f.Name, f.Type)
	case fault && how == "add" && kind == KindList:
		c.Hint(a.Pos, "append: { "+a.Field+": … }", "field %s has type %s, which does not support add", f.Name, f.Type)
	case fault && how == "add":
		c.Hint(a.Pos, "set: { "+a.Field+": … }", "field %s has type %s, which does not support add", f.Name, f.Type)
	case fault:
		c.Hint(a.Pos, "set: { "+a.Field+": … }", "field %s has type %s: append and prepend are for lists", f.Name, f.Type)
	case kind == KindSet && (whole == nil || whole.Nested()):
		c.Hint(a.Pos, "set: { "+a.Field+": … }", "%s is inside a map, where DynamoDB supports neither ADD nor DELETE for sets", a.Field)
		fault = true
	case !f.Type.Numeric() && slices.ContainsFunc(a.Value.Terms, func(t Term) bool { return t.Kind != ParamTerm }):
		c.Hint(a.Pos, how+": { "+a.Field+": \":"+a.Field+"\" }", "the value to %s to %s must be a %s passed by the caller", how, a.Field, kind)
		fault = true
	}
	return fault
}

// patched checks the fields of a patch: fields that can change, of an existing item.
func (c *checker) patched(e *Entity, s *Step, met set) {
	if len(s.Patch) > 0 && s.Action != Update {
		c.Hint(s.Pos, "use update, with patch", "%s cannot patch fields: the item may not exist, and the other fields would be missing", s.Action)
	}
	for i := range s.Patch {
		name := s.Patch[i]
		at := c.At(&s.Patch[i], s.Pos)
		f := c.field(e, name, at)
		if met[name] {
			c.Fault(at, "field %q is assigned twice", name)
		}
		met[name] = true
		switch {
		case f == nil:
		case slices.Contains(slices.Concat(fieldsOf(e.Key.PK), fieldsOf(e.Key.SK)), name):
			c.Fault(at, "field %q is in the key of %s and cannot change", name, e.Name)
		case slices.ContainsFunc(e.Counters, func(x *Counter) bool { return x.Field == name }):
			c.Fault(at, "field %q is a counter of %s and is maintained automatically", name, e.Name)
		}
	}
}

// removals checks what a step removes: optional values that it does not set at the same time.
func (c *checker) removals(e *Entity, s *Step, met set, params parameters) {
	if len(s.Remove) > 0 && s.Action != Update && s.Action != Upsert {
		c.Hint(s.Pos, "use update, with remove", "%s cannot remove fields", s.Action)
	}
	for i := range s.Remove {
		path := s.Remove[i]
		at := c.At(&s.Remove[i], s.Pos)
		if !c.target(s, path, at, params) {
			continue
		}
		if s.Action != Update && c.element(path, at) {
			continue
		}
		f := c.path(e, path, at)
		if met[path] {
			c.Fault(at, "field %q is removed and also assigned, or removed twice", path)
		}
		met[path] = true
		if f != nil && !f.Optional {
			c.Hint(at, fmt.Sprintf("%s: %q, or set: { %s: … }", f.Name, f.Type.String()+"?", path), "%s is not optional and cannot be removed", path)
		}
	}
}

// element reports, and returns whether, a path leads to an element of a list.
func (c *checker) element(path string, p Pos) bool {
	list, _, is := strings.Cut(path, "[")
	if is {
		c.Hint(p, fmt.Sprintf("set the whole list: %s: \":%s\"", list, list[strings.LastIndexByte(list, '.')+1:]),
			"%s is an element of a list: an update can set or remove it, but no step can use it as a value", path)
	}
	return is
}

// fieldNamed is Field for an entity that may be nil.
func (e *Entity) fieldNamed(name string) *Field {
	if e == nil {
		return nil
	}
	return e.Field(name)
}

func (c *checker) valueExpr(w *Write, e *Entity, v *ValueExpr, params parameters) {
	for _, t := range v.Terms {
		p := c.Source.Within(v.Pos, v.Text, t.At)
		switch t.Kind {
		case FieldTerm:
			if !c.element(t.Name, p) {
				c.path(e, t.Name, p)
			}
		case ParamTerm:
			c.param(t.Name, p, params)
		case SumTerm, CountTerm:
			if w.Lines == nil {
				c.Hint(p, "add lines: { max: 30 } to the write", "the write has no lines to count or sum")
			}
		default:
		}
	}
}

// runs checks what can be executed: samples, examples and invariants.
func (c *checker) runs() {
	d := c.design
	for _, s := range d.Samples {
		e := c.entity(&s.Entity, s.Pos)
		for name, v := range s.Values {
			c.field(e, name, v.Pos)
		}
	}
	for _, x := range d.Examples {
		var of []*Entity
		read, collection := d.Read(x.Pattern), d.Collection(x.Pattern)
		switch {
		case read != nil:
			of = append(of, d.Entity(read.Entity))
		case collection != nil:
			for _, name := range collection.Of {
				of = append(of, d.Entity(name))
			}
		default:
			c.Hint(c.At(&x.Pattern, x.Pos), syntax.Suggestion(x.Pattern, c.patternNames()), "there is no read or collection %q", x.Pattern)
			continue
		}
		if x.Error != "" && len(x.Expect) > 0 {
			c.Fault(x.Pos, "an example cannot expect both items and an error")
		}
		for name, v := range x.Given {
			known := read != nil && slices.Contains(read.Filter.Params(), name)
			for _, e := range of {
				known = known || e == nil || e.Field(name) != nil
			}
			if !known {
				c.Fault(v.Pos, "%q is not an input of %s", name, x.Pattern)
			}
		}
	}
	taken := set{}
	for _, i := range d.Invariants {
		c.name(taken, "an invariant", i.Name, i.Pos)
		c.invariant(i)
	}
}
