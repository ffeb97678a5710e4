package generate

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// pythonRuntime executes a document in Python. It is copied next to the generated code, which otherwise needs only boto3.
//
//go:embed python/runtime/*.py
var pythonRuntime embed.FS

// Python generates a package: db.py with the types and a class with a method for each pattern, descriptors.py with the
// document, and the runtime. Its error joins a *lower.FaultError for each thing that cannot be generated.
func Python(p *lower.Program) ([]File, error) {
	m := newModel(p, p.Design.Go.Package, "Python")
	py := newPythonPrinter(m)
	document := m.document()
	py.print()
	if err := errors.Join(m.faults...); err != nil {
		return nil, err
	}
	head := "# " + strings.TrimPrefix(m.header(), "// ") + "\n"
	init := "from .db import *\nfrom .db import __all__ as __all__\n"
	descriptors := "\"\"\"The design's tables, entities and patterns, as the runtime executes them.\"\"\"\n\nimport json\nfrom typing import Any\n\n" +
		"document: dict[str, Any] = json.loads(r'''\n" + pythonRaw(document) + "\n''')\n\n" +
		"# The requests that create the tables.\ntables: list[dict[str, Any]] = json.loads(r'''\n" + pythonRaw(m.createTables()) + "\n''')\n"
	out := []File{
		{Name: "__init__.py", Content: []byte(head + init)},
		{Name: "db.py", Content: []byte(head + py.out.String())},
		{Name: "descriptors.py", Content: []byte(head + descriptors)},
	}
	names, err := fs.Glob(pythonRuntime, "python/runtime/*.py")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := pythonRuntime.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: "runtime/" + path.Base(name), Content: append([]byte(head), text...)})
	}
	return out, nil
}

// pythonRaw makes JSON safe for a raw literal in triple single quotes.
func pythonRaw(json string) string { return strings.ReplaceAll(json, "'", `\u0027`) }

// createTables are the CreateTable requests, by the table's name in the design.
func (m *model) createTables() string {
	var parts []string
	specs := provision.Specs(m.design, nil)
	for i := range specs {
		o := object{{"table", quoted(m.tables[i].Name)}}
		var text strings.Builder
		_ = provision.WriteCreateTable(&text, &specs[i]) // a strings.Builder does not fail
		o.add("create", strings.TrimSpace(text.String()))
		if specs[i].TTLAttr != "" {
			text.Reset()
			_ = provision.WriteTimeToLive(&text, &specs[i])
			o.add("ttl", strings.TrimSpace(text.String()))
		}
		parts = append(parts, o.text())
	}
	return bracketed("[", "]", parts)
}

// The names with another meaning in generated Python: keywords and the builtin types of annotations, after which a field,
// parameter or method gets an underscore, and classes, which are rejected.
const (
	pythonKeywords = "False None True and as assert async await break class continue def del elif else except finally for from global if import " +
		"in is lambda nonlocal not or pass raise return try while with yield self bool bytes dict int list set str"
	pythonClasses = "Decoded Erased False Kept None Observation Op OverlapError Page PersonItem Place REMOVED Removed Secret True TableError NotFoundError ExistsError ConflictError CursorError " +
		"ReusedError RefusedError LinesError StillWrittenError UnfinishedError InvalidValueError DecodeError ConfigError"
)

// pythonPrinter prints db.py.
type pythonPrinter struct {
	*model
	source

	attributes map[string]string // names in Python, by the names in the design that differ
	methods    map[string]string // of DB, with the pattern of each
	exports    []string
	writes     map[*writeModel]*pythonResult
	errors     map[*errorModel]string
}

// pythonResult has the classes of a write's result.
type pythonResult struct{ result, done, replayed string }

