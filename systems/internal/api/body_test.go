package api

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzRepeated: a member is reported as repeated exactly if decoding keeps fewer members than there are colons outside of strings.
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

// members counts the members of all objects in a value.
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

// colons counts colons outside of strings in valid JSON.
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

// TestTimes: every time has three decimals and is in UTC, wherever it appears.
func TestTimes(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	whole := at("2026-01-05T08:00:00-06:00")
	got, err := MarshalJSON(struct {
		A, B time.Time
		C    *time.Time
		D    *time.Time `json:",omitempty"`
		E    []time.Time
		F    string
	}{A: at("2026-01-05T08:00:00.12Z"), B: at("2026-01-05T08:00:00.1239Z"), C: &whole, E: []time.Time{whole}, F: "<&>"})
	want := `{"A":"2026-01-05T08:00:00.120Z","B":"2026-01-05T08:00:00.123Z","C":"2026-01-05T14:00:00.000Z","E":["2026-01-05T14:00:00.000Z"],"F":"<&>"}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
}
