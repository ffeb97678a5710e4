package generate

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// model is a package with all its identifiers.
type model struct {
	program *lower.Program
	design  *design.Design
	name    string // the package's
	// language is what is generated, for faults.
	language string
	names    *scope
	methods  *scope // of DB
	ops      string // the type of its writes for Tx

	tables      []*tableModel
	enums       []*enumModel
	structs     []*structModel
	entities    []*entityModel
	reads       []*readModel
	collections []*collectionModel
	writes      []*writeModel
	person      string // the variable of what is a person's; "" for no persons
	errors      []*errorModel
	errorNames  map[error]string

	faults []error
}

type tableModel struct {
	*design.Table
	run      *table.Table
	config   string // the field of Config
	variable string
}

type enumModel struct {
	*design.Enum
	Go        string
	constants []string // one per value
}

// typed is a Go struct generated for an entity, a structure, or a part of an entity.
type typed struct {
	Go      string
	members []member
	decode  string // the function that makes one from Values
}

type structModel struct {
	typed
	*design.Struct
	run           *[]table.Field // nil if no value has this type
	codec, fields string
	// circular is set if the structure can contain itself.
	circular bool
}

type entityModel struct {
	typed
	*design.Entity
	run      *table.Entity
	variable string
	// parts are the contents of copies and markers that do not have all fields, by place.
	parts []*partModel
}

// partModel decodes some members of a struct, and leaves the others unset.
type partModel struct {
	typed
	entity string // in errors
	place  table.Place
}

// result is the result of a read: an entity, or a separate type if fields are missing.
type result struct {
	*typed
	own bool
}

type readModel struct {
	*lower.Read
	Go       string
	entity   *entityModel
	input    string
	inputs   []member
	from, to string // fields of the input, "" without a range
	result   result
	variable string
}

type collectionModel struct {
	*lower.Collection
	Go       string
	input    string
	inputs   []member
	result   string
	members  []memberModel
	decode   string
	variable string
}

// memberModel is an entity of a collection.
type memberModel struct {
	result
	entity *entityModel
	field  string // of the collection's result
}

type errorModel struct {
	*lower.Error
	Go string
}

// newModel names everything that a program generates. All languages derive their names from those of Go; language is for faults.
func newModel(p *lower.Program, name, language string) *model {
	m := &model{program: p, design: p.Design, name: name, language: language, errorNames: map[error]string{}}
	m.names = m.scope(
		"DB", "the type DB", "Config", "the type Config", "New", "the function New", "Decode", "the function Decode",
		"CreateTables", "the function CreateTables", "TimeToLive", "the function TimeToLive",
	)
	m.methods = m.scope("Load", "the method Load", "Tx", "the method Tx", "Op", "the field Op")
	if p.Person != nil {
		m.names.names[personKept] = "the function " + personKept
		m.methods.names[exportPerson], m.methods.names[erasePerson] = "the method "+exportPerson, "the method "+erasePerson
	}
	m.nameTables()
	m.nameTypes()
	for _, known := range lower.Known {
		m.errorNames[known.Err] = "table.Err" + known.Name
	}
	for _, e := range p.Errors {
		x := &errorModel{Error: e, Go: "Err" + exported(e.Name[len("Err"):])}
		m.names.take(x.Go, "error "+x.Go, e.Name, design.Pos{})
		m.errors, m.errorNames[e.Err] = append(m.errors, x), x.Go
	}
	for _, r := range p.Reads {
		m.reads = append(m.reads, m.nameRead(r))
	}
	for _, c := range p.Collections {
		m.collections = append(m.collections, m.nameCollection(c))
	}
	for _, w := range p.Writes {
		m.writes = append(m.writes, m.nameWrite(w))
	}
	m.nameVariables()
	return m
}

func (m *model) nameTables() {
	config := m.scope("CursorKey", "the field CursorKey", "OldCursorKeys", "the field OldCursorKeys", "Caller", "the field Caller", "Clock", "the field Clock", "Observe", "the field Observe")
	for i, t := range m.design.Tables {
		x := &tableModel{Table: t, run: m.program.Tables[i], config: exported(t.Name)}
		if len(x.config) < len("Table") || x.config[len(x.config)-len("Table"):] != "Table" {
			x.config += "Table"
		}
		if len(m.design.Tables) == 1 {
			x.config = "Table"
		}
		config.take(x.config, "table "+t.Name, t.Name, t.Pos)
		m.tables = append(m.tables, x)
	}
}

