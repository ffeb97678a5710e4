// Package wire is DynamoDB JSON: requests in, answers out.
//
// # Vocabulary
//
// A plan is what is known of a struct of package api before any request: how each member is read or
// written. Plans are compiled by reflection once per type and kept; requests go through them without maps
// in between. A member is absent where its Go value is nil and, in JSON, where it is missing or null.
//
// # Reading
//
// Decode is a pull decoder (github.com/go-faster/jx) that writes straight into the input struct.
//
//   - The document must be UTF-8 JSON, one object, and nothing after it. A document that is none is
//     apierr.Malformed.
//   - A value of another JSON type than the member's is a SerializationException with AWS's sentence
//     (mismatch.go), found in document order. So is binary that is no base64.
//   - Members that the shape does not have are skipped, as AWS does. Of a member that comes twice, the last
//     counts.
//   - Well-formed JSON that is no attribute value (two types, a bad number, an empty set, a document deeper
//     than attr.MaxDepth) becomes a faulty attr.Value.
//
// The texts of one request's attribute values share one allocation; names of tables, expressions and the
// like have their own, because they outlive the request in caches.
//
// # Writing
//
// Append writes members in the order of the struct and maps in the order of their keys. Items in stored
// form (itemenc.Item) are written from their bytes, without decoding and without allocating. Text goes out
// as UTF-8; only what JSON forbids is escaped.
//
// # Invariants
//
//	I1  Decode never panics and recurses no deeper than api's shapes and attr.MaxDepth allow; jx bounds the
//	    rest (FuzzDecode).
//	I2  Decoding what Append wrote of an item gives the item (FuzzItemRoundTrip).
//	I3  Nothing that Decode returns aliases the body.
//
// Both functions may be called by any number of goroutines.
package wire
