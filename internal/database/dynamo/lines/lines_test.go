package lines_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random files; 0 draws one")

// readers are the ways to read a text.
func readers(text string) map[string]func() lines.Reader {
	return map[string]func() lines.Reader{
		lines.JSON: func() lines.Reader { return lines.NewJSON(strings.NewReader(text)) },
		lines.CSV: func() lines.Reader {
			return lines.NewCSV(strings.NewReader(text), lines.CSVOptions{Kinds: map[string]attr.Kind{"n": attr.KindNumber}})
		},
	}
}

// all reads what is left: items as JSON, and refused lines as "refused".
func all(t *testing.T, r lines.Reader) (found []string, at []int64) {
	t.Helper()
	for {
		item, err := r.Next()
		var refused *lines.LineError
		switch {
		case errors.Is(err, io.EOF):
			return found, at
		case errors.As(err, &refused):
			found = append(found, "refused")
		case err != nil:
			t.Fatal(err)
		default:
			found = append(found, string(wire.AppendAttributes(nil, item)))
		}
		at = append(at, r.Offset())
	}
}

var texts = map[string]string{
	lines.JSON: "{\"Item\":{\"a\":{\"S\":\"1\"}}}\r\n\n  \nno item\n{}\n{\"Item\":{\"a\":{\"N\":\"1.0\"}}}\n" +
		strings.Repeat("x", 17<<20) + "\n{\"Item\":{\"a\":{\"S\":\"last\"}}}",
	lines.CSV: "a,n\nx,1\n\"two\nlines\",2\nshort\nb\"ad,1\n\"last\",3",
}

var want = map[string][]string{
	lines.JSON: {`{"a":{"S":"1"}}`, "refused", "refused", `{"a":{"N":"1"}}`, "refused", `{"a":{"S":"last"}}`},
	lines.CSV: {
		`{"a":{"S":"x"},"n":{"N":"1"}}`, `{"a":{"S":"two\nlines"},"n":{"N":"2"}}`, "refused", "refused", `{"a":{"S":"last"},"n":{"N":"3"}}`,
	},
}

func TestInvalidLinesDoNotEndAFile(t *testing.T) {
	for format, text := range texts {
		got, _ := all(t, readers(text)[format]())
		if diff := cmp.Diff(want[format], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// TestReadResumesAtAnyOffset reads the rest of a file from the end of each line on.
func TestReadResumesAtAnyOffset(t *testing.T) {
	for format, text := range texts {
		whole, offsets := all(t, readers(text)[format]())
		for i, offset := range append([]int64{0}, offsets...) {
			r := readers(text)[format]()
			if err := r.SkipTo(offset); err != nil {
				t.Fatal(err)
			}
			rest, _ := all(t, r)
			if diff := cmp.Diff(whole[i:], rest); diff != "" && len(rest)+len(whole[i:]) > 0 {
				t.Errorf("%s from %d (-want +got):\n%s", format, offset, diff)
			}
		}
	}
}

// TestAMalformedHeaderEndsAFile: no other line takes its place.
func TestAMalformedHeaderEndsAFile(t *testing.T) {
	r := lines.NewCSV(strings.NewReader("a,b\"c\nd,e\n1,2\n3,4\n"), lines.CSVOptions{})
	item, err := r.Next()
	if _, ofLine := errors.AsType[*lines.LineError](err); err == nil || ofLine || errors.Is(err, io.EOF) {
		t.Errorf("%v, %v", item, err)
	}
}

// TestCSVKeepsLineBreaks: a line break within quotes is part of the value, whatever precedes it and however the file is read.
func TestCSVKeepsLineBreaks(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"k,v\r\n\"a\r\nb\",\"c\nd\"\r\n1,\"\r\n\"\"\r\n\"\r\n", `a\r\nb,c\nd;1,\r\n\"\r\n;`},
		{"k,v\n1,x\"y\n\"a\r\nb\",2\n", `bad;a\r\nb,2;`},
		{"k,v\r\n1,\"x\"y\r\n\"a\r\nb\",2\r\n", `bad;a\r\nb,2;`},
		{"k,v\r\n1,\"x\"\r\"y\r\n2,\"a\r\nb\"\r\n", `bad;2,a\r\nb;`},
		{"k,v\n1,\"\xff\n\"\n2,\"a\rb\r\"\n", `bad;2,a\rb\r;`},
		{"\ufeffk,v\n1,2\n", `1,2;`},
	} {
		for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
			in, got := lines.NewCSV(r, lines.CSVOptions{}), ""
			for {
				item, err := in.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					got += "bad;"
					continue
				}
				k, _ := item.Get("k")
				v, _ := item.Get("v")
				got += k.Text() + "," + v.Text() + ";"
			}
			if got = strings.Trim(strconv.Quote(got), `"`); got != test.want {
				t.Errorf("%q: %s, want %s", test.text, got, test.want)
			}
		}
	}
}

