package catalog

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The versions of a descriptor's stored form. Format 1 had no Log, format 2 no vector indexes, format 3 no global tables. A
// descriptor with none of the newer parts is still written as format 2, which older programs can read.
const (
	formatWithLog    = 2
	formatWithVector = 3
	formatWithGlobal = 4

	descriptorFormat = formatWithGlobal // the newest that this program reads
)

// Descriptor is the stored form of a table's definition: the parameters of CreateTable and UpdateTable and the table's current
// state. Times are milliseconds since the epoch; 0 means never.
type Descriptor struct {
	Format  int            `json:"format"`
	ID      keyenc.TableID `json:"id"`
	Version uint64         `json:"version"`
	Name    string         `json:"name"`
	UUID    string         `json:"uuid"`

	Created int64 `json:"created"`
	// ReadyAt ends CREATING, SettledAt ends UPDATING, GoneAt ends DELETING and the table's existence. Each is 0 if the state was
	// never entered or took no time.
	ReadyAt   int64 `json:"readyAt,omitempty"`
	SettledAt int64 `json:"settledAt,omitempty"`
	GoneAt    int64 `json:"goneAt,omitempty"`

	Attributes  []Attribute       `json:"attributes"`
	Keys        []KeyElement      `json:"keys"`
	Indexes     []IndexDescriptor `json:"indexes,omitempty"`
	LastIndexID keyenc.IndexID    `json:"lastIndexID,omitempty"`

	Billing        Billing    `json:"billing"`
	OnDemand       *Maxima    `json:"onDemand,omitempty"`
	Warm           *Units     `json:"warm,omitempty"`
	Stream         Stream     `json:"stream,omitzero"`
	TTL            TTL        `json:"ttl,omitzero"`
	PITR           PITR       `json:"pitr,omitzero"`
	Log            Log        `json:"log,omitzero"`
	Followed       int64      `json:"followed,omitempty"` // until when the log keeps both images for followers
	Restored       *Restored  `json:"restored,omitempty"`
	Importing      bool       `json:"importing,omitempty"` // while objects of a bucket are imported
	Encryption     Encryption `json:"encryption,omitzero"`
	Class          string     `json:"class,omitempty"` // "" if never set
	ClassChanged   int64      `json:"classChanged,omitempty"`
	DeletionBarred bool       `json:"deletionBarred,omitempty"`
	Tags           []Tag      `json:"tags,omitempty"` // sorted by Key
	Policies       []Policy   `json:"policies,omitempty"`
	Insights       *Insights  `json:"insights,omitempty"`
	// Destinations are the current and former Kinesis destinations, the latest last; at most one is enabled.
	Destinations []Destination `json:"destinations,omitempty"`
	// Global is the table's part in a global table; nil if it never was in one.
	Global *GlobalTable `json:"global,omitempty"`
}

// Attribute is one attribute definition; Type is S, N or B.
type Attribute struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// KeyElement is one element of a key schema.
type KeyElement struct {
	Name  string `json:"name"`
	Range bool   `json:"range,omitempty"`
}

// The projections of an index.
const (
	ProjectAll      = "ALL"
	ProjectKeysOnly = "KEYS_ONLY"
	ProjectInclude  = "INCLUDE"
)

// IndexState is the state in an index's life cycle, which jobs advance.
type IndexState string

// The states of an index.
const (
	IndexActive      IndexState = ""
	IndexAllocating  IndexState = "allocating"  // new, its backfill has not begun
	IndexBackfilling IndexState = "backfilling" // maintained by writes, but not readable yet
	IndexDeleting    IndexState = "deleting"
)

// IndexDescriptor is the stored form of an index's definition.
type IndexDescriptor struct {
	ID         keyenc.IndexID `json:"id"`
	Name       string         `json:"name"`
	Local      bool           `json:"local,omitempty"`
	Keys       []KeyElement   `json:"keys"`
	Projection string         `json:"projection"`
	Included   []string       `json:"included,omitempty"` // in the given order
	State      IndexState     `json:"state,omitempty"`
	SettledAt  int64          `json:"settledAt,omitempty"` // ends UPDATING
	Throughput Throughput     `json:"throughput,omitzero"`
	OnDemand   *Maxima        `json:"onDemand,omitempty"`
	Warm       *Units         `json:"warm,omitempty"`
	Insights   *Insights      `json:"insights,omitempty"`
	// Vector is set for a vector index. Keys is then its partition key, or empty.
	Vector *VectorDescriptor `json:"vector,omitempty"`
}

// VectorDescriptor is the part of a definition that only vector indexes have.
type VectorDescriptor struct {
	Attribute  string   `json:"attribute"`
	Dimensions int      `json:"dimensions"`
	Function   string   `json:"function"`
	Filters    []string `json:"filters,omitempty"` // inline filters, in the given order
}

// Units are reads and writes a second.
type Units struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Maxima limit an on-demand table or index; -1 is no limit.
type Maxima struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Throughput is provisioned throughput and its history as reported by DescribeTable.
type Throughput struct {
	Read         int64 `json:"read"`
	Write        int64 `json:"write"`
	LastIncrease int64 `json:"lastIncrease,omitempty"`
	LastDecrease int64 `json:"lastDecrease,omitempty"`
	// Decreases counts the decreases on the day (UTC) of LastDecrease.
	Decreases int64 `json:"decreases,omitempty"`
	// Was is the throughput before the latest change, which is reported until the change has settled.
	Was *Throughput `json:"was,omitempty"`
}