// nameTypes chooses the names in types.go.
func (m *model) nameTypes() {
	for _, e := range m.design.Enums {
		m.enums = append(m.enums, &enumModel{Enum: e, Go: m.names.take(exported(e.Name), "enumeration "+e.Name, e.Name, e.Pos)})
	}
	for _, s := range m.design.Structs {
		x := &structModel{Struct: s, typed: typed{Go: m.names.take(exported(s.Name), "structure "+s.Name, s.Name, s.Pos)}}
		x.members = m.members(s.Name, s.Fields)
		m.structs = append(m.structs, x)
	}
	m.findStructs()
	for i, e := range m.design.Entities {
		x := &entityModel{Entity: e, run: m.program.Entities[i], typed: typed{Go: m.names.take(exported(e.Name), "entity "+e.Name, e.Name, e.Pos)}}
		x.members = m.members(e.Name, e.Fields, "Record")
		for _, r := range e.Refs {
			i := slices.IndexFunc(x.members, func(f member) bool { return f.Name == r.Field })
			x.members[i].Doc = strings.TrimSpace(x.members[i].Doc + "\n" + x.members[i].Go + " is the " + refersTo(r) + ".")
		}
		m.entities = append(m.entities, x)
	}
	for _, e := range m.enums { // their names may get a number, so all types come first
		for _, v := range e.Values {
			e.constants = append(e.constants, m.names.local(e.Go+constant(v)))
		}
	}
}

// refersTo describes the value of a reference: "PostID of a Post or the PhotoID of a Photo".
func refersTo(r design.Ref) string {
	var out []string
	for _, t := range r.To {
		out = append(out, exported(t.Field)+" of "+indefinite(exported(t.Entity)))
	}
	return strings.Join(out, " or the ")
}

// nameVariables chooses the unexported names, after all exported ones.
func (m *model) nameVariables() {
	for _, t := range m.tables {
		t.variable = m.names.local(unexported(exported(t.Name), "Table"))
	}
	for _, s := range m.structs {
		s.decode, s.codec = m.names.local(unexported(s.Go, "Of")), m.names.local(unexported(s.Go, "Codec"))
		s.fields = m.names.local(unexported(s.Go, "Fields"))
	}
	for _, e := range m.entities {
		e.decode, e.variable = m.names.local(unexported(e.Go, "Of")), m.names.local(unexported(e.Go, "Entity"))
		m.nameParts(e)
	}
	for _, r := range m.reads {
		if r.variable = m.names.local(unexported(r.Go, "Read")); r.result.own {
			r.result.decode = m.names.local(unexported(r.result.Go, "Of"))
		}
	}
	for _, c := range m.collections {
		c.variable, c.decode = m.names.local(unexported(c.Go, "Collection")), m.names.local(unexported(c.result, "Of"))
		for i := range c.members {
			if x := &c.members[i]; x.own {
				x.decode = m.names.local(unexported(x.Go, "Of"))
			}
		}
	}
	for _, w := range m.writes {
		w.variable, w.outcome = m.names.local(unexported(w.Go, "Write")), m.methods.local(unexported(w.Go, "Result"))
	}
	m.ops = m.names.local("Ops")
	if m.program.Person != nil {
		m.person = m.names.local("person")
	}
}

// nameParts finds the contents of an entity's copies and markers that do not have all fields.
func (m *model) nameParts(e *entityModel) {
	add := func(p table.Place, name string, held []string) {
		members := slices.DeleteFunc(slices.Clone(e.members), func(x member) bool { return !slices.Contains(held, x.Name) })
		e.parts = append(e.parts, &partModel{
			typed:  typed{Go: e.Go, members: members, decode: m.names.local(unexported(e.Go, exported(name)+"Of"))},
			entity: e.Name + "." + name, place: p,
		})
	}
	keys := func(k design.Key) []string {
		out := k.PK.Fields()
		if k.SK != nil {
			out = append(out, k.SK.Fields()...)
		}
		return out
	}
	var ttl []string
	if e.TTL != nil {
		ttl = []string{e.TTL.Field}
	}
	for _, c := range e.Copies {
		if c.All {
			continue
		}
		held := slices.Concat(c.Fields, keys(c.Key), ttl)
		for _, x := range e.Entries {
			if x.Of == c.Name {
				for _, t := range slices.Concat(x.PK, x.SK) {
					held = append(held, t.Fields()...)
				}
			}
		}
		add(table.Place{Kind: table.CopyPlace, Copy: c.Name}, c.Name, held)
	}
	for _, u := range e.Unique {
		add(table.Place{Kind: table.MarkerPlace, Marker: u.Name}, u.Name, slices.Concat(keys(e.Key), keys(u.Key), ttl))
	}
}

func (m *model) entity(name string) *entityModel {
	return m.entities[slices.IndexFunc(m.entities, func(e *entityModel) bool { return e.Name == name })]
}

func (m *model) structure(name string) *structModel {
	return m.structs[slices.IndexFunc(m.structs, func(s *structModel) bool { return s.Name == name })]
}

func (m *model) enum(name string) *enumModel {
	return m.enums[slices.IndexFunc(m.enums, func(e *enumModel) bool { return e.Name == name })]
}