func newPythonPrinter(m *model) *pythonPrinter {
	p := &pythonPrinter{
		model: m, attributes: map[string]string{}, methods: map[string]string{
			"load": "loading", "create_tables": "making tables", "tx": "the method tx", "op": "the attribute op",
			snake(exportPerson): "the export of a person", snake(erasePerson): "the erasure of a person",
		},
		writes: map[*writeModel]*pythonResult{}, errors: map[*errorModel]string{},
	}
	for name := range strings.FieldsSeq(pythonClasses) {
		m.names.names[name] = "a name of the runtime"
	}
	class := func(name, of, owner string, at design.Pos) {
		if slices.Contains(strings.Fields(pythonClasses), name) {
			m.fault(owner, at, "is called %s, which is the name of a class in all generated Python: give %s another name in the design", name, of)
		}
	}
	for _, e := range m.enums {
		class(e.Go, "the enumeration", e.Name, e.Pos)
	}
	for _, s := range m.structs {
		class(s.Go, "the structure", s.Name, s.Pos)
	}
	for _, e := range m.entities {
		class(e.Go, "the entity", e.Name, e.Pos)
	}
	for _, e := range m.errors {
		p.errors[e] = m.names.take(pythonError(e.Name), "error "+e.Name, e.Name, design.Pos{})
	}
	for _, w := range m.writes {
		if w.result == "" {
			continue
		}
		r := &pythonResult{result: w.result, done: w.result}
		if w.Run.Idempotent != nil {
			r.done = m.names.take(w.Go+"Done", "result of "+w.Design.Name, w.Design.Name, w.Design.Pos)
			r.replayed = m.names.take(w.Go+"Replayed", "result of "+w.Design.Name, w.Design.Name, w.Design.Pos)
		}
		p.writes[w] = r
	}
	return p
}

// pythonError is the class of an error: OutOfStockError for ErrOutOfStock.
func pythonError(name string) string {
	return strings.TrimSuffix(exported(strings.TrimPrefix(name, "Err")), "Error") + "Error"
}

// snake is a name in snake case: createdAt is created_at, userIDs user_ids.
func snake(name string) string {
	list := words(name)
	for i := 0; i+1 < len(list); i++ {
		if joined := strings.ToLower(list[i] + list[i+1]); initialisms[joined] != "" && strings.ToUpper(list[i]) == list[i] {
			list = slices.Replace(list, i, i+2, joined)
		}
	}
	out := strings.ToLower(strings.Join(list, "_"))
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	if slices.Contains(strings.Fields(pythonKeywords), out) {
		out += "_"
	}
	return out
}

// attribute is a field's name in Python.
func (p *pythonPrinter) attribute(name string) string {
	out := snake(name)
	if out != name {
		p.attributes[name] = out
	}
	return out
}

// method reserves the name of a method of DB.
func (p *pythonPrinter) method(pattern, suffix string, at design.Pos) string {
	name := snake(pattern) + suffix
	if other, taken := p.methods[name]; taken {
		p.fault(pattern, at, "has a method %s in Python, as %s has: give one of them another name in the design", name, other)
	}
	p.methods[name] = pattern + suffix
	return name
}

// doc prints a docstring of paragraphs.
func (p *pythonPrinter) doc(indent string, paragraphs ...string) {
	text := comment(paragraphs...)
	if text == "" {
		return
	}
	text = goErrors.ReplaceAllStringFunc(withCodes(text), func(name string) string { return pythonError(strings.TrimPrefix(name, "table.")) })
	text = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(text)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		if rest, block := strings.CutPrefix(line, "\t"); block {
			line = "    " + rest
		}
		lines[i] = strings.TrimRight(indent+line, " ")
	}
	first := strings.TrimPrefix(lines[0], indent)
	if len(lines) == 1 {
		if strings.HasSuffix(first, `"`) {
			first += " "
		}
		p.line(indent + `"""` + first + `"""`)
		return
	}
	p.line(indent + `"""` + first + "\n" + strings.Join(lines[1:], "\n") + "\n" + indent + `"""`)
}

// line prints a line unchanged.
func (p *pythonPrinter) line(text string) { p.out.WriteString(text + "\n") }

