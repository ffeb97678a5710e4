package transfer_test

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const id = "01795176000000-11121314"

// records are a transfer of each kind with all its members, and the form that it is stored in.
func records() map[string]*transfer.Record {
	record := func(kind transfer.Kind) *transfer.Record {
		return &transfer.Record{
			Kind: kind, ID: id, Table: "Music", TableID: 7, UUID: "u", Request: json.RawMessage(`{"TableName":"Music"}`), Values: []byte{1, 2},
			Token: "t", Status: transfer.Failed, Started: 8, Ended: 9, FailureCode: "c", FailureMessage: "m",
			Items: 10, Processed: 11, Errors: 12, Bytes: 13,
		}
	}
	const head = `"id":"` + id + `","table":"Music","tableID":7,"uuid":"u","request":{"TableName":"Music"},"values":"AQI=","token":"t",` +
		`"status":"FAILED","started":8,"ended":9,"failureCode":"c","failureMessage":"m","items":10,"processed":11,"errors":12,"bytes":13,`
	files := []transfer.File{{Key: "k", Items: 20, MD5: []byte{3}, ETag: "e-1"}}
	const file = `{"key":"k","items":20,"md5":"Aw==","etag":"e-1"}`

	exported, imported, put := record(transfer.Export), record(transfer.Import), record(transfer.Bulk)
	exported.Exported = &transfer.Exported{Descriptor: json.RawMessage(`{"format":2}`), From: 14, To: 15, Begun: true, Next: []byte{0xFF}, Files: files}
	imported.Imported = &transfer.Imported{Object: "o", Offset: 16, Done: true}
	put.Put = &transfer.Put{
		Imported: transfer.Imported{Object: "o", Offset: 16, Done: true}, Begun: true, TotalBytes: 17, ReadBytes: 18, Refused: 19, Bytes: 20,
		LocalBytes: map[string]int64{"l": 21}, GlobalBytes: map[string]int64{"g": 22}, VectorBytes: map[string]int64{"v": 23},
		Reports: map[string]*transfer.Report{"ERROR": {Files: files, First: 24, Next: 25, Lines: 26, Bytes: 27}},
	}
	return map[string]*transfer.Record{
		`{"format":1,"kind":101,` + head + `"exported":{"descriptor":{"format":2},"from":14,"to":15,"begun":true,"next":"/w==","files":[` + file + `]}}`: exported,
		`{"format":1,"kind":105,` + head + `"imported":{"object":"o","offset":16,"done":true}}`:                                                          imported,
		`{"format":1,"kind":98,` + head + `"put":{"object":"o","offset":16,"done":true,"begun":true,"totalBytes":17,"readBytes":18,"refused":19,` +
			`"bytes":20,"localBytes":{"l":21},"globalBytes":{"g":22},"vectorBytes":{"v":23},` +
			`"reports":{"ERROR":{"files":[` + file + `],"first":24,"next":25,"lines":26,"bytes":27}}}}`: put,
	}
}

// saved returns what is stored of a record.
func saved(t *testing.T, x *transfer.Record) []byte {
	t.Helper()
	store := memkv.New()
	if err := store.Update(t.Context(), kv.Intent{Write: [][]byte{x.Key()}}, x.Save); err != nil {
		t.Fatal(err)
	}
	data, err := store.Get(t.Context(), x.Key())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStoredForm pins the form that transfers are stored in: a change here needs a new format.
func TestStoredForm(t *testing.T) {
	for want, x := range records() {
		got := saved(t, x)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("stored form (-want +got):\n%s", diff)
		}
		again, err := transfer.Decode([]byte(want))
		if diff := cmp.Diff(x, again); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

// TestKeys pins the keys of transfers and of what bulk operations will report. keyenc pins what is around the ids.
func TestKeys(t *testing.T) {
	x := &transfer.Record{Kind: transfer.Bulk, ID: id}
	for want, key := range map[string][]byte{
		"637462" + hex.EncodeToString([]byte(id)):                           x.Key(),
		"637472" + hex.EncodeToString([]byte(id+"/ERROR/00000000000001ff")): x.ReportKey("ERROR", 0x1FF),
		"637472" + hex.EncodeToString([]byte(id+"/X/ffffffffffffffff")):     x.ReportKey("X", 1<<64-1),
		"637465": transfer.Lock(transfer.Export),
	} {
		if got := hex.EncodeToString(key); got != want {
			t.Errorf("the key is %s, want %s", got, want)
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"format":2,"id":"x"}`, `{"format":1,"items":"1"}`} {
		if x, err := transfer.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken as %+v", text, x)
		}
	}
}

// FuzzRecord reads any bytes: what is accepted is stored and read again as the same.
func FuzzRecord(f *testing.F) {
	for text := range records() {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"format":1,"request":null,"put":{"reports":{"":null}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := transfer.Decode(data)
		if err != nil {
			return
		}
		stored := saved(t, x)
		again, err := transfer.Decode(stored)
		if err != nil {
			t.Fatalf("%s is stored as %s: %v", data, stored, err)
		}
		if third := saved(t, again); string(third) != string(stored) {
			t.Fatalf("%s is stored as %s, and that as %s", data, stored, third)
		}
	})
}
