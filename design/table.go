package design

// KeyType is the type of a key attribute.
type KeyType string

// The types that DynamoDB allows in keys.
const (
	KeyString KeyType = "S"
	KeyNumber KeyType = "N"
	KeyBinary KeyType = "B"
)

// KeyAttribute is a key attribute: its stored name and its type.
type KeyAttribute struct {
	Name string  `json:"name"`
	Type KeyType `json:"type"`
}

// Billing is the billing mode of a table.
type Billing string

// The billing modes.
const (
	OnDemand    Billing = "on-demand"
	Provisioned Billing = "provisioned"
)

// Table is a physical table on DynamoDB.
type Table struct {
	Name string `json:"name"` // in the design
	// Physical is the table's name on DynamoDB, which may have placeholders for the deployment: "shop-{stage}".
	Physical string        `json:"physical"`
	Doc      string        `json:"doc,omitempty"`
	PK       KeyAttribute  `json:"pk"`
	SK       *KeyAttribute `json:"sk,omitempty"`
	// TypeAttr is the attribute with an item's entity; "" if there is none, so that keys must distinguish entities.
	TypeAttr string `json:"typeAttr,omitempty"`
	// TTLAttr is the attribute with the time at which DynamoDB removes an item; "" for none.
	TTLAttr string `json:"ttlAttr,omitempty"`
	// Naming is the rule that derives attribute names from field names.
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

// Index returns the index of that name, or nil if there is none.
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
	// LagMillis is the maximum assumed lag of a global index behind its table; see Lag.
	LagMillis int          `json:"lagMillis,omitempty"`
	Accept    []Acceptance `json:"accept,omitempty"`
	Pos       Pos          `json:"-"`
}

// LagDefault is the default lag in milliseconds, for global indexes and for eventually consistent reads of a table. DynamoDB
// promises no bound; both are usually shorter.
const LagDefault = 1000

// Lag returns the assumed lag of the index behind its table, in milliseconds.
func (x *Index) Lag() int {
	if x.LagMillis > 0 {
		return x.LagMillis
	}
	return LagDefault
}

// Projection is the set of attributes in an index in addition to keys.
type Projection struct {
	All bool `json:"all,omitempty"`
	// Fields are names of fields of any entity. Empty and not All: keys only.
	Fields []string `json:"fields,omitempty"`
	Pos    Pos      `json:"-"`
}
