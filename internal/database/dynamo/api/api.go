// Package api is DynamoDB's API as data: operations, their shapes, member constraints, and the errors that
// each may return.
//
// # Vocabulary
//
// A shape is a struct of this package; its fields are members, named as in the API's model. A member
// constraint is what the model says of a member without knowledge of any table: required, enumeration,
// length, range, pattern. The layer is the part of AWS that checks member constraints: the older one
// reports all faults together and echoes the value, the newer one (since June 2026) stops at the first and
// echoes nothing (layer.go).
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
//	older:"always"             worded as by the older layer in an operation on the newer one; "unless empty": but for ""
//	integer:"32"               a number that AWS calls an Integer, not a Long, when it is sent as something else
//	unsupported:"subject"      this server refuses the member when it asks for something
//
// A member of an output whose name on the wire begins with a small letter is tagged with it: as:"eventID".
//
// The order of an input's members is the order in which they are checked, and the order of an output's
// members is the order in which they are written.
//
// # Invariants
//
//	I1  A tag is either understood or a panic when the shape is first used; TestShapes uses them all.
//	I2  Validate never changes its input and allocates only where it finds a fault.
//
// # Related packages
//
// Reading and writing JSON is package wire's. Everything that needs a table, an item, or the grammar of an
// expression is the engine's.
package api

// Timestamp is a time on the wire: seconds since the epoch, with fraction.
type Timestamp float64

// TimestampOf returns the time of milliseconds since the epoch.
func TimestampOf(ms int64) *Timestamp { return new(Timestamp(float64(ms) / 1000)) }
