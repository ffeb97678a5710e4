// Package api is DynamoDB's API as data: operations, their shapes, member constraints, and the errors that
// each may return.
//
// # Vocabulary
//
// A shape is a struct of this package; its fields are members, named as in the API's model. A member
// constraint is a rule of the model that applies to a member independently of any table: required,
// enumeration, length, range, pattern. The layer is the part of AWS that checks member constraints: the
// older one reports all errors together and echoes the value, the newer one (since June 2026) stops at the
// first and echoes nothing (layer.go).
//
// # Shapes
//
// Members are pointers, slices, maps, attr.Item or itemenc.Item, so that absent and empty differ: nil is
// absent. Only members of inputs carry constraints, as struct tags:
//
//	required:"true"            present
//	min:"1" max:"36"           length of a string in characters, of a list or map in elements; value of a number
//	enum:"A|B"                 one of these, in the order in which AWS prints them
//	pattern:"[a-zA-Z0-9_.-]+"  the whole string matches; only the patterns in constraint.go
//	name:"table"               a table's name (3–255 characters of the pattern above) or an ARN
//	each_min: each_max:        of the strings of a list
//	key_min: key_max: key_name:  of the keys of a map
//	value_min: value_max:      of the values of a map
//	older:"always"             the older layer's message in an operation on the newer one; "unless empty": except for ""
//	integer:"32"               a number that AWS's type error calls an Integer, not a Long
//	unsupported:"subject"      this server rejects the member if it requests something
//
// A member of an output whose name on the wire starts with a lower-case letter has it as a tag: as:"eventID".
//
// The order of an input's members is the order in which they are checked, and the order of an output's
// members is the order in which they are written.
//
// # Invariants
//
//	I1  An unknown tag panics when the shape is first used; TestShapes uses them all.
//	I2  Validate never changes its input and only allocates if it finds an error.
//
// # Related packages
//
// Package wire reads and writes JSON. The engine checks everything that needs a table, an item, or the
// grammar of an expression.
package api

// Timestamp is a time on the wire: seconds since the epoch, with fraction.
type Timestamp float64

// TimestampOf returns the time of milliseconds since the epoch.
func TimestampOf(ms int64) *Timestamp { return new(Timestamp(float64(ms) / 1000)) }