func (p *pythonPrinter) print() {
	for _, e := range p.enums {
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = pythonText(v)
		}
		p.export(e.Go)
		p.line("\n" + e.Go + " = _typing.Literal[" + strings.Join(values, ", ") + "]")
		p.doc("", e.Doc)
	}
	for _, x := range p.structs {
		p.class(x.Go, x.Name, x.Pos, x.members, x.Doc)
	}
	for _, e := range p.entities {
		p.class(e.Go, e.Name, e.Pos, e.members, named(e.Go, "is an item of table "+e.Table+".", e.Doc), p.keysOf(e))
	}
	p.printErrorClasses()
	for _, r := range p.reads {
		p.printReadClasses(r)
	}
	for _, c := range p.collections {
		p.printCollectionClass(c)
	}
	for _, w := range p.model.writes {
		p.printWriteClasses(w)
	}
	p.printDB()
	p.printHead()
}

// printHead prepends the start of the module, which lists the exports.
func (p *pythonPrinter) printHead() {
	names := append(strings.Fields(pythonClasses), "DB", "decode")
	names = slices.DeleteFunc(names, func(name string) bool { return name == "False" || name == "None" || name == "True" })
	again := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "DB" || name == "decode" })
	imports := make([]string, len(again))
	for i, name := range again {
		imports[i] = name + " as " + name
	}
	rest := p.out.String()
	p.out.Reset()
	p.doc("", "The types and patterns of the design "+p.design.Name+".", p.design.Doc)
	p.line(`
from __future__ import annotations

import datetime as _datetime
import typing as _typing
from dataclasses import dataclass as _dataclass, field as _field
from decimal import Decimal as _Decimal

from . import descriptors as _descriptors
from . import runtime as _table
from .runtime import (`)
	for part := range slices.Chunk(imports, 3) {
		p.line("    " + strings.Join(part, ", ") + ",")
	}
	p.line(")\n\n__all__ = [")
	for part := range slices.Chunk(slices.Sorted(slices.Values(append(names, p.exports...))), 6) {
		for i, name := range part {
			part[i] = pythonText(name)
		}
		p.line("    " + strings.Join(part, ", ") + ",")
	}
	p.line("]\n")
	p.out.WriteString(rest)
}

func (p *pythonPrinter) export(name string) { p.exports = append(p.exports, name) }

// pythonText is a string literal.
func pythonText(text string) string { return strings.ReplaceAll(quoted(text), `\/`, "/") }

// typeOf is the Python type of values of a type; see codec.py of the runtime.
func (p *pythonPrinter) typeOf(t design.Type) string {
	switch t.Kind {
	case design.KindInt, design.KindMoney:
		return "int"
	case design.KindDecimal:
		return "_Decimal"
	case design.KindBool:
		return "bool"
	case design.KindTime, design.KindTTL:
		return "_datetime.datetime"
	case design.KindBytes:
		return "bytes"
	case design.KindSecret:
		return "_table.Secret"
	case design.KindEnum:
		return p.enum(t.Name).Go
	case design.KindStruct:
		return p.structure(t.Name).Go
	case design.KindList:
		return "list[" + p.typeOf(*t.Elem) + "]"
	case design.KindSet:
		return "set[" + p.typeOf(*t.Elem) + "]"
	case design.KindMap:
		return "dict[str, " + p.typeOf(*t.Elem) + "]"
	default:
		return "str"
	}
}

// inputType is the type of a member, without None for an optional one.
func (p *pythonPrinter) inputType(x member) string {
	if x.Removable {
		return p.typeOf(x.Type) + " | _table.Removed"
	}
	return p.typeOf(x.Type)
}

// empties reports whether an absent value of a type is equivalent to an empty one.
func empties(t design.Type) bool {
	return t.Kind == design.KindList || t.Kind == design.KindSet || t.Kind == design.KindMap
}

