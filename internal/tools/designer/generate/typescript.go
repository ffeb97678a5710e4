package generate

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// typescriptRuntime executes a document in TypeScript. It is copied next to the generated code, which otherwise needs only the
// SDK.
//
//go:embed typescript/runtime/*.ts
var typescriptRuntime embed.FS

// TypeScript generates the modules of a program: index.ts with the types and a class with a method for each pattern,
// descriptors.ts with the document, and the runtime. Its error joins a *lower.FaultError for each thing that cannot be
// generated.
func TypeScript(p *lower.Program) ([]File, error) {
	m := newModel(p, p.Design.Go.Package, "TypeScript")
	m.checkTypeScript()
	document := m.document()
	s := &source{}
	m.printTypeScript(s)
	if err := errors.Join(m.faults...); err != nil {
		return nil, err
	}
	const lint = "/* eslint-disable */\n\n"
	head := m.header() + "\n" + lint
	out := []File{
		{Name: "index.ts", Content: []byte(head + s.out.String())},
		{Name: "descriptors.ts", Content: []byte(head + "import type { Document } from \"./runtime/index.js\";\n\n" +
			"/** The design's tables, entities and patterns, as the runtime executes them. */\nexport const document: Document = " + document + ";\n")},
	}
	names, err := fs.Glob(typescriptRuntime, "typescript/runtime/*.ts")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := typescriptRuntime.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: "runtime/" + path.Base(name), Content: append([]byte(head), text...)})
	}
	return out, nil
}

// The names with another meaning in the generated module, and class members that JavaScript itself calls.
const (
	typescriptTypes = "AsyncGenerator AsyncIterable DB Date DecodeError Decoded ErrorCode Iterable LoadRecord Omit Op Partial Pick Promise Refusal " +
		"PersonItem Secret TableError Uint8Array UnfinishedError ValueError"
	typescriptMembers = "constructor then catch finally"
)

// checkTypeScript rejects names that are impossible in generated TypeScript.
func (m *model) checkTypeScript() {
	refuse := func(owner, name string, at design.Pos) {
		if slices.Contains(strings.Fields(typescriptTypes), name) {
			m.fault(owner, at, "is called %s, which is a built-in type of TypeScript: give it another name in the design", name)
		}
	}
	for _, e := range m.enums {
		refuse(e.Name, e.Go, e.Pos)
	}
	for _, s := range m.structs {
		refuse(s.Name, s.Go, s.Pos)
	}
	for _, e := range m.entities {
		refuse(e.Name, e.Go, e.Pos)
	}
	method := func(name string, at design.Pos) {
		if slices.Contains(strings.Fields(typescriptMembers), lowerCamel(exported(name))) {
			m.fault(name, at, "would become a method %s, which JavaScript itself calls: give it another name in the design", lowerCamel(exported(name)))
		}
	}
	for _, r := range m.reads {
		method(r.Design.Name, r.Design.Pos)
	}
	for _, c := range m.collections {
		method(c.Design.Name, c.Design.Pos)
	}
	for _, w := range m.writes {
		method(w.Design.Name, w.Design.Pos)
	}
}

// tsDoc prints a doc comment of paragraphs.
func tsDoc(s *source, indent string, paragraphs ...string) {
	text := comment(paragraphs...)
	if text == "" {
		return
	}
	text = goErrors.ReplaceAllString(strings.ReplaceAll(withCodes(text), "*/", `*\/`), "$1")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		if rest, block := strings.CutPrefix(line, "\t"); block {
			line = "    " + rest
		}
		lines[i] = strings.TrimRight(indent+" * "+line, " ")
	}
	if len(lines) == 1 {
		s.print("%s/** %s */", indent, strings.TrimPrefix(lines[0], indent+" * "))
		return
	}
	s.print("%s/**\n%s\n%s */", indent, strings.Join(lines, "\n"), indent)
}

// goErrors matches Go errors in remarks; in TypeScript, errors have codes.
var goErrors = regexp.MustCompile(`\b(?:table\.)?Err([A-Z]\w*)`) //nolint:gochecknoglobals // compiled once

