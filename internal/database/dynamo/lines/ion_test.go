package lines_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/amazon-ion/ion-go/ion"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/lines"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

func itemOf(tb testing.TB, text string) attr.Item {
	tb.Helper()
	var it struct{ Item attr.Item }
	if err := wire.Decode([]byte(`{"Item":`+text+`}`), &it); err != nil {
		tb.Fatal(err)
	}
	return it.Item
}

// TestIonIsWrittenAsDocumented has the example of the Developer Guide, S3DataExport.Output, and the forms that it leaves out.
func TestIonIsWrittenAsDocumented(t *testing.T) {
	for item, want := range map[string]string{
		`{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},"ISBN":{"S":"333-3333333333"},"Id":{"N":"103"},
		  "InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},"ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}`: `{Authors:$dynamodb_SS::["Author1","Author2"],` +
			`Dimensions:"8.5 x 11.0 x 1.5",ISBN:"333-3333333333",Id:103.,InPublication:false,PageCount:6d2,Price:2d3,ProductCategory:"Book",Title:"Book 103 Title"}`,
		`{"a b":{"NULL":true},"null":{"B":"AAEC"},"$1":{"L":[{"N":"0"},{"N":"-1.50"}]},"é":{"M":{"'":{"BS":["AQ=="]}}}}`: `{'$1':[0.,-1.5],'a b':null,'null':{{AAEC}},'é':{'\'':$dynamodb_BS::[{{AQ==}}]}}`,
		`{"n":{"NS":["0.000001","0.0000001","1E-130","1E125","-12.5","123456789012345678901234567890"]}}`:                `{n:$dynamodb_NS::[-12.5,1d-130,1d-7,0.000001,12345678901234567890123456789d1,1d125]}`,
		`{"s":{"S":"\"\\\n\u0001/'\u007f\ud83d\ude00"}}`:                                                                 `{s:"\"\\\n\x01/'\x7f😀"}`,
	} {
		got, err := lines.AppendIonItem(nil, itemenc.Encode(nil, itemOf(t, item)))
		if err != nil {
			t.Fatal(err)
		}
		if want := "$ion_1_0 {Item:" + want + "}\n"; string(got) != want {
			t.Errorf("%s", cmp.Diff(want, string(got)))
		}
	}
}