// class prints a dataclass of members, followed by additional lines.
func (p *pythonPrinter) class(name, owner string, at design.Pos, list []member, paragraphs ...string) {
	p.beginClass(name, paragraphs...)
	met := map[string]string{}
	for _, x := range list {
		attribute, of := p.attribute(x.Name), p.inputType(x)
		if other, taken := met[attribute]; taken {
			p.fault(owner, at, "has two fields with the name %s in Python, %s and %s: give one of them another name in the design", attribute, other, x.Name)
		}
		met[attribute] = x.Name
		switch {
		case x.Optional:
			p.line("    " + attribute + ": " + of + " | None = None")
		case empties(x.Type):
			collection, _, _ := strings.Cut(of, "[")
			p.line("    " + attribute + ": " + of + " = _field(default_factory=" + collection + ")")
		default:
			p.line("    " + attribute + ": " + of)
		}
		p.doc("    ", x.Doc)
	}
	if len(list) == 0 {
		p.line("    pass")
	}
}

func (p *pythonPrinter) beginClass(name string, paragraphs ...string) {
	p.export(name)
	p.line("\n\n@_dataclass(kw_only=True)\nclass " + name + ":")
	p.doc("    ", paragraphs...)
	p.line("")
}

// printErrorClasses prints the classes of the errors that writes return.
func (p *pythonPrinter) printErrorClasses() {
	for _, e := range p.model.errors {
		name, base := p.errors[e], "TableError"
		codes := []string{pythonText(strings.TrimPrefix(e.Name, "Err"))}
		if e.Wraps != "" {
			base = pythonError(e.Wraps)
			codes = append(codes, pythonText(strings.TrimPrefix(e.Wraps, "Err")))
		}
		ends := "No write returns it."
		if writes := p.endIn(e.Err); len(writes) > 0 {
			for i := range writes {
				writes[i] = snake(writes[i])
			}
			ends = strings.Join(writes, ", ") + " can return it."
		}
		p.export(name)
		p.line("\n\nclass " + name + "(_table." + base + "):")
		p.doc("    ", "Declared by the design: "+e.Message+". "+ends)
		p.line("\n    codes: _typing.ClassVar[tuple[str, ...]] = (" + strings.Join(codes, ", ") + ",)")
	}
}

func (p *pythonPrinter) printReadClasses(r *readModel) {
	name := snake(r.Design.Name)
	switch {
	case r.Design.Each:
		p.class(r.input, r.Design.Name, r.Design.Pos, r.inputs, "The input of "+name+" for each item.")
	case r.batch() && r.input != "":
		p.class(r.input, r.Design.Name, r.Design.Pos, r.inputs, "The input of "+name+"_batch.")
	}
	if r.result.own {
		p.class(r.result.Go, r.Design.Name, r.Design.Pos, r.result.members, "A result of "+name+": "+indefinite(r.entity.Go)+", which may lack fields.")
	}
}

func (p *pythonPrinter) printCollectionClass(c *collectionModel) {
	name := snake(c.Design.Name)
	for _, x := range c.members {
		if x.own {
			p.class(x.Go, c.Design.Name, c.Design.Pos, x.members, "A result of "+name+": "+indefinite(x.entity.Go)+".")
		}
	}
	p.beginClass(c.result, "The result of "+name+".")
	for i, x := range c.members {
		attribute := p.attribute(lowerCamel(x.field))
		switch {
		case i != c.Run.Root:
			p.line("    " + attribute + ": list[" + x.Go + "] = _field(default_factory=list)")
		case c.Run.Page > 0:
			p.line("    " + attribute + ": " + x.Go + " | None = None\n    \"\"\"Only on the first page.\"\"\"")
		default:
			p.line("    " + attribute + ": " + x.Go)
		}
	}
	if c.Run.Page > 0 {
		p.line("    next: str\n    \"\"\"Continues after this page, as the argument after; \"\" on the last page.\"\"\"")
	}
}