// withCodes replaces the error of a batch in remarks, like the other errors.
func withCodes(text string) string {
	return strings.ReplaceAll(text, "*table.UnfinishedError", "table.ErrUnfinished")
}

func (m *model) printTypeScript(s *source) {
	s.print("import * as table from \"./runtime/index.js\";\nimport { document } from \"./descriptors.js\";\n")
	s.print("export { DecodeError, Refusal, Secret, TableError, UnfinishedError, ValueError } from \"./runtime/index.js\";\n")
	for _, e := range m.enums {
		tsDoc(s, "", e.Doc)
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = quoted(v)
		}
		s.print("export type %s = %s;\n", e.Go, strings.Join(values, " | "))
	}
	for _, x := range m.structs {
		tsDoc(s, "", x.Doc)
		m.printInterface(s, x.Go, x.members)
	}
	for _, e := range m.entities {
		tsDoc(s, "", named(e.Go, "is an item of table "+e.Table+".", e.Doc), m.keysOf(e))
		m.printInterface(s, e.Go, e.members)
	}
	m.printTypeScriptErrors(s)
	m.printTypeScriptConfig(s)
	for _, r := range m.reads {
		m.printReadTypes(s, r)
	}
	for _, c := range m.collections {
		m.printCollectionTypes(s, c)
	}
	for _, w := range m.writes {
		m.printWriteTypes(s, w)
	}
	m.printTypeScriptClass(s)
	if m.composable() {
		m.printTypeScriptOps(s)
	}
}

