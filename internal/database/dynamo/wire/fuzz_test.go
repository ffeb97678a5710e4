package wire

import (
	"bytes"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// FuzzDecode: no body panics, whatever operation it is for, and every error is a client's. What DecodeKnown reads, Decode reads
// as the same; what it alone refuses has an unknown member.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), []byte(`{"TableName":"T","Key":{"a":{"S":"x"}}}`))
	f.Add(uint8(12), putKilobyte())
	f.Add(uint8(1), []byte(`{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"B":"AA=="}}}}]}}`))
	f.Add(uint8(2), []byte(`{"Tags":[null,{"Key":1}]}`))
	f.Add(uint8(12), []byte(`{"Item":{"a":{"L":[{"NS":["1","01.0"]},{"S":"x","N":"1"},null]}}}`))
	f.Fuzz(func(t *testing.T, operation uint8, body []byte) {
		operations := api.Operations()
		o := operations[int(operation)%len(operations)]
		in, strict := o.Input(), o.Input()
		err, known := Decode(body, in), DecodeKnown(body, strict)
		if known != nil && err == nil && clientError(t, known).Code != apierr.ValidationException || known == nil && err != nil {
			t.Fatalf("Decode: %v, DecodeKnown: %v", err, known)
		}
		if err != nil {
			_ = clientError(t, err)
			return
		}
		text, err := Append(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := Append(nil, strict); known == nil && (err != nil || !bytes.Equal(same, text)) {
			t.Fatalf("Decode reads %s, DecodeKnown %s, %v", text, same, err)
		}
		if err := api.Validate(in); err != nil {
			_ = clientError(t, err)
		}
	})
}

// FuzzItemRoundTrip: an item without faults comes back equal after it was written, from memory and from its
// stored form.
func FuzzItemRoundTrip(f *testing.F) {
	f.Add([]byte(`{"a":{"S":"x\u0000\"\\\ud83d\ude00"},"b":{"N":"-1.50e3"},"c":{"SS":["b","a"]},"d":{"B":"AP8="}}`))
	f.Add([]byte(`{"a":{"M":{"b":{"L":[{"NULL":true},{"BOOL":false},{"BS":["AA=="]}]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		first := decodeItem(text)
		if first == nil {
			return
		}
		if _, _, faulty := first.Fault(); faulty {
			return
		}
		memory := AppendAttributes(nil, first)
		if again := decodeItem(memory); !again.Equal(first) {
			t.Fatalf("%s is decoded as %s", memory, AppendAttributes(nil, again))
		}
		stored, err := AppendItem(nil, itemenc.Encode(nil, first))
		if err != nil {
			t.Fatal(err)
		}
		if string(stored) != string(memory) {
			t.Fatalf("stored %s\nmemory %s", stored, memory)
		}
	})
}

// decodeItem returns nil where text is no item.
func decodeItem(text []byte) attr.Item {
	var in api.PutItemInput
	if Decode([]byte(`{"Item":`+string(text)+`}`), &in) != nil {
		return nil
	}
	return in.Item
}
