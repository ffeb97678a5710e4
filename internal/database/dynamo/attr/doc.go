// Package attr implements DynamoDB's attribute values and items: their ten types, equality, order and size.
//
// # Vocabulary
//
// A value is one attribute value of one kind. A scalar is a value of kind S, N, B, BOOL or NULL; a document has kind L or M; a
// set has kind SS, NS or BS, and its members are scalars of kind S, N or B. An item is a list of fields, sorted by name; the
// content of an M value is also an item.
//
// An invalid value sent by a client, such as {"N": "x"} or {"SS": []}, is represented as a faulty value: its kind is KindInvalid
// and it contains the reason (Fault). AWS rejects such values at different points in its order of checks and with different
// messages by operation, so the reader of a request must not stop at them.
//
// # Invariants
//
//	I1  Values are immutable, so values can share parts without copying.
//	I2  The text of an N is in decimal's normal form: equal numbers have equal texts.
//	I3  The fields of an item are sorted by the bytes of their names, and names are unique. NewItem and With
//	    establish it.
//	I4  The members of a set are distinct, of the set's kind, and at least one. NewSet establishes it.
//
// # Depth
//
// Equality, size, depth, faults and printing recurse as deep as the value. Code that reads values from outside must limit the
// depth: DynamoDB's limit is MaxDepth, and package wire stops reading a request's document soon after it.
//
// # Concurrency
//
// Values and items are immutable and safe for concurrent use.
package attr