// tsType is the TypeScript type of values of a type; see codec.ts of the runtime.
func (m *model) tsType(t design.Type) string {
	switch t.Kind {
	case design.KindInt, design.KindMoney:
		return "bigint"
	case design.KindBool:
		return "boolean"
	case design.KindTime, design.KindTTL:
		return "Date"
	case design.KindBytes:
		return "Uint8Array"
	case design.KindSecret:
		return "table.Secret"
	case design.KindEnum:
		return m.enum(t.Name).Go
	case design.KindStruct:
		return m.structure(t.Name).Go
	case design.KindList, design.KindSet:
		elem := m.tsType(*t.Elem)
		if strings.Contains(elem, " ") {
			elem = "(" + elem + ")"
		}
		return elem + "[]"
	case design.KindMap:
		return "{ [key: string]: " + m.tsType(*t.Elem) + " }"
	default: // strings, and decimals, which exceed JavaScript's numbers
		return "string"
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`) //nolint:gochecknoglobals // compiled once

func property(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quoted(name)
}

// printInterface prints an interface of members, followed by additional properties.
func (m *model) printInterface(s *source, name string, list []member, more ...string) {
	s.print("export interface %s {", name)
	for _, x := range list {
		doc, key := x.Doc, x.Name
		if x.Prefix {
			key += "Prefix"
		}
		if doc == "" && x.Type.Kind == design.KindDecimal {
			doc = "A number, as text."
		}
		of, mark := m.tsType(x.Type), ""
		if x.Removable {
			of += " | null"
			doc = strings.TrimSpace(doc + " Null removes it.")
		}
		if x.Optional || x.Prefix {
			of, mark = of+" | undefined", "?"
		}
		tsDoc(s, "  ", doc)
		s.print("  %s%s: %s;", property(key), mark, of)
	}
	for _, line := range more {
		s.print("  %s", line)
	}
	s.print("}\n")
}

// printTypeScriptErrors prints the codes of the errors that writes return.
func (m *model) printTypeScriptErrors(s *source) {
	var codes, about []string
	for _, e := range m.errors {
		code := strings.TrimPrefix(e.Name, "Err")
		codes = append(codes, quoted(code))
		what := "declared by the design"
		if e.Wraps != "" {
			what = "a case of " + strings.TrimPrefix(e.Wraps, "Err")
		}
		ends := "no write fails with it"
		if writes := m.endIn(e.Err); len(writes) > 0 {
			for i := range writes {
				writes[i] = lowerCamel(writes[i])
			}
			ends = strings.Join(writes, ", ") + " can fail with it"
		}
		about = append(about, "\t"+code+": "+what+"; "+ends)
	}
	if len(codes) == 0 {
		codes = []string{"never"}
	}
	tsDoc(s, "", "The codes of the design's own errors. A Refusal has one, with the rejected step and the item that it found.", strings.Join(about, "\n"))
	s.print("export type ErrorCode = %s;\n", strings.Join(codes, " | "))
	tsDoc(s, "", "Reports whether an error has a code, or one that includes it: isError(err, \"NotFound\").")
	s.print("export function isError(err: unknown, code: ErrorCode | table.BuiltinCode): err is table.TableError {")
	s.print("  return table.isError<string>(err, code);\n}\n")
}

func (m *model) printTypeScriptConfig(s *source) {
	tsDoc(s, "", "The configuration of a DB, in addition to its client.")
	s.print("export interface Config extends Omit<table.Settings, \"tables\"> {")
	needed := false
	var lines []string
	for _, t := range m.tables {
		open := strings.ContainsAny(t.Physical, "{}")
		needed = needed || open
		mark := "?"
		if open {
			mark = ""
		}
		lines = append(lines, fmt.Sprintf("%s%s: string; // %s", property(t.Name), mark, strings.Join(strings.Fields(t.Physical), " ")))
	}
	tsDoc(s, "  ", "The names of the tables on DynamoDB, with their defaults.")
	mark := "?"
	if needed {
		mark = ""
	}
	s.print("  tables%s: {\n    %s\n  };\n}\n", mark, strings.Join(lines, "\n    "))
}

func (m *model) printReadTypes(s *source, r *readModel) {
	if r.input != "" {
		var more []string
		if r.Range != nil {
			about, of := "The bounds are inclusive.", "?: "+m.tsType(r.Range.Type)+" | undefined;"
			switch {
			case r.Run.Open():
				about = openBounds(r, "undefined")
			case r.Run.Over != "":
				about, of = fmt.Sprintf("The bounds are inclusive; they can span at most %d partitions.", r.Run.MaxBuckets), ": "+m.tsType(r.Range.Type)+";"
			}
			more = append(more, "/** "+about+" */", property(r.Range.Name+"From")+of, property(r.Range.Name+"To")+of)
		}
		takes := "."
		if r.Design.Each {
			takes = " for each item."
		}
		tsDoc(s, "", "The input of "+lowerCamel(r.Go)+takes)
		m.printInterface(s, r.input, m.tsAsked(r.inputs, r.Design.Owner), more...)
	}
	if r.result.own {
		tsDoc(s, "", "A result of "+lowerCamel(r.Go)+": "+indefinite(r.entity.Go)+", which may lack fields.")
		m.printInterface(s, r.result.Go, r.result.members)
	}
}

// tsAsked are inputs with prefix and owner added.
func (m *model) tsAsked(list []member, owner string) []member {
	out := slices.Clone(list)
	for i := range out {
		switch {
		case out[i].Prefix:
			out[i].Doc = "A prefix of " + out[i].Name + `; "" means any value.`
		case out[i].Name == owner:
			out[i].Doc = "The caller's own: items of other owners are not found."
		}
	}
	return out
}

func (m *model) printCollectionTypes(s *source, c *collectionModel) {
	name := lowerCamel(c.Go)
	if c.input != "" {
		tsDoc(s, "", "The input of "+name+".")
		m.printInterface(s, c.input, m.tsAsked(c.inputs, c.Design.Owner))
	}
	for _, x := range c.members {
		if x.own {
			tsDoc(s, "", "A result of "+name+": "+indefinite(x.entity.Go)+".")
			m.printInterface(s, x.Go, x.members)
		}
	}
	tsDoc(s, "", "The result of "+name+".")
	s.print("export interface %s {", c.result)
	for i, x := range c.members {
		switch {
		case i != c.Run.Root:
			s.print("  %s: %s[];", lowerCamel(x.field), x.Go)
		case c.Run.Page > 0:
			s.print("  /** Only on the first page. */\n  %s?: %s;", lowerCamel(x.field), x.Go)
		default:
			s.print("  %s: %s;", lowerCamel(x.field), x.Go)
		}
	}
	if c.Run.Page > 0 {
		s.print("  /** Continues after this page; \"\" on the last page. */\n  next: string;")
	}
	s.print("}\n")
}

func (m *model) printWriteTypes(s *source, w *writeModel) {
	name := lowerCamel(w.Go)
	if w.line != "" {
		tsDoc(s, "", "A line of "+name+".")
		m.printInterface(s, w.line, w.lines)
	}
	if w.input != "" {
		var more []string
		if w.line != "" {
			more = []string{"lines: " + w.line + "[];"}
		}
		tsDoc(s, "", "The input of "+name+".")
		m.printInterface(s, w.input, w.inputs, more...)
	}
	if w.result == "" {
		return
	}
	tsDoc(s, "", "The result of "+name+".")
	if w.Run.Idempotent == nil {
		s.print("export interface %s {", w.result)
		printResultTypes(s, "  ", w)
		s.print("}\n")
		return
	}
	s.print("export type %s =\n  | {\n      replayed: false;", w.result)
	printResultTypes(s, "      ", w)
	s.print("    }\n  | {\n      /** The request was repeated: nothing was done. */\n      replayed: true;")
	s.print("      /** The record of the first request. */\n      record: %s;", w.record.Go)
	for _, x := range w.returned {
		of := ""
		if r := w.replayRead; r != nil && r.entity == x.entity && x.step == m.returnedOf(w, x.entity)[0].step {
			of = r.result.Go
		}
		if c := w.replayCollection; c != nil && x.step == m.returnedOf(w, x.entity)[0].step {
			for _, member := range c.members {
				if member.entity == x.entity {
					of = member.Go
				}
			}
		}
		if of == "" {
			continue
		}
		if x.each {
			of += "[]"
		}
		s.print("      %s?: %s;", lowerCamel(x.field), of)
	}
	s.print("    };\n")
}

// printResultTypes prints the type of a write's result.
func printResultTypes(s *source, indent string, w *writeModel) {
	for _, x := range w.returned {
		switch {
		case x.each:
			s.print("%s%s: %s[];", indent, lowerCamel(x.field), x.entity.Go)
		case x.maybe:
			s.print("%s/** The item after the write, if the write needed to read it. */\n%s%s?: %s;", indent, indent, lowerCamel(x.field), x.entity.Go)
		default:
			s.print("%s%s: %s;", indent, lowerCamel(x.field), x.entity.Go)
		}
	}
}

// printTypeScriptClass prints the class with a method for each pattern.
func (m *model) printTypeScriptClass(s *source) {
	tsDoc(s, "", "Reads and writes the items of the design "+m.design.Name+": one method for each read, collection and write.", m.design.Doc,
		"Methods fail with a TableError, whose code isError checks, or with errors of the SDK.")
	s.print("export class DB {\n  readonly #run: table.Runtime;\n")
	mark := " = {}"
	if slices.ContainsFunc(m.tables, func(t *tableModel) bool { return strings.ContainsAny(t.Physical, "{}") }) {
		mark = ""
	}
	ops := ""
	if m.composable() {
		tsDoc(s, "  ", "The writes as parts of a tx.")
		s.print("  readonly op: %s;\n", m.ops)
		ops = "\n    this.op = new " + m.ops + "(this.#run);"
	}
	tsDoc(s, "  ", "client is a DynamoDBClient, for AWS or for a server.")
	s.print("  constructor(client: table.Client, config: Config%s) {\n    this.#run = new table.Runtime(document, client, config);%s\n  }\n", mark, ops)
	for _, r := range m.reads {
		m.printReadMethods(s, r)
	}
	for _, c := range m.collections {
		takes, given := tsInput(c.input)
		page := "{}"
		if c.Run.Page > 0 {
			takes, page = takes+"page: table.PageOptions = {}, ", "page"
		}
		tsDoc(s, "  ", m.tsRemarks(c.Go, m.collectionRemarks(c))...)
		printMethod(s, c.Go, takes, "Promise<"+c.result+">", fmt.Sprintf("collect<%s>(%s, %s, %s, options)", c.result, quoted(c.Design.Name), given, page))
	}
	for _, w := range m.writes {
		takes, given := tsInput(w.input)
		result := w.result
		if result == "" {
			result = "void"
		}
		tsDoc(s, "  ", m.tsRemarks(w.Go, m.writeRemarks(w))...)
		if result == "void" {
			s.print("  async %s(%soptions: table.CallOptions = {}): Promise<void> {\n    await this.#run.write(%s, %s, options);\n  }\n", lowerCamel(w.Go), takes, quoted(w.Design.Name), given)
			continue
		}
		printMethod(s, w.Go, takes, "Promise<"+result+">", fmt.Sprintf("write<%s>(%s, %s, options)", result, quoted(w.Design.Name), given))
	}
	if m.composable() {
		m.printTypeScriptTx(s)
	}
	m.printTypeScriptPerson(s)
	var records []string
	for _, e := range m.entities {
		records = append(records, fmt.Sprintf("{ entity: %s; value: %s }", quoted(e.Name), e.Go))
	}
	tsDoc(s, "  ", "Puts records with their copies, index entries and markers as they are, without any condition: for imports and samples. "+
		"It calls progress with the number of records stored so far.")
	s.print("  load(records: Iterable<LoadRecord> | AsyncIterable<LoadRecord>, progress?: (stored: number) => void, options: table.CallOptions = {}): Promise<void> {")
	s.print("    return this.#run.load(records, progress, options);\n  }\n}\n")
	if len(records) == 0 {
		records = []string{"never"}
	}
	tsDoc(s, "", "An item for load.")
	s.print("export type LoadRecord =\n  | %s;\n", strings.Join(records, "\n  | "))
	m.printTypeScriptKept(s)
	tsDoc(s, "", "The entity of a stored item. A copy or marker may lack fields.")
	s.print("export type Decoded = LoadRecord extends infer R ? (R extends { entity: infer E; value: infer V } ? { entity: E; place: table.Place; value: Partial<V> } : never) : never;\n")
	tsDoc(s, "", "Finds the entity of a stored item: the item itself, a copy or a marker. It is for readers that do not use "+
		"a pattern: streams, exports, scans.")
	s.print("export const decode = table.decoder(document) as (item: table.Item) => Decoded | undefined;\n")
	m.printCreateTables(s)
}

// printTypeScriptTx prints the method that composes writes.
func (m *model) printTypeScriptTx(s *source) {
	tsDoc(s, "  ", txRemarks("tx", "op")+" The results are those of the writes, in order.",
		"An error of one write is the error that the write alone would throw, with the write's number in txWrite. An idempotent write makes the whole transaction idempotent.")
	s.print("  tx<const W extends readonly table.Op<unknown>[]>(writes: W, options: table.CallOptions = {}): Promise<table.TxResult<W>> {\n    return this.#run.tx(writes, options);\n  }\n")
}

// printTypeScriptOps prints the class with the writes for tx.
func (m *model) printTypeScriptOps(s *source) {
	tsDoc(s, "", "The writes for tx. The methods send no request: they take the input of the method of DB.")
	s.print("export class %s {\n  readonly #run: table.Runtime;\n\n  constructor(run: table.Runtime) {\n    this.#run = run;\n  }\n", m.ops)
	for _, w := range m.writes {
		if w.Run.Batch {
			continue
		}
		takes, given := tsInput(w.input)
		result := w.result
		if result == "" {
			result = "void"
		}
		tsDoc(s, "  ", lowerCamel(w.Go)+" is "+lowerCamel(w.Go)+" of DB, for tx.")
		s.print("  %s(%s): table.Op<%s> {\n    return this.#run.op<%s>(%s, %s);\n  }\n", lowerCamel(w.Go), strings.TrimSuffix(takes, ", "), result, result, quoted(w.Design.Name), given)
	}
	s.print("}\n")
}

// printCreateTables prints the requests that create the tables and turn on expiry.
func (m *model) printCreateTables(s *source) {
	specs := provision.Specs(m.design, nil)
	tsDoc(s, "", "The requests that create the tables, for tests and for services that create them at startup. Send them as "+
		"new CreateTableCommand(…). monotable provision supports more settings and also changes existing tables.")
	s.print("export function createTables(config: Pick<Config, \"tables\">): table.CreateTableCommandInput[] {\n  return [")
	for i := range specs {
		s.print("    %s,", m.requestOf(i, &specs[i], provision.WriteCreateTable))
	}
	s.print("  ];\n}")
	if !slices.ContainsFunc(m.tables, func(t *tableModel) bool { return t.TTLAttr != "" }) {
		return
	}
	tsDoc(s, "", "The requests that turn on the expiry of items, after the tables exist. Send them as new UpdateTimeToLiveCommand(…).")
	s.print("export function timeToLive(config: Pick<Config, \"tables\">): table.UpdateTimeToLiveCommandInput[] {\n  return [")
	for i := range specs {
		if specs[i].TTLAttr != "" {
			s.print("    %s,", m.requestOf(i, &specs[i], provision.WriteTimeToLive))
		}
	}
	s.print("  ];\n}")
}

// requestOf is a request on a table as an object of TypeScript, with the table's name from the configuration.
func (m *model) requestOf(i int, spec *provision.Spec, write func(io.Writer, *provision.Spec) error) string {
	var text strings.Builder
	_ = write(&text, spec) // a strings.Builder does not fail
	body := strings.Replace(strings.TrimSpace(text.String()), quoted(spec.Name), fmt.Sprintf("config.tables?.[%s] ?? %s", quoted(m.tables[i].Name), quoted(spec.Name)), 1)
	return strings.ReplaceAll(body, "\n", "\n    ")
}

// tsRemarks are the remarks on a method, adapted to its name.
func (m *model) tsRemarks(name string, remarks []string) []string {
	out := slices.Clone(remarks)
	if len(out) > 0 {
		out[0] = strings.Replace(out[0], name, lowerCamel(name), 1)
	}
	return out
}

// tsInput is the parameter of a method, and the argument for the runtime.
func tsInput(input string) (takes, given string) {
	if input == "" {
		return "", "{}"
	}
	return "input: " + input + ", ", "input"
}

func printMethod(s *source, name, takes, returns, call string) {
	s.print("  %s(%soptions: table.CallOptions = {}): %s {\n    return this.#run.%s;\n  }\n", lowerCamel(name), takes, returns, call)
}

func (m *model) printReadMethods(s *source, r *readModel) {
	takes, given := tsInput(r.input)
	result, name := r.result.Go, quoted(r.Design.Name)
	tsDoc(s, "  ", m.tsRemarks(r.Go, m.readRemarks(r, "undefined"))...)
	switch {
	case r.Design.Count:
		printMethod(s, r.Go, takes, "Promise<number>", fmt.Sprintf("count(%s, %s, options)", name, given))
	case r.Design.Each:
		m.printBatchMethod(s, r.Go, r)
	case !r.Run.Many:
		printMethod(s, r.Go, takes, "Promise<"+result+">", fmt.Sprintf("one<%s>(%s, %s, options)", result, name, given))
	case !r.paged():
		printMethod(s, r.Go, takes, "Promise<"+result+"[]>", fmt.Sprintf("list<%s>(%s, %s, options)", result, name, given))
	default:
		printMethod(s, r.Go, takes+"page: table.PageOptions = {}, ", "Promise<table.PageOf<"+result+">>", fmt.Sprintf("page<%s>(%s, %s, page, options)", result, name, given))
		tsDoc(s, "  ", "Iterates over all pages of "+lowerCamel(r.Go)+", and requests each when it is needed.")
		printMethod(s, r.Go+"All", takes, "AsyncGenerator<"+result+", void, undefined>", fmt.Sprintf("each<%s>(%s, %s, options)", result, name, given))
	}
	if r.batch() && r.input != "" {
		tsDoc(s, "  ", lowerCamel(r.Go)+"Batch is "+lowerCamel(r.Go)+" for several inputs at once, in BatchGetItem requests. "+inOrder("undefined", r.Run.Owner))
		m.printBatchMethod(s, r.Go+"Batch", r)
	}
}

// printBatchMethod prints the method that reads one item for each input.
func (m *model) printBatchMethod(s *source, name string, r *readModel) {
	result := r.result.Go
	printMethod(s, name, "inputs: readonly "+r.input+"[], ", "Promise<("+result+" | undefined)[]>", fmt.Sprintf("batch<%s>(%s, inputs, options)", result, quoted(r.Design.Name)))
}