func (p *pythonPrinter) printWriteClasses(w *writeModel) {
	name := snake(w.Design.Name)
	if w.line != "" {
		p.class(w.line, w.Design.Name, w.Design.Pos, w.lines, "A line of "+name+".")
	}
	r := p.writes[w]
	if r == nil {
		return
	}
	p.beginClass(r.done, "The result of "+name+".")
	for _, x := range w.returned {
		attribute := p.attribute(lowerCamel(x.field))
		switch {
		case x.each:
			p.line("    " + attribute + ": list[" + x.entity.Go + "]")
		case x.maybe:
			p.line("    " + attribute + ": " + x.entity.Go + " | None = None\n    \"\"\"The item after the write, if the write needed to read it.\"\"\"")
		default:
			p.line("    " + attribute + ": " + x.entity.Go)
		}
	}
	if r.replayed == "" {
		return
	}
	p.line("    replayed: _typing.Literal[False] = False")
	p.beginClass(r.replayed, "The request of "+name+" was repeated: nothing was done.")
	p.line("    record: " + w.record.Go + "\n    \"\"\"The record of the first request.\"\"\"")
	for _, x := range w.returned {
		of := ""
		if x.step == p.returnedOf(w, x.entity)[0].step {
			if r := w.replayRead; r != nil && r.entity == x.entity {
				of = r.result.Go
			}
			if c := w.replayCollection; c != nil {
				for _, member := range c.members {
					if member.entity == x.entity {
						of = member.Go
					}
				}
			}
		}
		if of == "" {
			continue
		}
		if x.each {
			of = "list[" + of + "]"
		}
		p.line("    " + p.attribute(lowerCamel(x.field)) + ": " + of + " | None = None")
	}
	p.line("    replayed: _typing.Literal[True] = True")
	p.export(r.result)
	p.line("\n\n" + r.result + " = _typing.Union[" + r.done + ", " + r.replayed + "]")
}

// parameters are the inputs of a method, as keyword parameters, and the arguments for the runtime.
func (p *pythonPrinter) parameters(list []member, reserved ...string) (takes []string, given []string) {
	for _, x := range list {
		name, key := x.Name, x.Name
		if x.Prefix {
			name, key = name+"_prefix", key+"Prefix"
		}
		name = snake(name)
		if slices.Contains(reserved, name) {
			name += "_"
		}
		p.attribute(x.Name) // the runtime's name for the parameter
		of := p.inputType(x)
		if x.Optional || x.Prefix || empties(x.Type) {
			of += " | None = None"
		}
		takes, given = append(takes, name+": "+of), append(given, pythonText(key)+": "+name)
	}
	return takes, given
}

// def prints a method that returns the result of a runtime call.
func (p *pythonPrinter) def(name string, takes []string, returns, call string, remarks ...string) {
	star := ""
	if len(takes) > 0 {
		star = ", *, "
	}
	signature := "    def " + name + "(self" + star + strings.Join(takes, ", ") + ") -> " + returns + ":"
	if len(signature) > documentWidth {
		signature = "    def " + name + "(\n        self, *,\n        " + strings.Join(takes, ",\n        ") + ",\n    ) -> " + returns + ":"
	}
	p.line("\n" + signature)
	p.doc("        ", remarks...)
	if returns == "None" {
		p.line("        self._run." + call)
		return
	}
	p.line("        _found: " + returns + " = self._run." + call + "\n        return _found")
}

func dict(members []string) string { return "{" + strings.Join(members, ", ") + "}" }

// pages are the parameters of a method that returns pages.
var pages = []string{"limit: int | None = None", `after: str = ""`} //nolint:gochecknoglobals // a constant

func (p *pythonPrinter) remarks(name, python string, remarks []string) []string {
	out := slices.Clone(remarks)
	if len(out) > 0 {
		out[0] = strings.Replace(out[0], name, python, 1)
	}
	return out
}