// TestCSVAgreesWithTheLibrary: except for line breaks within quotes, random records are those of package csv.
func TestCSVAgreesWithTheLibrary(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		text := make([]byte, random.IntN(14))
		for i := range text {
			text[i] = "ab,\"\"\r\n\n"[random.IntN(8)]
		}
		library := csv.NewReader(bytes.NewReader(text))
		library.FieldsPerRecord = -1
		ours := lines.NewCSV(bytes.NewReader(text), lines.CSVOptions{Header: []string{"k", "v"}})
		for {
			want, err := library.Read()
			item, oursErr := ours.Next()
			if errors.Is(err, io.EOF) || errors.Is(oursErr, io.EOF) {
				if !errors.Is(oursErr, io.EOF) || !errors.Is(err, io.EOF) {
					t.Errorf("-seed=%d: %q: %v, want %v", seed, text, oursErr, err)
				}
				break
			}
			if bad := err != nil || len(want) != 2; bad != (oursErr != nil) {
				t.Fatalf("-seed=%d: %q: %v, want %q, %v", seed, text, oursErr, want, err)
			} else if bad {
				continue
			}
			for i, name := range []string{"k", "v"} {
				if v, _ := item.Get(name); strings.ReplaceAll(v.Text(), "\r\n", "\n") != want[i] {
					t.Fatalf("-seed=%d: %q: %q, want %q", seed, text, v.Text(), want)
				}
			}
		}
	}
}

// TestJSONReasons: every rejected line has a reason, for the log of an import.
func TestJSONReasons(t *testing.T) {
	for text, want := range map[string]string{
		`{"Item":{"k":{"S":"a"}}`:     "the line is not JSON in UTF-8",
		"{\"Item\":{\"k\":\"\xff\"}}": "the line is not JSON in UTF-8",
		`{}`:                          "the line has no Item",
	} {
		_, err := lines.NewJSON(strings.NewReader(text)).Next()
		if _, bad := errors.AsType[*lines.LineError](err); !bad || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// endless is a file without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestUnclosedQuoteIsBounded(t *testing.T) {
	rest := &endless{}
	r := lines.NewCSV(io.MultiReader(strings.NewReader("a,b\n\""), rest), lines.CSVOptions{})
	if item, err := r.Next(); err == nil {
		t.Errorf("read %v", item)
	}
	if rest.read > 17<<20 {
		t.Errorf("%d bytes were read for one field", rest.read)
	}
}

func TestDecompress(t *testing.T) {
	text := strings.Repeat("{\"Item\":{\"a\":{\"S\":\"1\"}}}\n", 1000)
	var zipped, z bytes.Buffer
	g := gzip.NewWriter(&zipped)
	e, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, e} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for compression, data := range map[string]string{lines.GZIP: zipped.String(), lines.ZSTD: z.String(), "NONE": text} {
		for _, cut := range []int{0, 1, len(data) / 2} {
			r, err := lines.Decompress(strings.NewReader(data[:len(data)-cut]), compression)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if whole := err == nil && string(got) == text; whole != (cut == 0) || err == nil && cut > 0 && compression != "NONE" {
				t.Errorf("%s less %d bytes: %d bytes, %v", compression, cut, len(got), err)
			}
		}
	}
}

// FuzzJSON reads any text; what is an item is written and read again as the same.
func FuzzJSON(f *testing.F) {
	f.Add([]byte("{\"Item\":{\"a\":{\"L\":[{\"N\":\"1.0\"},{\"NULL\":true},{\"BS\":[\"AA==\"]}]}}}\n[1]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := lines.NewJSON(bytes.NewReader(text))
		for range bytes.Count(text, []byte("\n")) + 2 {
			item, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if _, _, faulty := item.Fault(); err != nil || faulty {
				continue
			}
			stored := itemenc.Encode(nil, item)
			line, err := lines.AppendItem(nil, stored)
			if err != nil {
				t.Fatal(err)
			}
			again, err := lines.NewJSON(bytes.NewReader(line)).Next()
			if err != nil || !bytes.Equal(itemenc.Encode(nil, again), stored) {
				t.Fatalf("%s is read as another item (%v)", line, err)
			}
		}
		t.Fatal("the file has more lines than line ends")
	})
}

