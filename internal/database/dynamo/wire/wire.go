// Package wire reads and writes DynamoDB JSON: requests in, responses out.
//
// # Vocabulary
//
// A plan describes how to read or write each member of a struct of package api. Plans are compiled by reflection once per type
// and cached; requests use them without intermediate maps. A member is absent if its Go value is nil or, in JSON, if it is
// missing or null.
//
// # Reading
//
// Decode is a pull decoder (github.com/go-faster/jx) that writes directly into the input struct.
//
//   - The document must be UTF-8 JSON, one object, with nothing after it. Anything else is apierr.Malformed.
//   - A value whose JSON type differs from the member's is a SerializationException with AWS's message
//     (mismatch.go); the first one in document order is reported. So is binary that is not base64.
//   - Unknown members are skipped, as on AWS. The last of duplicate members counts.
//   - Well-formed JSON that is not an attribute value (two types, a bad number, an empty set, a document deeper
//     than attr.MaxDepth) becomes a faulty attr.Value.
//
// The texts of one request's attribute values share one allocation; names of tables, expressions and the like have their own,
// because they outlive the request in caches.
//
// # Writing
//
// Append writes members in the order of the struct and maps in the order of their keys. Items in stored form (itemenc.Item) are
// written from their bytes, without decoding or allocating. Text is written as UTF-8; only what JSON forbids is escaped.
//
// # Invariants
//
//	I1  Decode never panics and recurses no deeper than api's shapes and attr.MaxDepth allow; jx limits the
//	    rest (FuzzDecode).
//	I2  Decoding the result of Append gives the original item (FuzzItemRoundTrip).
//	I3  Nothing that Decode returns aliases the body.
//
// Both functions are safe for concurrent use.
package wire
