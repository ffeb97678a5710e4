// Package attr holds DynamoDB's attribute values and items: their ten types, equality, order and size.
//
// # Vocabulary
//
// A value is one attribute value of one kind. A scalar is a value of kind S, N, B, BOOL or NULL; a document
// is one of kind L or M; a set is one of kind SS, NS or BS, and its members are scalars of kind S, N or B.
// An item is a list of fields, sorted by name; the content of an M value is an item as well.
//
// A value that came in from a client and is none, such as {"N": "x"} or {"SS": []}, is carried as a faulty
// value: its kind is KindInvalid and it knows what is wrong with it (Fault). AWS refuses such values at
// different places of its order of checks and in different words by operation, so the reader of a request
// must not stop at them.
//
// # Invariants
//
//	I1  A value never changes once it is built, so parts are shared between values without copying.
//	I2  The text of an N is in decimal's normal form: equal numbers have equal texts.
//	I3  The fields of an item are sorted by the bytes of their names, and names are unique. NewItem and With
//	    establish it.
//	I4  The members of a set are distinct, of the set's kind, and at least one. NewSet establishes it.
//
// # Depth
//
// Equality, size, depth, faults and printing recurse as deep as the value is. Whoever reads values from
// outside bounds that depth: DynamoDB's bound is MaxDepth, and package wire stops a request's document
// soon after it.
//
// # Concurrency
//
// Values and items are immutable and may be read by any number of goroutines.
package attr
