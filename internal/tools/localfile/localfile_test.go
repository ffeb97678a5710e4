package localfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/tools/localfile"
)

// written is a file that DynamoDB Local 3.3.1 has written; testdata/fill.py made its tables.
const written = "testdata/shared-local-instance.db"

func TestTables(t *testing.T) {
	f, err := localfile.Open(written)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	counts := map[string]int64{}
	for _, table := range f.Tables {
		counts[table.Name] = table.Count
		n := int64(0)
		for _, err := range f.Items(table) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != table.Count || len(table.Unknown) > 0 {
			t.Errorf("%s: read %d items of %d; unknown %v", table.Name, n, table.Count, table.Unknown)
		}
	}
	if want := map[string]int64{"Bin": 2, "empty": 0, "num.bin-ary_3": 5, "shop": 30}; !reflect.DeepEqual(counts, want) {
		t.Errorf("items by table are %v, want %v", counts, want)
	}
	numbers, shop := f.Tables[2], f.Tables[3]
	if numbers.OnDemand || numbers.Read != 7 || numbers.Write != 9 || !numbers.DeletionProtection || numbers.Definitions[0].AttributeType != "N" {
		t.Errorf("the provisioned table is %+v", numbers)
	}
	if !shop.OnDemand || shop.DeletionProtection || shop.TTLAttr != "ttl" || shop.StreamView != "NEW_AND_OLD_IMAGES" || len(shop.Global) != 2 || len(shop.Local) != 1 ||
		!reflect.DeepEqual(shop.Global[0].Projection.NonKeyAttributes, []string{"s", "n"}) || aws.ToString(shop.Key[1].AttributeName) != "SK" {
		t.Errorf("the table on demand is %+v", shop)
	}
}

// TestItem reads an item with values of all types.
func TestItem(t *testing.T) {
	f, err := localfile.Open(written)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for item, err := range f.Items(f.Tables[3]) {
		if err != nil {
			t.Fatal(err)
		}
		text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
		number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
		for name, want := range map[string]types.AttributeValue{
			"s": text("héllo \"q\" \\ \n 日本 😀"), "e": text(""), "n": number("-123.45"), "big": number("12345678901234567890123456789012345678"),
			"be": &types.AttributeValueMemberB{Value: []byte{}}, "t": &types.AttributeValueMemberBOOL{Value: true}, "f": &types.AttributeValueMemberBOOL{},
			"nul": &types.AttributeValueMemberNULL{Value: true}, "ss": &types.AttributeValueMemberSS{Value: []string{"a", "b", "ü"}},
			"ns": &types.AttributeValueMemberNS{Value: []string{"-2.5", "1", "10000000000"}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{{255, 254}, {0}}},
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				text("x"), number("1"), &types.AttributeValueMemberL{Value: []types.AttributeValue{}}, &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
				&types.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberB{Value: []byte("z")}, &types.AttributeValueMemberSS{Value: []string{"q"}},
			}},
		} {
			if !reflect.DeepEqual(item[name], want) {
				t.Errorf("%s is %#v, want %#v", name, item[name], want)
			}
		}
		return
	}
}

// TestFaults: a file of another form, or with an item that is none, is an error and not a shorter table.
func TestFaults(t *testing.T) {
	whole, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, with string) []byte { return bytes.ReplaceAll(whole, []byte(old), []byte(with)) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no database":    {[]byte("{}"), "is not a database file of DynamoDB Local"},
		"another form":   {replaced("v2.4.0", "v9.4.0"), `its format version is "v9.4.0"`},
		"another type":   {replaced(`{"h":{"B":"AAE="}}`, `{"h":{"X":"AAE="}}`), "item 1 of table Bin: attribute h: a value has exactly one type"},
		"no JSON":        {replaced(`{"h":{"B":"AAE="}}`, `{"h":{"B":"AAE="}]`), "item 1 of table Bin"},
		"other database": {replaced("CREATE TABLE cf", "CREATE TABLE cx"), "not in the format of DynamoDB Local"},
		"cut":            {whole[:len(whole)/2], ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			err := readAll(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

func readAll(path string) error {
	f, err := localfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, table := range f.Tables {
		for _, err := range f.Items(table) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
