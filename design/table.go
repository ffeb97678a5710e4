package design

// KeyType is the type of a key attribute.
type KeyType string

// The types that DynamoDB allows in keys.
const (
	KeyString KeyType = "S"
	KeyNumber KeyType = "N"
	KeyBinary KeyType = "B"
)

// KeyAttribute is an attribute of a key: its name as it is stored, and its type.
type KeyAttribute struct {
	Name string  `json:"name"`
	Type KeyType `json:"type"`
}

// Billing is how a table is paid for.
type Billing string

// The billing modes.
const (
	OnDemand    Billing = "on-demand"
	Provisioned Billing = "provisioned"
)

// Table is a table as it is, or is to be, on DynamoDB.
type Table struct {
	Name string `json:"name"` // in the design
	// Physical is the table's own name, which may have placeholders for the deployment: "shop-{stage}".
	Physical string        `json:"physical"`
	Doc      string        `json:"doc,omitempty"`
	PK       KeyAttribute  `json:"pk"`
	SK       *KeyAttribute `json:"sk,omitempty"`
	// TypeAttr is the attribute that holds an item's entity; "" where there is none, and keys must tell.
	TypeAttr string `json:"typeAttr,omitempty"`
	// TTLAttr is the attribute with the time at which DynamoDB removes an item; "" for none.
	TTLAttr string `json:"ttlAttr,omitempty"`
	// Naming is how a field's name becomes an attribute's.
	Naming  Naming       `json:"naming,omitempty"`
	Billing Billing      `json:"billing"`
	Stream  string       `json:"stream,omitempty"` // a StreamViewType, "" for none
	Indexes []*Index     `json:"indexes,omitempty"`
	Accept  []Acceptance `json:"accept,omitempty"`
	Pos     Pos          `json:"-"`
}

// Naming is a rule for the names of attributes.
type Naming string

// The namings.
const (
	NamingAsIs  Naming = ""           // createdAt
	NamingSnake Naming = "snake_case" // created_at
)

// Index returns the index of that name, nil where there is none.
func (t *Table) Index(name string) *Index {
	return find(t.Indexes, func(x *Index) bool { return x.Name == name })
}

// Index is a secondary index of a table.
type Index struct {
	Name  string `json:"name"`
	Local bool   `json:"local,omitempty"`
	// PK and SK are one attribute each, or up to four of a multi-attribute key. A local index has the
	// table's partition key.
	PK      []KeyAttribute `json:"pk"`
	SK      []KeyAttribute `json:"sk,omitempty"`
	Project Projection     `json:"project"`
	// LagMillis is how far a global index is taken to be behind its table at most; see Lag.
	LagMillis int          `json:"lagMillis,omitempty"`
	Accept    []Acceptance `json:"accept,omitempty"`
	Pos       Pos          `json:"-"`
}

// LagDefault is how far an answer is taken to be behind what was written, in milliseconds: that of a global index which says
// nothing, and that of an eventually consistent read of a table. DynamoDB promises no bound; both are usually shorter.
const LagDefault = 1000

// Lag is how far answers from the index are taken to be behind the table, in milliseconds.
func (x *Index) Lag() int {
	if x.LagMillis > 0 {
		return x.LagMillis
	}
	return LagDefault
}

// Projection is what an index holds of an item beside its keys.
type Projection struct {
	All bool `json:"all,omitempty"`
	// Fields are names of fields, of whichever entity has them. Empty and not All: keys only.
	Fields []string `json:"fields,omitempty"`
	Pos    Pos      `json:"-"`
}
