package lsp

import (
	"regexp"
	"slices"
	"strings"
)

// kind is the kind of object that a name refers to.
type kind string

const (
	tableKind   kind = "table"
	indexKind   kind = "index" // an index, or its equivalents in via: a copy or marker
	entryKind   kind = "entry" // one of several entries of an entity in an index
	typeKind    kind = "type"
	entityKind  kind = "entity"
	fieldKind   kind = "field"
	patternKind kind = "pattern" // a read, collection, write or flow
	inputKind   kind = "input"   // a parameter of a write or flow other than fields
	ruleKind    kind = "rule"
)

// symbol is an occurrence of a name: its declaration, or a use.
type symbol struct {
	kind     kind
	name     string
	from, to int
	// within are the entities that have the field, or the table, type, write or flow that owns another local name; empty if
	// unknown.
	within   []string
	declares bool
	// small means that the name is written with a lower-case first letter, like entities in invariants.
	small bool
	node  *node
}

// collector finds the symbols of a tree.
type collector struct {
	root    *node
	symbols []symbol
}

func symbolsOf(root *node) []symbol {
	c := collector{root: root}
	root.walk(c.node)
	slices.SortStableFunc(c.symbols, func(a, b symbol) int { return a.from - b.from })
	return c.symbols
}

// at is the symbol at a byte of the text; if there are two, the longer one.
func at(symbols []symbol, offset int) *symbol {
	for i := range symbols {
		if s := &symbols[i]; s.from <= offset && offset <= s.to {
			return s
		}
	}
	return nil
}

func (c *collector) word(k kind, w *word, n *node, within ...string) {
	if w != nil && w.text != "" {
		c.symbols = append(c.symbols, symbol{kind: k, name: w.text, from: w.from, to: w.to, within: within, node: n})
	}
}

func (c *collector) declare(k kind, n *node, within ...string) {
	c.word(k, n.key, n, within...)
	c.symbols[len(c.symbols)-1].declares = true
}

// part adds a name inside a word.
func (c *collector) part(k kind, w *word, at int, name string, n *node, within ...string) {
	c.symbols = append(c.symbols, symbol{kind: k, name: name, from: w.from + at, to: w.from + at + len(name), within: within, node: n})
}

// node collects the symbols in one node: its key, and its scalar value.
func (c *collector) node(n *node) {
	if n.key != nil && n.key.text != "" {
		c.key(n)
	}
	if n.value != nil && n.value.text != "" {
		c.value(n)
	}
}

// named is the key of the nearest node around n with that slot.
func named(n *node, slot string) string {
	if n = up(n, slot); n != nil {
		return n.key.text
	}
	return ""
}

func (c *collector) key(n *node) {
	entity := named(n, "file.entities/")
	switch n.slot.name {
	case "file.tables/":
		c.declare(tableKind, n)
	case "table.indexes/":
		c.declare(indexKind, n, named(n, "file.tables/"))
	case "file.types/":
		c.declare(typeKind, n)
	case "type.fields/":
		c.declare(fieldKind, n, named(n, "file.types/"))
	case "file.entities/":
		c.declare(entityKind, n)
	case "entity.fields/":
		c.declare(fieldKind, n, entity)
	case "entity.copies/", "entity.unique/":
		c.declare(indexKind, n, entity)
	case "file.reads/", "file.collections/", "file.writes/", "file.flows/":
		c.declare(patternKind, n)
	case "write.params/":
		c.declare(inputKind, n, named(n, "file.writes/"))
	case "flow.given/", "flowStep.let/":
		c.declare(inputKind, n, named(n, "file.flows/"))
	case "entity.index/", "copy.index/":
		c.word(indexKind, n.key, n, c.tableOf(entity))
	case "entity.counters/", "entity.refs/", "entity.snapshot/", "entity.personal/", "fate.set/":
		c.word(fieldKind, n.key, n, entity)
	case "file.samples/":
		c.word(entityKind, n.key, n)
	case "file.samples//":
		c.word(fieldKind, n.key, n, named(n, "file.samples/"))
	case "file.examples/":
		c.word(patternKind, n.key, n)
	case "step.by/", "step.set/", "step.add/", "step.init/", "step.append/", "step.prepend/", "step.drop/":
		head, _, _ := strings.Cut(n.key.text, ".")
		head, _, _ = strings.Cut(head, "[")
		c.part(fieldKind, n.key, 0, head, n, c.stepEntity(n)...)
	case "example.given/":
		c.input(n.key, n, c.pattern(named(n, "file.examples/")))
	case "flowStep.with/":
		step := n.parent.parent
		c.input(n.key, n, c.pattern(step.child("write").text()+step.child("read").text()))
	case "raceCall.given/":
		step := n.parent.parent
		if entity := step.child("put").text(); entity != "" {
			c.word(fieldKind, n.key, n, entity)
			return
		}
		c.input(n.key, n, c.pattern(step.child("write").text()+step.child("flow").text()))
	default:
		if strings.HasSuffix(n.slot.name, ".accept/") {
			c.word(ruleKind, n.key, n)
		}
	}
}

