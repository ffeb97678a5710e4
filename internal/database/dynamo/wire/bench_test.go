package wire

import (
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

func BenchmarkDecodePutItem(b *testing.B) {
	body := putKilobyte()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(body, new(api.PutItemInput)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeGetItem(b *testing.B) {
	body := []byte(`{"TableName":"bench","Key":{"PK":{"S":"USER#0000001"},"SK":{"S":"ORDER#0000001"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(body, new(api.GetItemInput)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendGetItem(b *testing.B) {
	out := &api.GetItemOutput{Item: kilobyte()}
	dst := make([]byte, 0, 8<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Append(dst, out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidateGetItem(b *testing.B) {
	in := new(api.GetItemInput)
	if err := Decode([]byte(`{"TableName":"bench","Key":{"PK":{"S":"USER#0000001"},"SK":{"S":"ORDER#0000001"}}}`), in); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := api.Validate(in); err != nil {
			b.Fatal(err)
		}
	}
}