// FuzzCSV reads any text, and compares with the records that encoding/csv reads of it as a whole. Reading continues after every
// record as it would have.
func FuzzCSV(f *testing.F) {
	f.Add([]byte(texts[lines.CSV]), uint8(0), false, "n")
	f.Add([]byte("a;b\r\n1;\"x\"\"y\"\n;;\n\n\"\n"), uint8(1), true, "b")
	f.Add([]byte("a\tn\tb\tn\nx\t1\t\t2\n"), uint8(4), false, "n")
	f.Add([]byte("\xff\n\xff\n\"a\" b\n"), uint8(5), true, "")
	f.Fuzz(func(t *testing.T, text []byte, delimiter uint8, header bool, number string) {
		o := lines.CSVOptions{Delimiter: rune(",;:|\t "[delimiter%6]), Kinds: map[string]attr.Kind{number: attr.KindNumber, "b": attr.KindBinary}}
		if header {
			o.Header = []string{"a", "b", number}
		}
		open := func(at int64) lines.Reader {
			r := lines.NewCSV(bytes.NewReader(text), o)
			if err := r.SkipTo(at); err != nil {
				t.Fatalf("skipping %d bytes: %v", at, err)
			}
			return r
		}
		if _, err := open(0).Next(); err != nil && !errors.Is(err, io.EOF) && !isLineError(err) { // the header
			return
		}
		found, at := all(t, open(0))
		if want := recordsOfCSV(text, o); want >= 0 && want != len(found) {
			t.Fatalf("%d records, want %d", len(found), want)
		}
		before := int64(0)
		for i, end := range at {
			if end < before || end > int64(len(text)) {
				t.Fatalf("record %d ends at %d, the one before at %d", i, end, before)
			}
			before = end
			if rest, _ := all(t, open(end)); !slices.Equal(rest, found[i+1:]) {
				t.Fatalf("from %d on: %q, want %q", end, rest, found[i+1:])
			}
			if i > 8 { // that suffices, and takes the square of the time
				break
			}
		}
	})
}

func isLineError(err error) bool {
	_, is := errors.AsType[*lines.LineError](err)
	return is
}

// recordsOfCSV counts the records after the header, by another way; -1 where that way cannot tell.
func recordsOfCSV(text []byte, o lines.CSVOptions) (n int) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = o.Delimiter, -1
	for {
		_, err := r.Read()
		_, malformed := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			if o.Header == nil {
				n = max(0, n-1)
			}
			return n
		case malformed && n == 0 && o.Header == nil:
			return -1
		}
		n++
	}
}

// FuzzPuts reads any text as records of a bulk operation and as items: what is a record is the same item, and what is not is
// refused for its other members.
func FuzzPuts(f *testing.F) {
	f.Add([]byte(`{"Item":{"a":{"S":"x"}},"ConditionExpression":"a = :b","ExpressionAttributeNames":{"#a":"a"},"ExpressionAttributeValues":{":b":{"N":"1"}}}` +
		"\n{\"Item\":{},\"Condition\":1}\n[]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, puts := lines.NewJSON(bytes.NewReader(text)), lines.NewJSONPuts(bytes.NewReader(text))
		for {
			item, err := items.Next()
			put, putErr := puts.NextPut()
			if items.Offset() != puts.Offset() || errors.Is(err, io.EOF) != errors.Is(putErr, io.EOF) {
				t.Fatalf("%d, %v and %d, %v", items.Offset(), err, puts.Offset(), putErr)
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if putErr == nil && (err != nil || !bytes.Equal(wire.AppendAttributes(nil, item), wire.AppendAttributes(nil, put.Item))) {
				t.Fatalf("at %d: the item is %v, %v, that of the record %v", items.Offset(), item, err, put.Item)
			}
		}
	})
}

func TestAppendChange(t *testing.T) {
	item := func(v string) itemenc.Item {
		return itemenc.Encode(nil, attr.Item{{Name: "k", Value: attr.String(v)}})
	}
	for _, c := range []struct {
		change lines.Change
		want   string
	}{
		{lines.Change{Micros: 5, Keys: item("a")}, ``},
		{lines.Change{Micros: 5, Keys: item("a"), Old: item("b")}, `,"OldImage":{"k":{"S":"b"}}`},
		{lines.Change{Micros: 5, Keys: item("a"), Old: item("b"), New: item("c")}, `,"OldImage":{"k":{"S":"b"}},"NewImage":{"k":{"S":"c"}}`},
	} {
		got, err := lines.AppendChange(nil, c.change)
		want := fmt.Sprintf(`{"Metadata":{"WriteTimestampMicros":{"N":"5"}},"Keys":{"k":{"S":"a"}}%s}`+"\n", c.want)
		if err != nil || string(got) != want {
			t.Errorf("got  %swant %s(%v)", got, want, err)
		}
	}
}
