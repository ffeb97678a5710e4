// Package localfile reads the database files that DynamoDB Local, AWS's emulator, writes with -dbPath:
// shared-local-instance.db or ACCESSKEY_REGION.db.
//
// # Model
//
// A file is an SQLite database. Table dm has a row for each DynamoDB table, with its definition as JSON in TableInfo. Each
// DynamoDB table has an SQLite table of the same name with one row per item, whose column ObjectJSON is the item in
// DynamoDB's JSON. sm has the streams, cf the format version. The format is undocumented; this package supports what
// DynamoDB Local 2 and 3 write.
//
// # Invariants
//
//	I1  An iteration that ends without an error has yielded every row of the table.
//	I2  Unknown content is an error or listed in Table.Unknown; nothing is silently skipped.
//
// Files are only read. DynamoDB Local should not be running: the file is locked as SQLite does, and the journal of an
// unfinished write is an error. A File is not safe for concurrent use.
package localfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alicebob/sqlittle"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// knownVersion is the supported major format version.
const knownVersion = "v2."

// File is an open file.
type File struct {
	Tables []*Table // by name

	db *sqlittle.DB
}

// Table is a DynamoDB table in a file.
type Table struct {
	Name        string
	Definitions []types.AttributeDefinition
	Key         []types.KeySchemaElement
	Global      []types.GlobalSecondaryIndex
	Local       []types.LocalSecondaryIndex
	OnDemand    bool
	// Read and Write are the provisioned capacity.
	Read, Write        int64
	DeletionProtection bool
	TTLAttr            string
	StreamView         types.StreamViewType // "" without a stream
	// Count is the number of items.
	Count int64
	// Unknown lists settings that this package does not support.
	Unknown []string
}

// Open reads the definitions of all tables.
func Open(path string) (*File, error) {
	head := make([]byte, 16)
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	_, err = file.Read(head)
	if err = errors.Join(err, file.Close()); err != nil || string(head) != "SQLite format 3\x00" {
		return nil, fmt.Errorf("%s is not a database file of DynamoDB Local, which writes SQLite to its -dbPath", path)
	}
	db, err := sqlittle.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (is DynamoDB Local still running?)", path, err)
	}
	f := &File{db: db}
	if err := f.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return f, nil
}

// errForm: the file has another format.
var errForm = errors.New("not in the format of DynamoDB Local")

// Close closes the file.
func (f *File) Close() error { return f.db.Close() }

// errStopped stops rows without reporting an error.
var errStopped = errors.New("stopped")

// rows calls visit with each row of an SQLite table until it returns an error.
func (f *File) rows(table string, columns []string, visit func(sqlittle.Row) error) error {
	var fault error
	err := f.db.SelectDone(table, func(r sqlittle.Row) bool {
		fault = visit(r)
		return fault != nil
	}, columns...)
	return errors.Join(fault, err)
}

func (f *File) read() error {
	version := ""
	if err := f.rows("cf", []string{"version"}, func(r sqlittle.Row) error { return r.Scan(&version) }); err != nil {
		return fmt.Errorf("%w: %w", errForm, err)
	}
	if !strings.HasPrefix(version, knownVersion) {
		return fmt.Errorf("its format version is %q, but only %sx is supported: copy its tables with \"monotable copy\" from a running DynamoDB Local", version, knownVersion)
	}
	columns := []string{"TableName", "ReadCapacityUnits", "WriteCapacityUnits", "BillingMode", "DeletionProtectionEnabled", "TableInfo"}
	err := f.rows("dm", columns, func(r sqlittle.Row) error {
		t := &Table{}
		var billing int64
		var protection string
		var info []byte
		if err := r.Scan(&t.Name, &t.Read, &t.Write, &billing, &protection, &info); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		t.OnDemand, t.DeletionProtection = billing == 1, protection == "true" || protection == "1"
		if err := t.define(info); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		f.Tables = append(f.Tables, t)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(f.Tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range f.Tables {
		if err := f.rows(t.Name, []string{"itemSize"}, func(sqlittle.Row) error { t.Count++; return nil }); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return f.streams()
}

// info is the supported part of TableInfo.
type info struct {
	Attributes              []types.AttributeDefinition
	LSIList                 []types.LocalSecondaryIndex
	GSIList                 []types.GlobalSecondaryIndex
	TimeToLiveAttributeName string
	// SQLiteIndex has the key of the table under "", and those of its indexes under their names.
	SQLiteIndex map[string][]struct {
		DynamoDBAttribute types.AttributeDefinition
		KeyType           types.KeyType
	}
}

// derived are members of TableInfo that repeat others.
var derived = []string{"GSIDescList", "UniqueGSIIndexes", "UniqueIndexes"}

func (t *Table) define(data []byte) error {
	var i info
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &i), json.Unmarshal(data, &all)); err != nil {
		return fmt.Errorf("its definition: %w", err)
	}
	for _, name := range slices.Concat(derived, []string{"Attributes", "LSIList", "GSIList", "TimeToLiveAttributeName", "SQLiteIndex"}) {
		delete(all, name)
	}
	t.Unknown = slices.Sorted(maps.Keys(all))
	for _, k := range i.SQLiteIndex[""] {
		name := k.DynamoDBAttribute.AttributeName
		t.Key = append(t.Key, types.KeySchemaElement{AttributeName: name, KeyType: k.KeyType})
	}
	if len(t.Key) == 0 || len(i.Attributes) == 0 {
		return errors.New("its definition has no key")
	}
	t.Definitions, t.TTLAttr = i.Attributes, i.TimeToLiveAttributeName
	// The lists may be empty, which CreateTable does not accept.
	t.Global, t.Local = slices.Concat(i.GSIList), slices.Concat(i.LSIList)
	for n := range t.Global {
		x := &t.Global[n]
		if t.OnDemand {
			x.ProvisionedThroughput = nil
		} else if x.ProvisionedThroughput == nil {
			x.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: &t.Read, WriteCapacityUnits: &t.Write}
		}
	}
	return nil
}

// streams finds the enabled streams.
func (f *File) streams() error {
	return f.rows("sm", []string{"TableName", "StreamStatus", "StreamInfo"}, func(r sqlittle.Row) error {
		var table, status string
		var data []byte
		if err := r.Scan(&table, &status, &data); err != nil {
			return err
		}
		var stream struct{ StreamViewType types.StreamViewType }
		if status != "ENABLED" && status != "ENABLING" {
			return nil
		}
		if err := json.Unmarshal(data, &stream); err != nil {
			return fmt.Errorf("the stream of table %s: %w", table, err)
		}
		for _, t := range f.Tables {
			if t.Name == table {
				t.StreamView = stream.StreamViewType
			}
		}
		return nil
	})
}

// Items reads the items of a table.
func (f *File) Items(t *Table) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		n := int64(0)
		err := f.rows(t.Name, []string{"ObjectJSON"}, func(r sqlittle.Row) error {
			n++
			var data []byte
			err := r.Scan(&data)
			var item source.Item
			if err == nil {
				item, err = source.ParseItem(data)
			}
			if err != nil {
				return fmt.Errorf("item %d of table %s: %w", n, t.Name, err)
			}
			if !yield(item, nil) {
				return errStopped
			}
			return nil
		})
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(nil, err)
		case n != t.Count:
			yield(nil, fmt.Errorf("table %s had %s but now has %d: is DynamoDB Local still running?", t.Name, plural.Of(t.Count, "item"), n))
		}
	}
}
