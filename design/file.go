package design

import (
	"reflect"

	"github.com/monotable/monotable/design/internal/syntax"
)

// The shapes of a design file as written. Every member is optional here; the resolver reports what is missing. Format
// writes members in this order. The tags:
//
//	layout:"block"     the value is never written on one line
//	layout:"blocks"    nor are the values in it
//	words:"a b"        the words that the value can be
//	words:"a b …"      the words that it can be beside others
//	need:"yes"         the map means nothing without it

type fileShape struct {
	Version     text                    `yaml:"design" need:"yes" words:"1"`
	Name        text                    `yaml:"name" need:"yes"`
	Doc         string                  `yaml:"doc"`
	Go          goShape                 `yaml:"go"`
	Tenant      text                    `yaml:"tenant"`
	Person      text                    `yaml:"person"`
	Tables      named[tableShape]       `yaml:"tables" need:"yes" layout:"blocks"`
	Types       named[typeShape]        `yaml:"types" layout:"block"`
	Entities    named[entityShape]      `yaml:"entities" layout:"blocks"`
	Collections named[collectionShape]  `yaml:"collections" layout:"block"`
	Reads       named[readShape]        `yaml:"reads" layout:"block"`
	Writes      named[writeShape]       `yaml:"writes" layout:"blocks"`
	Flows       named[flowShape]        `yaml:"flows" layout:"blocks"`
	Workload    workloadShape           `yaml:"workload"`
	Samples     named[[]named[Literal]] `yaml:"samples" layout:"block"`
	Examples    named[[]exampleShape]   `yaml:"examples" layout:"block"`
	Invariants  named[invariantShape]   `yaml:"invariants" layout:"block"`
	Races       named[raceShape]        `yaml:"races" layout:"blocks"`
}

type goShape struct {
	Package text `yaml:"package"`
}

type tableShape struct {
	Name     text              `yaml:"name"`
	Doc      string            `yaml:"doc"`
	Key      tableKeyShape     `yaml:"key" need:"yes"`
	Naming   text              `yaml:"naming" words:"snake_case"`
	TypeAttr text              `yaml:"type_attr" words:"none …"`
	TTLAttr  text              `yaml:"ttl_attr"`
	Billing  text              `yaml:"billing" words:"on-demand provisioned"`
	Stream   text              `yaml:"stream" words:"KEYS_ONLY NEW_IMAGE OLD_IMAGE NEW_AND_OLD_IMAGES"`
	Indexes  named[indexShape] `yaml:"indexes" layout:"block"`
	Accept   acceptShape       `yaml:"accept"`
	Pos      Pos
}

type tableKeyShape struct {
	PK  text `yaml:"pk" need:"yes"`
	SK  text `yaml:"sk"`
	Pos Pos
}

type indexShape struct {
	Local   bool         `yaml:"local"`
	PK      []text       `yaml:"pk"`
	SK      []text       `yaml:"sk"`
	Project projectShape `yaml:"project"`
	Lag     text         `yaml:"lag"`
	Accept  acceptShape  `yaml:"accept"`
}

// projectShape is all, keys, or a list of fields.
type projectShape struct {
	words []text
	pos   Pos
}

func (p *projectShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	p.pos = n.Pos
	d.Value(n, reflect.ValueOf(&p.words).Elem())
}

// typeShape is an enumeration or a structure.
type typeShape struct {
	Doc    string            `yaml:"doc"`
	Enum   []text            `yaml:"enum"`
	Fields named[fieldShape] `yaml:"fields"`
}

// fieldShape is a type, or a map with more properties.
type fieldShape struct {
	Type text   `yaml:"type" need:"yes" words:"id uuid ulid ksuid slug email text secret int decimal money bool time date ttl bytes …"`
	Doc  string `yaml:"doc"`
	Attr text   `yaml:"attr"` // the attribute's name, if it does not follow the table's naming
	At   text   `yaml:"at"`   // a path into maps: data.nombre
	Min  int    `yaml:"min"`  // bytes
	Max  int    `yaml:"max"`  // bytes
}

func (f *fieldShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.MapNode {
		d.Members(n, reflect.ValueOf(f).Elem())
		return
	}
	f.Type.fromNode(d, n)
}