func (p *pythonPrinter) printReadMethods(r *readModel) {
	d, result := r.Design, r.result.Go
	name, of := p.method(d.Name, "", d.Pos), pythonText(d.Name)
	takes, given := p.parameters(r.inputs, "limit", "after")
	if r.Range != nil {
		t := p.typeOf(r.Range.Type) + " | None = None"
		if r.Run.Over != "" && !r.Run.Open() {
			t = p.typeOf(r.Range.Type) // a walk requires both
		}
		for _, bound := range []string{"From", "To"} {
			parameter := strings.TrimSuffix(snake(r.Range.Name), "_") + strings.ToLower("_"+bound)
			takes, given = append(takes, parameter+": "+t), append(given, pythonText(r.Range.Name+bound)+": "+parameter)
		}
	}
	remarks := p.remarks(r.Go, name, p.readRemarks(r, "None"))
	if r.Run.Open() {
		remarks = append(remarks, openBounds(r, "None"))
	}
	switch {
	case d.Count:
		p.def(name, takes, "int", "count("+of+", "+dict(given)+")", remarks...)
	case d.Each:
		p.printBatchMethod(name, r, remarks...)
	case !r.Run.Many:
		p.def(name, takes, result, "one("+of+", "+dict(given)+")", remarks...)
	case !r.paged():
		p.def(name, takes, "_typing.List["+result+"]", "list("+of+", "+dict(given)+")", remarks...)
	default:
		p.def(name, slices.Concat(takes, pages), "_table.Page["+result+"]", "page("+of+", "+dict(given)+", limit, after)", remarks...)
		p.def(p.method(d.Name, "_all", d.Pos), takes, "_typing.Iterator["+result+"]", "each("+of+", "+dict(given)+")",
			"Iterates over all pages of "+name+", and requests each when it is needed.")
	}
	if r.batch() && r.input != "" {
		p.printBatchMethod(p.method(d.Name, "_batch", d.Pos), r, name+" for several inputs at once, in BatchGetItem requests. "+inOrder("None", r.Run.Owner))
	}
}

// printBatchMethod prints the method that reads one item for each input.
func (p *pythonPrinter) printBatchMethod(name string, r *readModel, remarks ...string) {
	returns := "_typing.List[_typing.Optional[" + r.result.Go + "]]"
	p.line("\n    def " + name + "(self, inputs: _typing.Sequence[" + r.input + "]) -> " + returns + ":")
	p.doc("        ", remarks...)
	p.line("        _found: " + returns + " = self._run.batch(" + pythonText(r.Design.Name) + ", inputs)\n        return _found")
}

// printDB prints the class with a method for each pattern.
func (p *pythonPrinter) printDB() {
	p.line("\n\nclass DB:")
	p.doc("    ", "Reads and writes the items of the design "+p.design.Name+": one method for each read, collection and write.", p.design.Doc,
		"Methods raise a subclass of TableError that states the reason, or errors of the SDK. They can be called from any number of threads at once.")
	tables, about := "_typing.Mapping[str, str] | None = None", []string{}
	for _, t := range p.tables {
		if strings.ContainsAny(t.Physical, "{}") {
			tables = "_typing.Mapping[str, str]"
		}
		about = append(about, "\t"+t.Name+": "+strings.Join(strings.Fields(t.Physical), " "))
	}
	p.line(`
    def __init__(
        self, client: _typing.Any, *,
        tables: ` + tables + `,
        cursor_key: bytes | None = None,
        old_cursor_keys: _typing.Sequence[bytes] = (),
        caller: _typing.Callable[[], str] | None = None,
        clock: _typing.Callable[[], _datetime.datetime] | None = None,
        observe: _typing.Callable[[_table.Observation], None] | None = None,
        new_id: _typing.Callable[[str], str] | None = None,
        sequential: bool = False,
    ) -> None:`)
	p.doc("        ", "client is boto3.client(\"dynamodb\"), for AWS or for a server.",
		"tables has the names of the tables on DynamoDB, with these defaults:", strings.Join(about, "\n"),
		"cursor_key encrypts cursors: at least 32 bytes, the same in all processes that continue each other's pages. Without one there are no cursors. "+
			"old_cursor_keys decrypt cursors that were issued before it was rotated. caller returns the caller: a cursor then works for that caller only. "+
			"clock returns the current time. observe is called after each call of a method, with its cost. new_id generates the IDs that writes need, "+
			"by kind; by default they are random. sequential is for tests: requests are sent one after another, and retries have no pauses.")
	p.line(`        self._run = _table.Runtime(
            _program, _declared, client, tables=tables or {}, cursor_key=cursor_key, old_cursor_keys=old_cursor_keys, caller=caller,
            clock=clock, observe=observe, new_id=new_id, sequential=sequential,
        )`)
	if p.composable() {
		p.line("        self.op = _" + p.ops + "(self._run)\n        \"\"\"The writes as parts of a tx.\"\"\"")
	}
	for _, r := range p.reads {
		p.printReadMethods(r)
	}
	p.printOtherMethods()
	var entities []string
	for _, e := range p.entities {
		entities = append(entities, e.Go)
	}
	p.printLoad(strings.Join(entities, " | "))
	if p.composable() {
		p.printOps()
	}
	if person := p.program.Person; person != nil {
		name := strings.ToUpper(snake(personKept))
		p.export(name)
		p.line("\n\n" + name + ": _typing.Sequence[_table.Kept] = (")
		for _, k := range person.Kept() {
			flags := map[bool]string{true: "True", false: "False"}
			p.line("    _table.Kept(" + pythonText(k.Entity) + ", " + pythonText(k.Reason) + ", " + flags[k.Changed] + ", " + flags[k.Expires] + "),")
		}
		p.line(")")
		p.doc("", "The items that "+snake(erasePerson)+" keeps, with the reasons.")
	}
	p.line("\n")
	p.printTypes()
}