// method reserves the name of a pattern's method.
func (m *model) method(pattern string, at design.Pos) string {
	return m.methods.take(exported(pattern), "pattern "+pattern, pattern, at)
}

func (m *model) nameRead(r *lower.Read) *readModel {
	d := r.Design
	x := &readModel{Read: r, Go: m.method(d.Name, d.Pos), entity: m.entity(d.Entity)}
	if x.batch() {
		m.methods.take(x.Go+"Batch", "batch of "+d.Name, d.Name, d.Pos)
	}
	if x.paged() {
		m.methods.take(x.Go+"All", "iterator of "+d.Name, d.Name, d.Pos)
	}
	fields := m.scope()
	x.inputs = m.inputs(fields, d.Name, d.Pos, r.Inputs, d.Prefix)
	if r.Range != nil {
		name := exported(r.Range.Name)
		x.from = fields.take(name+"From", "bound of "+r.Range.Name, d.Name, d.Pos)
		x.to = fields.take(name+"To", "bound of "+r.Range.Name, d.Name, d.Pos)
	}
	if len(x.inputs) > 0 || r.Range != nil {
		x.input = m.names.take(x.Go+"Input", "input of "+d.Name, d.Name, d.Pos)
	}
	x.result = result{typed: &x.entity.typed}
	if !r.Whole && !d.Count {
		name := m.names.take(x.Go+"Item", "result of "+d.Name, d.Name, d.Pos)
		x.result = result{typed: &typed{Go: name, members: among(x.entity.members, r.Fields)}, own: true}
	}
	return x
}

// batch reports whether the read asks for one item by its whole primary key, so that several can be requested at
// once.
func (x *readModel) batch() bool {
	return !x.Run.Many && !x.Design.Each && x.Run.Key != nil && (x.Run.Place.Kind == table.KeyPlace || x.Run.Place.Kind == table.CopyPlace)
}

// paged reports whether the read returns pages.
func (x *readModel) paged() bool { return x.Run.Many && !x.Design.Count && x.Run.Limit == 0 }

func (m *model) nameCollection(c *lower.Collection) *collectionModel {
	d := c.Design
	x := &collectionModel{Collection: c, Go: m.method(d.Name, d.Pos)}
	x.inputs = m.inputs(m.scope(), d.Name, d.Pos, c.Inputs, "")
	if len(x.inputs) > 0 {
		x.input = m.names.take(x.Go+"Input", "input of "+d.Name, d.Name, d.Pos)
	}
	x.result = m.names.take(x.Go+"Result", "result of "+d.Name, d.Name, d.Pos)
	fields := m.scope("Next", "the field Next")
	for _, of := range c.Members {
		e := m.entity(of.Entity.Name)
		one := memberModel{entity: e, field: fields.take(e.Go, "entity "+of.Entity.Name, d.Name, d.Pos), result: result{typed: &e.typed}}
		if !of.Whole {
			name := m.names.take(x.Go+e.Go, e.Go+" of "+d.Name, d.Name, d.Pos)
			one.result = result{typed: &typed{Go: name, members: among(e.members, of.Fields)}, own: true}
		}
		x.members = append(x.members, one)
	}
	return x
}

// findStructs finds the structures' descriptors, which have no names, by walking types and descriptors in parallel.
func (m *model) findStructs() {
	for i, e := range m.design.Entities {
		for n, f := range e.Fields {
			m.findStruct(f.Type, m.program.Entities[i].Fields[n].Type)
		}
	}
	for _, w := range m.program.Writes {
		for i, in := range w.Inputs {
			m.findStruct(in.Type, w.Run.Params[i].Type)
		}
		for i, in := range w.Lines {
			m.findStruct(in.Type, w.Run.LineParams[i].Type)
		}
	}
	for _, s := range m.structs {
		s.circular = m.holds(s, s, map[*structModel]bool{})
	}
}

func (m *model) findStruct(t design.Type, run table.Type) {
	if t.Elem != nil {
		m.findStruct(*t.Elem, *run.Elem)
	}
	if t.Kind != design.KindStruct || m.structure(t.Name).run != nil {
		return
	}
	s := m.structure(t.Name)
	s.run = run.Fields
	for i, f := range s.Fields {
		m.findStruct(f.Type, (*run.Fields)[i].Type)
	}
}

// holds reports whether a structure's values can contain another's.
func (m *model) holds(s, other *structModel, met map[*structModel]bool) bool {
	for _, f := range s.Fields {
		t := f.Type
		for t.Elem != nil {
			t = *t.Elem
		}
		if t.Kind != design.KindStruct {
			continue
		}
		inner := m.structure(t.Name)
		if inner == other || !met[inner] {
			met[inner] = true
			if inner == other || m.holds(inner, other, met) {
				return true
			}
		}
	}
	return false
}