// input adds a parameter of a pattern: one of its own, or a field.
func (c *collector) input(w *word, n *node, pattern *node) {
	switch {
	case pattern == nil:
	case pattern.child("params").child(w.text) != nil || pattern.child("given") != nil:
		c.word(inputKind, w, n, pattern.key.text)
	default:
		c.word(fieldKind, w, n, c.entitiesOf(pattern)...)
	}
}

// plain are the slots whose values are names of one kind, wherever they occur.
var plain = map[string]kind{ //nolint:gochecknoglobals // a table
	"entity.table": tableKind, "file.tenant": fieldKind, "file.person": fieldKind, "read.via": indexKind, "collection.via": indexKind,

	"entity.duplicates": entityKind, "volume.per": entityKind, "counter.count": entityKind, "entity.counters/": entityKind,
	"read.one": entityKind, "read.many": entityKind, "read.count": entityKind, "read.each": entityKind, "read.scan": entityKind,
	"collection.of": entityKind, "collection.root": entityKind,
	"idempotent.with": entityKind, "raceCall.put": entityKind, "invariant.at": entityKind,
	"step.create": entityKind, "step.put": entityKind, "step.update": entityKind, "step.upsert": entityKind, "step.delete": entityKind,
	"step.check": entityKind,

	"idempotent.replay": patternKind, "flowStep.read": patternKind, "flowStep.write": patternKind, "raceCall.flow": patternKind,
	"raceCall.write": patternKind,
}

// words are the words of the language that can occur in place of names.
var words = map[string][]string{ //nolint:gochecknoglobals // a table
	"copy.fields": {"all"}, "index.project": {"all", "keys"}, "read.via": {"key"}, "collection.via": {"key"}, "invariant.at": {"always", "end"},
	"idempotent.request": {"lines"},
}

func (c *collector) value(n *node) {
	w := n.value
	if slices.Contains(words[n.slot.name], w.text) {
		return
	}
	if k, is := plain[n.slot.name]; is {
		index, entry, several := strings.Cut(w.text, ".")
		if k != indexKind || !several || c.hasIndex(w.text) {
			c.word(k, w, n)
			return
		}
		c.part(indexKind, w, 0, index, n)
		c.part(entryKind, w, len(index)+1, entry, n, c.entitiesOf(up(n, "file.reads/"))...)
		return
	}
	section, _, _ := strings.Cut(n.slot.name, ".")
	switch section {
	case "read", "collection":
		c.ofPattern(n)
	case "step", "idempotent":
		c.ofWrite(n)
	default:
		c.ofEntity(n)
	}
}

// hasIndex reports whether some table has an index of that name.
func (c *collector) hasIndex(name string) bool {
	tables := c.root.child("tables")
	return tables != nil && slices.ContainsFunc(tables.nodes, func(t *node) bool { return t.child("indexes").child(name) != nil })
}

func (c *collector) ofPattern(n *node) {
	w, pattern := n.value, up(n, "file.reads/")
	if pattern == nil {
		pattern = up(n, "file.collections/")
	}
	entities := c.entitiesOf(pattern)
	_, key, _ := strings.Cut(n.slot.name, ".")
	switch {
	case n.slot.name == "read.order":
		name, _, _ := strings.Cut(w.text, " ")
		c.part(fieldKind, w, 0, name, n, entities...)
	case n.slot.name == "read.filter":
		c.condition(w, n, nil, entities...)
	case n.slot.name != "read.prefix" && slices.Contains([]string{"prefix", "from", "to"}, key):
		c.template(w, n, entities...)
	case slices.Contains([]string{"by", "prefix", "range", "bucket", "returns", "owner"}, key):
		c.word(fieldKind, w, n, entities...)
	}
}

func (c *collector) ofWrite(n *node) {
	switch n.slot.name {
	case "step.when", "step.else/", "step.by/", "step.set/", "step.add/", "step.init/", "step.append/", "step.prepend/", "step.drop/",
		"step.patch", "step.remove":
		c.condition(n.value, n, up(n, "file.writes/"), c.stepEntity(n)...)
	case "idempotent.request":
		c.input(n.value, n, up(n, "file.writes/"))
	}
}