type entityShape struct {
	Doc        string              `yaml:"doc"`
	Table      text                `yaml:"table"`
	Type       text                `yaml:"type"`
	Key        keyShape            `yaml:"key"`
	Copies     named[copyShape]    `yaml:"copies"`
	Index      named[[]entryShape] `yaml:"index"`
	Unique     named[keyShape]     `yaml:"unique"`
	Counters   named[counterShape] `yaml:"counters"`
	Fields     named[fieldShape]   `yaml:"fields" need:"yes"`
	Refs       named[[]text]       `yaml:"refs"`
	Snapshot   named[text]         `yaml:"snapshot"`
	TTL        *ttlShape           `yaml:"ttl"`
	Personal   named[fateShape]    `yaml:"personal"`
	Volume     volumeShape         `yaml:"volume"`
	Duplicates text                `yaml:"duplicates"`
	Accept     acceptShape         `yaml:"accept"`
}

type keyShape struct {
	PK  text `yaml:"pk"`
	SK  text `yaml:"sk"`
	Pos Pos
}

type copyShape struct {
	PK     text                `yaml:"pk" need:"yes"`
	SK     text                `yaml:"sk"`
	Fields []text              `yaml:"fields" words:"all …"` // all, or names
	Index  named[[]entryShape] `yaml:"index"`
	Pos    Pos
}

// entryShape is an entry in an index; a list has alternative entries, of which an item has one at a time.
type entryShape struct {
	Name  text    `yaml:"name"`
	PK    []text  `yaml:"pk"`
	SK    []text  `yaml:"sk"`
	Where text    `yaml:"where"`
	Share float64 `yaml:"share"`
	Pos   Pos
}

// counterShape is the counted entity, or a map with more properties.
type counterShape struct {
	Count text `yaml:"count"`
	Sum   text `yaml:"sum"` // Entity.field
	By    text `yaml:"by"`
	Where text `yaml:"where"`
}

func (c *counterShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.MapNode {
		d.Members(n, reflect.ValueOf(c).Elem())
		return
	}
	c.Count.fromNode(d, n)
}

type ttlShape struct {
	Attr  text `yaml:"attr" need:"yes"`
	After text `yaml:"after"`
	Pos   Pos
}

type volumeShape struct {
	Count   float64 `yaml:"count"`
	Per     text    `yaml:"per"`
	Typical float64 `yaml:"typical"`
	Max     float64 `yaml:"max"`
	Hottest float64 `yaml:"hottest"`
	Size    int     `yaml:"size"`
	MaxSize int     `yaml:"max_size"`
	Pos     Pos
}

type readShape struct {
	Doc        string      `yaml:"doc"`
	One        text        `yaml:"one"`
	Many       text        `yaml:"many"`
	Count      text        `yaml:"count"`
	EachOf     text        `yaml:"each"`
	Scan       text        `yaml:"scan"`
	Via        text        `yaml:"via"`
	By         []text      `yaml:"by"`
	Prefix     text        `yaml:"prefix"`
	Range      text        `yaml:"range"`
	Bucket     text        `yaml:"bucket"`
	Over       text        `yaml:"over" words:"year month day hour"`
	Buckets    *linesShape `yaml:"buckets"`
	Since      text        `yaml:"since"`
	Order      []text      `yaml:"order"`
	Filter     text        `yaml:"filter"`
	Returns    []text      `yaml:"returns"`
	Page       int         `yaml:"page"`
	Limit      int         `yaml:"limit"`
	Keys       *linesShape `yaml:"keys"`
	Segments   int         `yaml:"segments"`
	Consistent bool        `yaml:"consistent"`
	Fresh      text        `yaml:"fresh" words:"strong …"`
	Owner      text        `yaml:"owner"`
	Shared     text        `yaml:"shared"`
	Rate       float64     `yaml:"rate"`
	Accept     acceptShape `yaml:"accept"`
}

type collectionShape struct {
	Doc        string      `yaml:"doc"`
	Of         []text      `yaml:"of" need:"yes"`
	Root       text        `yaml:"root"`
	Via        text        `yaml:"via"`
	By         []text      `yaml:"by"`
	Prefix     text        `yaml:"prefix"`
	From       text        `yaml:"from"`
	To         text        `yaml:"to"`
	Order      text        `yaml:"order"`
	Page       int         `yaml:"page"`
	Consistent bool        `yaml:"consistent"`
	Fresh      text        `yaml:"fresh" words:"strong …"`
	Owner      text        `yaml:"owner"`
	Shared     text        `yaml:"shared"`
	Rate       float64     `yaml:"rate"`
	Accept     acceptShape `yaml:"accept"`
}