// printOtherMethods prints the methods of collections and writes.
func (p *pythonPrinter) printOtherMethods() {
	for _, c := range p.collections {
		name := p.method(c.Design.Name, "", c.Design.Pos)
		takes, given := p.parameters(c.inputs, "limit", "after")
		call := "collect(" + pythonText(c.Design.Name) + ", " + dict(given)
		if c.Run.Page > 0 {
			takes, call = slices.Concat(takes, pages), call+", limit, after"
		}
		p.def(name, takes, c.result, call+")", p.remarks(c.Go, name, p.collectionRemarks(c))...)
	}
	for _, w := range p.model.writes {
		name := p.method(w.Design.Name, "", w.Design.Pos)
		takes, given := p.parameters(w.inputs)
		if w.line != "" {
			takes, given = append(takes, "lines: _typing.Sequence["+w.line+"]"), append(given, `"lines": lines`)
		}
		returns := "None"
		if r := p.writes[w]; r != nil {
			returns = r.result
		}
		p.def(name, takes, returns, "write("+pythonText(w.Design.Name)+", "+dict(given)+")", p.remarks(w.Go, name, p.writeRemarks(w))...)
	}
	if p.program.Person != nil {
		p.printPersonMethods()
	}
	if !p.composable() {
		return
	}
	p.line("\n    def tx(self, *writes: _table.Op[_typing.Any]) -> None:")
	p.doc("        ", txRemarks("tx", "op"),
		"An error of one write is the error that the write alone would raise, with the write's number in tx_write. An idempotent write makes the whole transaction idempotent.")
	p.line("        self._run.tx(writes)")
}

// printPersonMethods prints the methods that export and erase a person's items.
func (p *pythonPrinter) printPersonMethods() {
	var entities []string
	for _, e := range p.entities {
		entities = append(entities, e.Go)
	}
	of := "_table.PersonItem[" + strings.Join(entities, " | ") + "]"
	export, erase := snake(exportPerson), snake(erasePerson)
	p.line("\n    def " + export + "(\n        self, person: str, *, after: str = \"\",\n    ) -> _typing.Iterator[" + of + "]:")
	p.doc("        ", p.exportRemarks(export, "An item's method json returns it without secrets. after is the resume of the item to continue after."))
	p.line("        return self._run.export_person(person, after)")
	p.line("\n    def " + erase + "(self, person: str) -> _table.Erased:")
	p.doc("        ", eraseRemarks(erase, strings.ToUpper(snake(personKept)))...)
	p.line("        return self._run.erase_person(person)")
}