func (c *collector) ofEntity(n *node) {
	w, entity := n.value, named(n, "file.entities/")
	switch n.slot.name {
	case "counter.sum", "entity.refs/", "entity.snapshot/":
		c.dotted(w, 0, w.text, n)
	case "entry.name":
		c.word(entryKind, w, n, entity)
		c.symbols[len(c.symbols)-1].declares = true
	case "ttl.attr", "copy.fields", "fate.remove":
		c.word(fieldKind, w, n, entity)
	case "index.project":
		c.word(fieldKind, w, n, c.entitiesIn(named(n, "file.tables/"))...)
	case "key.pk", "key.sk", "copy.pk", "copy.sk", "entry.pk", "entry.sk":
		c.template(w, n, entity)
	case "entry.where":
		c.condition(w, n, nil, entity)
	case "counter.by":
		sum, _, _ := strings.Cut(n.parent.child("sum").text(), ".")
		c.word(fieldKind, w, n, or(n.parent.child("count").text(), sum))
	case "counter.where":
		sum, _, _ := strings.Cut(n.parent.child("sum").text(), ".")
		c.condition(w, n, nil, or(n.parent.child("count").text(), sum))
	case "field.type", "entity.fields/", "type.fields/", "write.params/", "flow.given/":
		c.typed(w, n)
	case "flowStep.let/", "flowStep.with/", "flowStep.if", "flowStep.each", "flowStep.lines":
		c.flow(w, n)
	case "invariant.hold", "file.invariants/":
		c.invariant(w, n)
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// dotted adds Entity.field.
func (c *collector) dotted(w *word, at int, text string, n *node) {
	entity, field, ok := strings.Cut(text, ".")
	c.part(entityKind, w, at, entity, n)
	if ok {
		field, _, _ = strings.Cut(field, ".")
		c.part(fieldKind, w, at+len(entity)+1, field, n, entity)
	}
}

// pattern is the node of a read, collection, write or flow.
func (c *collector) pattern(name string) *node {
	for _, section := range []string{"reads", "collections", "writes", "flows"} {
		if n := c.root.child(section).child(name); n != nil {
			return n
		}
	}
	return nil
}

// entitiesOf are the entities of a read, collection, write or flow.
func (c *collector) entitiesOf(pattern *node) []string {
	if pattern == nil {
		return nil
	}
	var out []string
	add := func(names ...string) {
		for _, name := range names {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	add(c.directly(pattern)...)
	if do := pattern.child("do"); do != nil {
		for _, step := range do.nodes {
			for _, called := range []string{"read", "write"} {
				if name := step.child(called).text(); name != "" {
					if called := c.pattern(name); called != nil && called.parent != c.root.child("flows") { // flows do not call flows
						add(c.directly(called)...)
					}
				}
			}
		}
	}
	return out
}

// directly are the entities that a pattern itself names.
func (c *collector) directly(pattern *node) []string {
	out := texts(pattern.child("of").words())
	for _, key := range []string{"one", "many", "count", "each", "scan"} {
		out = append(out, pattern.child(key).text())
	}
	if do := pattern.child("do"); do != nil {
		for _, step := range do.nodes {
			for _, action := range actions {
				out = append(out, step.child(action).text())
			}
		}
	}
	return out
}

var actions = []string{"create", "put", "update", "upsert", "delete", "check"} //nolint:gochecknoglobals // a list

// stepEntity is the entity of the write's step around n.
func (c *collector) stepEntity(n *node) []string {
	for ; n != nil; n = n.parent {
		for _, action := range actions {
			if e := n.child(action).text(); e != "" {
				return []string{e}
			}
		}
	}
	return nil
}

// tableOf is the table of an entity: the one it names, or the only one.
func (c *collector) tableOf(entity string) string {
	if table := c.root.child("entities").child(entity).child("table").text(); table != "" {
		return table
	}
	if tables := c.root.child("tables"); tables != nil && len(tables.nodes) > 0 && tables.nodes[0].key != nil {
		return tables.nodes[0].key.text
	}
	return ""
}

func (c *collector) entitiesIn(table string) []string {
	var out []string
	if entities := c.root.child("entities"); entities != nil {
		for _, e := range entities.nodes {
			if e.key != nil && c.tableOf(e.key.text) == table {
				out = append(out, e.key.text)
			}
		}
	}
	return out
}

var fieldInTemplate = regexp.MustCompile(`\{\{|\{([A-Za-z]\w*)`)

// template adds the fields in braces.
func (c *collector) template(w *word, n *node, entities ...string) {
	for _, m := range fieldInTemplate.FindAllStringSubmatchIndex(w.text, -1) {
		if m[2] >= 0 {
			c.part(fieldKind, w, m[2], w.text[m[2]:m[3]], n, entities...)
		}
	}
}

var nameInType = regexp.MustCompile(`[A-Za-z]\w*`)

func (c *collector) typed(w *word, n *node) {
	for _, m := range nameInType.FindAllStringIndex(w.text, -1) {
		if name := w.text[m[0]:m[1]]; c.root.child("types").child(name) != nil {
			c.part(typeKind, w, m[0], name, n)
		}
	}
}

// names are the names in a condition or expression, which exclude quoted texts, functions, numbers and keywords.
func names(text string) [][2]int {
	var out [][2]int
	for _, m := range nameOrText.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if name[0] == '\'' || name[0] >= '0' && name[0] <= '9' || slices.Contains(reserved, strings.ToLower(name)) {
			continue
		}
		if rest := strings.TrimLeft(text[m[1]:], " "); strings.HasPrefix(rest, "(") && name[0] != ':' {
			continue
		}
		out = append(out, [2]int{m[0], m[1]})
	}
	return out
}

var (
	nameOrText = regexp.MustCompile(`'(?:[^']|'')*'?|\d\w*|:?[A-Za-z_][\w.\[\]]*`)
	reserved   = []string{"and", "or", "not", "between", "in", "true", "false", "null", "where", "of", "*"} //nolint:gochecknoglobals // a list
)

// condition adds fields by name, and parameters of the write after colons.
func (c *collector) condition(w *word, n, write *node, entities ...string) {
	for _, m := range names(w.text) {
		c.fieldOrInput(w, m, n, write, entities)
	}
}

func (c *collector) fieldOrInput(w *word, m [2]int, n, owner *node, entities []string) {
	name, given := strings.CutPrefix(w.text[m[0]:m[1]], ":")
	at := m[1] - len(name)
	head, rest, _ := strings.Cut(name, ".")
	head, _, _ = strings.Cut(head, "[")
	if !given {
		c.part(fieldKind, w, at, head, n, entities...)
		return
	}
	if owner == nil {
		return
	}
	if head == "line" && rest != "" {
		at, head = at+len("line."), rest
	}
	if isInput(owner, head) {
		c.part(inputKind, w, at, head, n, owner.key.text)
	} else {
		c.part(fieldKind, w, at, head, n, c.entitiesOf(owner)...)
	}
}

// isInput reports whether a write or flow declares the name.
func isInput(owner *node, name string) bool {
	if owner.child("params").child(name) != nil || owner.child("given").child(name) != nil {
		return true
	}
	if do := owner.child("do"); do != nil {
		for _, step := range do.nodes {
			if step.child("let").child(name) != nil {
				return true
			}
		}
	}
	return false
}

// flow adds the names in an expression of a flow: product.stock, items where quantity > 1, :quantity.
func (c *collector) flow(w *word, n *node) {
	flow := up(n, "file.flows/")
	if flow == nil {
		return
	}
	found := map[string][]string{} // by the name after as
	if do := flow.child("do"); do != nil {
		for _, step := range do.nodes {
			if as := step.child("as").text(); as != "" {
				found[as] = c.entitiesOf(c.pattern(step.child("read").text()))
			}
		}
	}
	var list []string // of the items to which the names after where refer
	for _, m := range names(w.text) {
		name := w.text[m[0]:m[1]]
		head, field, dotted := strings.Cut(name, ".")
		entities, known := found[head]
		switch {
		case known && dotted:
			field, _, _ = strings.Cut(field, ".")
			c.part(fieldKind, w, m[0]+len(head)+1, field, n, entities...)
		case known:
			list = entities
		case strings.HasPrefix(name, ":line."):
			field, _, _ = strings.Cut(field, ".")
			each, _, _ := strings.Cut(n.parent.parent.child("each").text(), " ")
			c.part(fieldKind, w, m[0]+len(":line."), field, n, found[each]...)
		default:
			c.fieldOrInput(w, m, n, flow, list)
		}
	}
}

// invariant adds the names in a statement: count(Order of user where total > 1) = user.orders.
func (c *collector) invariant(w *word, n *node) {
	entities := c.root.child("entities")
	var counted []string
	for _, m := range names(w.text) {
		head, field, dotted := strings.Cut(w.text[m[0]:m[1]], ".")
		large := strings.ToUpper(head[:1]) + head[1:]
		counts := len(counted) > 0 && !dotted && !strings.HasSuffix(strings.TrimSpace(w.text[:m[0]]), " of") &&
			entities.child(counted[0]).child("fields").child(head) != nil
		switch {
		case counts:
			c.part(fieldKind, w, m[0], head, n, counted...)
		case entities.child(head) != nil:
			counted = []string{head}
			c.dotted(w, m[0], w.text[m[0]:m[1]], n)
		case entities.child(large) != nil:
			c.part(entityKind, w, m[0], head, n)
			last := &c.symbols[len(c.symbols)-1]
			last.name, last.small = large, true
			if dotted {
				field, _, _ = strings.Cut(field, ".")
				c.part(fieldKind, w, m[0]+len(head)+1, field, n, large)
			}
		default:
			c.part(fieldKind, w, m[0], head, n, counted...)
		}
	}
}
