package api

import (
	"reflect"
	"strconv"
	"strings"
)

// Layer determines AWS's messages for invalid members. The table of operations has the layer of each; it is
// that of us-east-1 in autumn 2026: the item operations and BatchGetItem have moved to the newer layer,
// the rest has not. Some members of the moved operations keep the messages of the older one (older:"…"). A profile of another region is another choice of the same two.
type Layer uint8

const (
	// Newer stops at the first fault, writes members as the API does, and does not echo the value:
	//
	//	1 validation error detected: Value at 'TableName' failed to satisfy constraint: …
	Newer Layer = iota
	// Older reports all faults together, writes members with a small first letter, and echoes the value:
	//
	//	2 validation errors detected: Value 'x' at 'tableName' failed to satisfy constraint: …; Value …
	Older
)

// fault is one member that fails one constraint.
type fault struct {
	words      Layer
	path       string // as that layer writes it
	value      string // the echo, for the older layer
	constraint string // the sentence's end: "Member must …"
}

// sentence returns the message for the faults of one request, of which there is at least one.
func (l Layer) sentence(faults []fault) string {
	if l == Newer {
		return "1 validation error detected: Value at '" + faults[0].path + "' failed to satisfy constraint: " +
			faults[0].constraint
	}
	var b strings.Builder
	b.WriteString(strconv.Itoa(len(faults)))
	if len(faults) == 1 {
		b.WriteString(" validation error detected: ")
	} else {
		b.WriteString(" validation errors detected: ")
	}
	for i, f := range faults {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("Value " + f.value + " at '" + f.path + "' failed to satisfy constraint: " + f.constraint)
	}
	return b.String()
}

// wordsOf returns the layer that determines the messages for a member in an operation on layer l.
func (l Layer) wordsOf(m *member, v reflect.Value) Layer {
	if m.older == "always" || m.older == "unless empty" && (v.IsNil() || v.Elem().String() != "") {
		return Older
	}
	return l
}

// member writes a member's name as the layer does.
func (l Layer) member(name string) string {
	if l == Newer || name == "" {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// special are the faults with their own message on AWS, without the layer's frame. The key is
// operation, member, and the constraint's sentence.
var special = map[[3]string]string{
	{"CreateTable", "TableName", notNull}:   requiredTableName,
	{"DeleteTable", "TableName", notNull}:   requiredTableName,
	{"DescribeTable", "TableName", notNull}: requiredTableName,
	{"UpdateTable", "TableName", notNull}:   requiredTableName,

	{"BatchWriteItem", "RequestItems", lengthAtLeastOne}: "The requestItems parameter is required for BatchWriteItem",
}

const (
	notNull           = "Member must not be null"
	lengthAtLeastOne  = "Member must have length greater than or equal to 1"
	requiredTableName = "The parameter 'TableName' is required but was not present in the request"
)