type writeShape struct {
	Doc        string            `yaml:"doc"`
	Params     named[fieldShape] `yaml:"params"`
	Lines      *linesShape       `yaml:"lines"`
	Batch      bool              `yaml:"batch"`
	Idempotent *idempotentShape  `yaml:"idempotent"`
	Do         []stepShape       `yaml:"do" need:"yes" layout:"block"`
	Rate       float64           `yaml:"rate"`
	Accept     acceptShape       `yaml:"accept"`
}

type linesShape struct {
	Max     int     `yaml:"max"`
	Typical float64 `yaml:"typical"`
	Pos     Pos
}

type idempotentShape struct {
	With    text   `yaml:"with" need:"yes"`
	Request []text `yaml:"request"`
	Replay  text   `yaml:"replay"`
	Pos     Pos
}

type stepShape struct {
	Each    text        `yaml:"each" words:"lines"`
	Create  text        `yaml:"create"`
	Put     text        `yaml:"put"`
	Update  text        `yaml:"update"`
	Upsert  text        `yaml:"upsert"`
	Delete  text        `yaml:"delete"`
	Check   text        `yaml:"check"`
	Name    text        `yaml:"name"`
	By      assignShape `yaml:"by"`
	Set     assignShape `yaml:"set"`
	Add     assignShape `yaml:"add"`
	Init    assignShape `yaml:"init"`
	Drop    assignShape `yaml:"drop"`
	Append  assignShape `yaml:"append"`
	Prepend assignShape `yaml:"prepend"`
	Patch   []text      `yaml:"patch"`
	Remove  []text      `yaml:"remove"`
	When    text        `yaml:"when"`
	Else    elseShape   `yaml:"else"`
	Pos     Pos
}

// elseShape is the name of an error, or errors with their conditions; "*" means any.
type elseShape struct {
	named[text]
}

func (e *elseShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.MapNode {
		e.named.fromNode(d, n)
		return
	}
	var name text
	name.fromNode(d, n)
	e.named = named[text]{{name: name.value, pos: name.pos, value: text{"*", name.pos}}}
}

type workloadShape struct {
	Region text    `yaml:"region"`
	Budget float64 `yaml:"budget"`
	Pos    Pos
}

type exampleShape struct {
	Given  named[Literal] `yaml:"given"`
	Expect []Literal      `yaml:"expect"`
	Error  text           `yaml:"error"`
	Pos    Pos
}

// invariantShape is a statement, or a map with a statement.
type invariantShape struct {
	Doc  string `yaml:"doc"`
	At   text   `yaml:"at" words:"always end …"`
	Hold text   `yaml:"hold" need:"yes"`
}

func (i *invariantShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.MapNode {
		d.Members(n, reflect.ValueOf(i).Elem())
		return
	}
	i.Hold.fromNode(d, n)
}

type flowShape struct {
	Doc      string            `yaml:"doc"`
	Given    named[fieldShape] `yaml:"given"`
	Do       []flowStepShape   `yaml:"do" need:"yes" layout:"block"`
	Retry    []text            `yaml:"retry"`
	Attempts int               `yaml:"attempts"`
}

type flowStepShape struct {
	Let   named[raw] `yaml:"let"`
	If    text       `yaml:"if"`
	Each  text       `yaml:"each"`
	Read  text       `yaml:"read"`
	Write text       `yaml:"write"`
	As    text       `yaml:"as"`
	With  named[raw] `yaml:"with"`
	Lines text       `yaml:"lines"`
	Pos   Pos
}

type raceShape struct {
	Doc    string          `yaml:"doc"`
	Start  []raceCallShape `yaml:"start" layout:"block"`
	Run    []raceCallShape `yaml:"run" need:"yes" layout:"block"`
	Crash  bool            `yaml:"crash"`
	Stale  bool            `yaml:"stale"`
	Expire bool            `yaml:"expire"`
	Depth  int             `yaml:"depth"`
	States int             `yaml:"states"`
}

type raceCallShape struct {
	Flow  text           `yaml:"flow"`
	Write text           `yaml:"write"`
	Put   text           `yaml:"put"`
	Given named[Literal] `yaml:"given"`
	Times int            `yaml:"times"`
	Pos   Pos
}