// printOps prints the class with the writes for tx.
func (p *pythonPrinter) printOps() {
	p.line("\n\nclass _" + p.ops + ":")
	p.doc("    ", "The writes for tx. The methods send no request: they take the input of the method of DB, and have its result when "+
		"tx has returned.")
	p.line("\n    def __init__(self, run: _table.Runtime) -> None:\n        self._run = run")
	for _, w := range p.model.writes {
		if w.Run.Batch {
			continue
		}
		name := snake(w.Design.Name)
		takes, given := p.parameters(w.inputs)
		if w.line != "" {
			takes, given = append(takes, "lines: _typing.Sequence["+w.line+"]"), append(given, `"lines": lines`)
		}
		returns := "None"
		if r := p.writes[w]; r != nil {
			returns = r.result
		}
		p.def(name, takes, "_table.Op["+returns+"]", "op("+pythonText(w.Design.Name)+", "+dict(given)+")", name+" is "+name+" of DB, for tx.")
	}
}

// printLoad prints the code that every class has, and the module's code after the class.
func (p *pythonPrinter) printLoad(entities string) {
	p.line(`
    def load(
        self, records: _typing.Iterable[` + entities + `], progress: _typing.Callable[[int], None] | None = None,
    ) -> None:
        """Puts records with their copies, index entries and markers as they are, without any condition: for imports and samples.

        It calls progress with the number of records that are stored.
        """
        self._run.load(records, progress)

    def create_tables(self) -> None:
        """Makes the tables and waits until they are there, for tests and for services that make them when they start.

        monotable provision has more, and changes tables that are there.
        """
        self._run.create_tables(_descriptors.tables)


def decode(item: _typing.Mapping[str, _typing.Any]) -> _table.Decoded | None:
    """Finds the entity that a stored item stands for: the item itself, a copy or a marker.

    It is for what reads items without asking for a pattern: streams, exports, scans. A copy or marker may lack fields.
    """
    return _table.decoded(_program, dict(item))

`)
}

// printTypes prints the classes by the names used in descriptors.
func (p *pythonPrinter) printTypes() {
	list := func(name string, members []string) {
		if len(members) > 0 {
			p.line("    " + name + "={\n        " + strings.Join(members, ",\n        ") + ",\n    },")
		}
	}
	var names, structs, entities, reads, collections, writes, failures []string
	for _, name := range slices.Sorted(maps.Keys(p.attributes)) {
		names = append(names, pythonText(name)+": "+pythonText(p.attributes[name]))
	}
	for _, s := range p.structs {
		structs = append(structs, pythonText(s.Name)+": "+s.Go)
	}
	for _, e := range p.entities {
		entities = append(entities, pythonText(e.Name)+": "+e.Go)
	}
	for _, r := range p.reads {
		reads = append(reads, pythonText(r.Design.Name)+": "+r.result.Go)
	}
	for _, c := range p.collections {
		var of []string
		for _, x := range c.members {
			of = append(of, x.Go)
		}
		collections = append(collections, pythonText(c.Design.Name)+": ("+c.result+", ("+strings.Join(of, ", ")+",))")
	}
	for _, w := range p.model.writes {
		if r := p.writes[w]; r != nil {
			replayed := "None"
			if r.replayed != "" {
				replayed = r.replayed
			}
			writes = append(writes, pythonText(w.Design.Name)+": ("+r.done+", "+replayed+")")
		}
	}
	for _, e := range p.model.errors {
		failures = append(failures, pythonText(e.Name)+": "+p.errors[e])
	}
	p.line("_types = _table.Types(")
	list("names", names)
	list("structs", structs)
	list("entities", entities)
	list("reads", reads)
	list("collections", collections)
	list("writes", writes)
	list("errors", failures)
	p.line(")\n_program = _table.Program(_descriptors.document, _types)\n_declared = _table.Declared(_descriptors.document.get(\"errors\", {}), _types.errors)")
}