// TestReadIon reads what Ion allows: a record a value.
func TestReadIon(t *testing.T) {
	for value, want := range map[string]string{
		`"x"`: `{"S":"x"}`, `'''long''' /* and */ '''er'''`: `{"S":"longer"}`, "'''two\r\nlines'''": `{"S":"two\nlines"}`, `"a\
b"`: `{"S":"ab"}`, `"\0\a\b\t\n\f\r\v\"\'\?\/\\\x41\u00e9\U0001F600\ud83d\ude00"`: `{"S":"\u0000\u0007\u0008\t\n\u000c\r\u000b\"'?/\\Aé😀😀"}`,
		`true`: `{"BOOL":true}`, `null`: `{"NULL":true}`, `null.null`: `{"NULL":true}`, `{{ AA EC }}`: `{"B":"AAEC"}`, `{{}}`: `{"B":""}`,
		`103.`: `{"N":"103"}`, `6d2`: `{"N":"600"}`, `-1_000.5D-1`: `{"N":"-100.05"}`, `0d0`: `{"N":"0"}`, `-0.`: `{"N":"0"}`, `1d+2`: `{"N":"100"}`,
		`[1.,"a",[],{}, ]`: `{"L":[{"N":"1"},{"S":"a"},{"L":[]},{"M":{}}]}`, `$dynamodb_NS::[2.,1.]`: `{"NS":["1","2"]}`,
		`'$dynamodb_SS' :: /*x*/ ["a"]`: `{"SS":["a"]}`, `$dynamodb_BS::[{{AQ==}}]`: `{"BS":["AQ=="]}`,
		`{a:1.,'b c':2.,"d":3.,'''e''':4.,} // end`: `{"M":{"a":{"N":"1"},"b c":{"N":"2"},"d":{"N":"3"},"e":{"N":"4"}}}`,

		`1`: "refused", `-0x1F`: "refused", `0b1_0`: "refused", `1e0`: "refused", `1.5E-3`: "refused", `nan`: "refused", `+inf`: "refused", `-inf`: "refused",
		`2007-02-23T12:14:33.079-08:00`: "refused", `2007T`: "refused", `symbol`: "refused", `'symbol'`: "refused", `$10`: "refused", `null.string`: "refused",
		`{{ "clob" }}`: "refused", `{{ '''clob''' '''b''' }}`: "refused", `(a + [1] "s")`: "refused", `other::"x"`: "refused", `a::b::1.`: "refused",
		`$dynamodb_SS::[1.]`: "refused", `$dynamodb_SS::"x"`: "refused", `{a:1.,a:2.}`: "refused", `{$4:1.}`: "refused", `[[2007T], "x"]`: "refused",
		`$ion_symbol_table::{symbols:["a"]}`: "refused",
	} {
		r := lines.NewIon(strings.NewReader("// first\n$ion_1_0 {Item:{v:" + value + "\n}}$ion_1_0{Item:{after:1.}}"))
		found, _ := all(t, r)
		if want != "refused" {
			want = `{"v":` + want + `}`
		}
		if diff := cmp.Diff([]string{want, `{"after":{"N":"1"}}`}, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

// TestIonNesting: an item has at most 31 levels of lists and maps.
func TestIonNesting(t *testing.T) {
	for levels, ok := range map[int]bool{31: true, 32: false} {
		for _, text := range []string{strings.Repeat("[", levels) + strings.Repeat("]", levels), strings.Repeat("{a:", levels) + "1." + strings.Repeat("}", levels)} {
			_, err := lines.NewIon(strings.NewReader("{Item:{v:" + text + "}}")).Next()
			if _, refused := errors.AsType[*lines.LineError](err); refused == ok {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestNotIon ends a file where it is no Ion, and says where that is.
func TestNotIon(t *testing.T) {
	for text, want := range map[string]string{
		`{Item:{a:"x}}`: "byte 13: unexpected end of the text", `{Item:{a:1. b:2.}}`: `byte 12: found 'b', want ','`, `{Item:{a 1.}}`: `byte 9: found '1', want ':'`,
		`{Item:{a:01.}}`: `byte 12: "01." is not a number`, `{Item:{a:1__0.}}`: `byte 14: "1__0." is not a number`, `{Item:{a:{{*}}}}`: "byte 12: a blob is not valid base64: illegal base64 data at input byte 0",
		`{Item:{a:"\q"}}`: `byte 12: \q is not an escape sequence`, `{Item:{a:"\ud800"}}`: "byte 16: unpaired UTF-16 surrogate", "{Item:{a:\"\xff\"}}": "byte 12: a string is not valid UTF-8",
		"{Item:{a:\"\n\"}}": `byte 11: a string contains the control character '\n'`, `]`: `byte 0: unexpected ']': want a value`, `{Item:{a:[1. 2.]}}`: `byte 13: found '2', want ','`,
		`/* never`: "byte 8: unexpected end of the text", `{Item:` + strings.Repeat("[", 1<<20): "byte 106: values are nested too deeply",
		`{Item:{a:"` + strings.Repeat("x", 9<<20) + `"}}`: "the record is longer than 8388608 bytes", `{Item:{a:1.2.3}}`: `byte 14: "1.2.3" is not a number`,
	} {
		_, err := lines.NewIon(strings.NewReader(text)).Next()
		if refused := (*lines.LineError)(nil); err == nil || errors.As(err, &refused) || errors.Is(err, io.EOF) {
			t.Errorf("%.40q: %v", text, err)
		} else if got := err.Error(); got != want {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
}

func TestIonPuts(t *testing.T) {
	r := lines.NewIonPuts(strings.NewReader(`$ion_1_0 {Item:{a:"x"},ConditionExpression:"#a = :b",ExpressionAttributeNames:{'#a':"a"},ExpressionAttributeValues:{':b':1.}}
		{Item:{a:"x"},ConditionExpression:null}{Item:{a:"x"},Condition:"x"}{Item:{a:"x"},ConditionExpression:1.}{Item:null}{} [] {Item:{a:"x"},ExpressionAttributeNames:{a:1.}}`))
	p, err := r.NextPut()
	if err != nil || *p.ConditionExpression != "#a = :b" || p.ExpressionAttributeNames["#a"] != "a" || len(p.ExpressionAttributeValues) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = r.NextPut(); err != nil || p.ConditionExpression != nil || len(p.Item) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	for range 6 {
		if _, err := r.NextPut(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%v", err)
		}
	}
	if _, err := r.NextPut(); !errors.Is(err, io.EOF) {
		t.Errorf("%v at the end", err)
	}
}

// FuzzIonItems writes items, and reads them again, by this package and by Ion's own.
func FuzzIonItems(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":{"S":"x\n'\\\""},"$ion":{"N":"1E-130"},"null":{"NULL":true},"l":{"L":[{"M":{"x":{"B":"AAEC"}}},{"BOOL":true},{"NS":["1","2.5"]}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in struct{ Item attr.Item }
		if wire.Decode([]byte(`{"Item":`+string(data)+`}`), &in) != nil || in.Item == nil || in.Item.Depth() > 32 {
			return
		}
		if _, _, faulty := in.Item.Fault(); faulty {
			return
		}
		stored := itemenc.Encode(nil, in.Item)
		text, err := lines.AppendIonItem(nil, stored)
		if err != nil {
			t.Fatal(err)
		}
		again, err := lines.NewIon(strings.NewReader(string(text))).Next()
		if err != nil || !again.Equal(in.Item) {
			t.Fatalf("%s: %v, %v", text, again, err)
		}
		theirs := ion.NewReaderString(string(text))
		walk(t, theirs)
		if err := theirs.Err(); err != nil {
			t.Fatalf("%s: ion-go: %v", text, err)
		}
	})
}

// walk reads all values of a reader.
func walk(t *testing.T, r ion.Reader) {
	t.Helper()
	for r.Next() {
		if !ion.IsContainer(r.Type()) || r.IsNull() {
			continue
		}
		if err := r.StepIn(); err != nil {
			t.Fatal(err)
		}
		walk(t, r)
		if r.Err() != nil {
			return
		}
		if err := r.StepOut(); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzIonText reads any text: it ends, with errors that say where, and what is read can be written and read again.
func FuzzIonText(f *testing.F) {
	for _, seed := range []string{"$ion_1_0 {Item:{a:103.,b:$dynamodb_SS::[\"x\"]}}\n", `{Item:{a:'''x''' '''y''',b:{{AAEC}},c:(a + b),d:2007T}}`, `/**/{"Item":{'a':"\u00e9"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := lines.NewIon(strings.NewReader(string(data)))
		for before := int64(-1); ; {
			it, err := r.Next()
			refused := (*lines.LineError)(nil)
			if err != nil && !errors.As(err, &refused) {
				return
			}
			if r.Offset() <= before || r.Offset() > int64(len(data)) {
				t.Fatalf("%d is not after %d", r.Offset(), before)
			}
			before = r.Offset()
			if _, _, faulty := it.Fault(); err != nil || faulty {
				continue
			}
			text, err := lines.AppendIonItem(nil, itemenc.Encode(nil, it))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := lines.NewIon(strings.NewReader(string(text))).Next(); err != nil || !again.Equal(it) {
				t.Fatalf("%s: %v, %v", text, again, err)
			}
		}
	})
}
