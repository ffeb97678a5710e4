package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// printDB prints the package comment and everything common to all patterns.
func (m *model) printDB(s *source) {
	d := m.design
	s.doc = comment(
		"Package "+m.name+" reads and writes the items of the design "+d.Name+": one method of DB for each read, collection and write.",
		d.Doc,
		"A DB is safe for concurrent use. Methods fail with the errors below, with table.ErrNotFound, table.ErrConflict and "+
			"table.ErrCursor, with a *table.ValueError for an input of the wrong type, and with errors of the SDK.",
	)
	m.printConfig(s)
	m.printNew(s)
	m.printTableRequests(s)
	s.comment(
		"Load puts records with their copies, index entries and markers as they are, without conditions: for imports and samples. " +
			"It calls progress, unless it is nil, with the number of records stored so far.",
	)
	s.print("func (db *DB) Load(ctx context.Context, records iter.Seq[table.Record], progress func(int)) error {")
	s.print("return db.run.Load(ctx, records, progress)\n}\n")
	m.printRecognise(s)
}

func (m *model) printConfig(s *source) {
	s.print("// Config configures a DB, in addition to its client.\ntype Config struct {")
	for _, t := range m.tables {
		what := "%s is the name of table %s on DynamoDB; default: %s."
		if strings.ContainsAny(t.Physical, "{}") {
			what = "%s is the name of table %s on DynamoDB: %s with the placeholders of the deployment filled in. It is required."
		}
		s.comment(fmt.Sprintf(what, t.config, t.Name, t.Physical), t.Doc)
		s.print("%s string", t.config)
	}
	s.comment("CursorKey encrypts cursors: at least 32 bytes, the same in all processes that continue each other's pages. Without one there are no cursors.")
	s.print("CursorKey []byte")
	s.comment("OldCursorKeys decrypt cursors that were issued before CursorKey was rotated.")
	s.print("OldCursorKeys [][]byte")
	s.comment("Caller returns the caller from the context: a cursor then works for that caller only. With nil, a cursor works for every caller with the same input.")
	s.print("Caller func(context.Context) string")
	s.comment("Clock returns the current time; nil means time.Now.")
	s.print("Clock func() time.Time")
	s.comment("Observe, unless it is nil, is called after each call of a method, with its cost.")
	s.print("Observe func(context.Context, table.Call)\n}\n")
}

func (m *model) printNew(s *source) {
	s.comment("DB reads and writes the design's tables.")
	created := "return &DB{run: run}, nil"
	if m.composable() {
		s.print("type DB struct {")
		s.comment("Op has the writes as parts of a Tx.")
		s.print("Op %s\n\nrun *table.DB\n}\n", m.ops)
		created = "db := &DB{run: run}\ndb.Op.db = db\nreturn db, nil"
	} else {
		s.print("type DB struct {\nrun *table.DB\n}\n")
	}
	s.comment("New returns a DB for a client: a *dynamodb.Client for AWS, for a server or for an in-process database.")
	s.print("func New(client table.Client, c Config) (*DB, error) {\nrun, err := table.Open(client, table.Config{")
	var names, variables []string
	for _, t := range m.tables {
		names, variables = append(names, fmt.Sprintf("%q: c.%s", t.Name, t.config)), append(variables, t.variable)
	}
	s.print("Tables: map[string]string{%s},", strings.Join(names, ", "))
	s.print("CursorKey: c.CursorKey, OldCursorKeys: c.OldCursorKeys, Caller: c.Caller, Clock: c.Clock, Observe: c.Observe,")
	s.print("}, %s)\nif err != nil {\nreturn nil, err\n}\n%s\n}\n", strings.Join(variables, ", "), created)
}

// printTableRequests prints the function that creates the tables.
func (m *model) printTableRequests(s *source) {
	s.comment("CreateTables returns the requests that create the tables, for tests and for services that create them at startup. " +
		"It uses the names of a Config. monotable provision supports more settings and also changes existing tables.")
	s.print("func CreateTables(c Config) []*dynamodb.CreateTableInput { return table.CreateTables(c.tables()) }\n")
	if slices.ContainsFunc(m.tables, func(t *tableModel) bool { return t.TTLAttr != "" }) {
		s.comment("TimeToLive returns the requests that turn on the expiry of items, after the tables exist.")
		s.print("func TimeToLive(c Config) []*dynamodb.UpdateTimeToLiveInput { return table.TimeToLive(c.tables()) }\n")
	}
	s.comment("tables describes the tables to create.")
	s.print("func (c Config) tables() []table.Creation {\nreturn []table.Creation{")
	for i, spec := range provision.Specs(m.design, nil) {
		t := m.tables[i]
		s.print("{\nName: cmp.Or(c.%s, %q), Table: %s,", t.config, t.Physical, t.variable)
		created := spec.Creation()
		if len(created.Indexes) > 0 {
			s.print("Indexes: %s,", m.literals().literal(created.Indexes))
		}
		if created.Stream != "" {
			s.print("Stream: %q,", created.Stream)
		}
		if created.Read > 0 {
			s.print("Read: %d, Write: %d,", created.Read, created.Write)
		}
		s.print("},")
	}
	s.print("}\n}\n")
}

// printRecognise prints Decode.
func (m *model) printRecognise(s *source) {
	var variables []string
	for _, e := range m.entities {
		variables = append(variables, e.variable)
	}
	s.comment("Decode returns the entity of a stored item, as a value of its type, and its place: the item itself, a copy or a marker. " +
		"Fields that a copy or marker does not have are zero. An item that matches no entity is nil. It is for readers that do not use a pattern: " +
		"streams, exports, scans.")
	s.print("func Decode(item table.Item) (any, table.Place, error) {\nentity, place, v := table.Recognize([]*table.Entity{%s}, item)", strings.Join(variables, ", "))
	s.print("var x any\nvar err error\nswitch entity {")
	for _, e := range m.entities {
		s.print("case %s:", e.variable)
		if len(e.parts) == 0 {
			s.print("x, err = %s(v)", e.decode)
			continue
		}
		s.print("switch place {")
		for _, p := range e.parts {
			place := fmt.Sprintf("table.Place{Kind: table.CopyPlace, Copy: %q}", p.place.Copy)
			if p.place.Kind == table.MarkerPlace {
				place = fmt.Sprintf("table.Place{Kind: table.MarkerPlace, Marker: %q}", p.place.Marker)
			}
			s.print("case %s:\nx, err = %s(v)", place, p.decode)
		}
		s.print("default:\nx, err = %s(v)\n}", e.decode)
	}
	s.print("}\nif err != nil {\nreturn nil, place, err\n}\nreturn x, place, nil\n}\n")
}
