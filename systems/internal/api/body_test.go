package api

import (
	"encoding/json"
	"testing"
)

// FuzzRepeated: a member is repeated exactly where reading keeps fewer members than there are colons outside of texts.
func FuzzRepeated(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"a":1},"b":[{"a":":"},{"a":"\":"}]}`, `[{"x":[[],{}]},"x",{"x":{},"x":[]}]`,
		`{"":null,"":1}`, `{"a":"a","b":"a","A":1}`, `"a"`, `1`, `[]`, `{"\ud800":1,"\udfff":2}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if json.Unmarshal(data, &value) != nil {
			return
		}
		name, twice := repeated(data)
		if fewer := members(value) < colons(data); fewer != twice {
			t.Errorf("%s: repeated %q, %v, and %d members of %d", data, name, twice, members(value), colons(data))
		}
	})
}

// members are those of all objects in a value.
func members(value any) (n int) {
	switch v := value.(type) {
	case map[string]any:
		for _, inside := range v {
			n += 1 + members(inside)
		}
	case []any:
		for _, inside := range v {
			n += members(inside)
		}
	}
	return n
}

// colons are those outside of texts in valid JSON.
func colons(data []byte) (n int) {
	inText := false
	for i := 0; i < len(data); i++ {
		switch {
		case inText && data[i] == '\\':
			i++
		case data[i] == '"':
			inText = !inText
		case !inText && data[i] == ':':
			n++
		}
	}
	return n
}