// Billing is the billing mode and provisioned throughput of a table.
type Billing struct {
	OnDemand bool `json:"onDemand,omitempty"`
	// BecameOnDemand is when the table was last switched to on-demand, or 0.
	BecameOnDemand int64      `json:"becameOnDemand,omitempty"`
	Throughput     Throughput `json:"throughput,omitzero"`
}

// StreamLabelLayout is the layout of a stream's label: the time at which it was enabled.
const StreamLabelLayout = "2006-01-02T15:04:05.000"

// Stream is the table's stream setting.
type Stream struct {
	Enabled bool   `json:"enabled,omitempty"`
	View    string `json:"view,omitempty"`
	// Label is the label of the latest stream, even after it was disabled.
	Label string `json:"label,omitempty"`
}

// TTLState is the state of time to live; "" means never enabled, or completely disabled.
type TTLState string

// The states of TTL.
const (
	TTLDisabled  TTLState = ""
	TTLEnabling  TTLState = "enabling" // writes maintain entries; those of existing items are being built
	TTLEnabled   TTLState = "enabled"
	TTLDisabling TTLState = "disabling" // entries are being dropped
)

// TTL is the table's time-to-live setting.
type TTL struct {
	Attribute string   `json:"attribute,omitempty"`
	State     TTLState `json:"state,omitempty"`
	Changed   int64    `json:"changed,omitempty"`
}

// PITR is the table's point-in-time recovery setting.
type PITR struct {
	Enabled bool `json:"enabled,omitempty"`
	// Days is the length of the recovery period, 1 to 35; it is kept when PITR is disabled.
	Days int `json:"days,omitempty"`
	// Since is the first recoverable time: when PITR was last enabled, or when the period began before it was extended.
	Since int64 `json:"since,omitempty"`
}

// Restored is the origin of a restored table. While InProgress the table is CREATING.
type Restored struct {
	BackupARN  string `json:"backupARN,omitempty"`
	TableARN   string `json:"tableARN"`
	At         int64  `json:"at"` // the restored time
	InProgress bool   `json:"inProgress,omitempty"`
}

// maintained returns the attribute whose TTL entries writes maintain.
func (t TTL) maintained() string {
	if t.State == TTLEnabling || t.State == TTLEnabled {
		return t.Attribute
	}
	return ""
}

// Encryption is the encryption setting as requested; this store does not encrypt by it.
type Encryption struct {
	KeyARN string `json:"keyARN,omitempty"` // "" for a key owned by AWS
}

// Policy is the resource-based policy of the table or of one of its streams.
type Policy struct {
	Stream   string `json:"stream,omitempty"` // the stream's label; "" for the table
	Document string `json:"document"`
	Revision string `json:"revision"`
}

// Policy returns the policy of the table (label "") or of one of its streams, or nil.
func (d *Descriptor) Policy(label string) *Policy {
	i := slices.IndexFunc(d.Policies, func(p Policy) bool { return p.Stream == label })
	if i < 0 {
		return nil
	}
	return &d.Policies[i]
}

// Tag is one tag.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Index returns the descriptor of the index with a name, or nil.
func (d *Descriptor) Index(name string) *IndexDescriptor {
	i := slices.IndexFunc(d.Indexes, func(x IndexDescriptor) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Indexes[i]
}

// IndexByID returns the descriptor of the index with an id, or nil.
func (d *Descriptor) IndexByID(id keyenc.IndexID) *IndexDescriptor {
	i := slices.IndexFunc(d.Indexes, func(x IndexDescriptor) bool { return x.ID == id })
	if i < 0 {
		return nil
	}
	return &d.Indexes[i]
}

func (d *Descriptor) encode() ([]byte, error) {
	d.Format = formatWithLog
	if slices.ContainsFunc(d.Indexes, func(x IndexDescriptor) bool { return x.Vector != nil }) {
		d.Format = formatWithVector
	}
	if d.Global != nil {
		d.Format = formatWithGlobal
	}
	return json.Marshal(d)
}

// ReadDescriptor reads the descriptor of the table with a name, in whatever state, or returns nil.
func ReadDescriptor(r kv.Reader, name string) (*Descriptor, error) {
	data, err := r.Get(keyenc.TableDescriptor(name))
	if err != nil || data == nil {
		return nil, err
	}
	return decodeDescriptor(data)
}

// DecodeDescriptor decodes a descriptor that is embedded in another record; it contains its own format version.
func DecodeDescriptor(data []byte) (*Descriptor, error) { return decodeDescriptor(data) }

func decodeDescriptor(data []byte) (*Descriptor, error) {
	var head struct {
		Format int    `json:"format"`
		Name   string `json:"name"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("catalog: table descriptor: %w", err)
	}
	if head.Format < 1 || head.Format > descriptorFormat {
		return nil, fmt.Errorf("table %q is stored in format %d and this program knows formats up to %d: "+
			"open it with the program that wrote it, or a newer one", head.Name, head.Format, descriptorFormat)
	}
	d := new(Descriptor)
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("catalog: descriptor of table %q: %w", head.Name, err)
	}
	if head.Format == 1 {
		d.Log = logOfFormat1
	}
	if !slices.ContainsFunc(d.Keys, func(k KeyElement) bool { return !k.Range }) {
		return nil, fmt.Errorf("catalog: descriptor of table %q has no partition key", head.Name)
	}
	return d, nil
}
