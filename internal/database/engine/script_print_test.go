package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// lineWidth is the maximum line length of the scripts' outputs.
const lineWidth = 110

// pretty formats JSON: whatever fits is on one line. It keeps the order of members.
func pretty(doc []byte) string {
	if len(doc) == 0 {
		return ""
	}
	var b strings.Builder
	layOut(&b, doc, 0)
	return b.String()
}

func layOut(b *strings.Builder, doc json.RawMessage, indent int) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, doc); err != nil {
		b.Write(doc)
		return
	}
	if indent+compact.Len() <= lineWidth || compact.Bytes()[0] != '{' && compact.Bytes()[0] != '[' {
		b.Write(abbreviate(compact.Bytes()))
		return
	}
	inner := strings.Repeat(" ", indent+2)
	dec := json.NewDecoder(&compact)
	open, _ := dec.Token()
	fmt.Fprint(b, open, "\n")
	for dec.More() {
		b.WriteString(inner)
		if open == json.Delim('{') {
			name, _ := dec.Token()
			fmt.Fprintf(b, "%q: ", name)
		}
		var element json.RawMessage
		if err := dec.Decode(&element); err != nil {
			fmt.Fprint(b, err)
			return
		}
		layOut(b, element, indent+2)
		if dec.More() {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	closing, _ := dec.Token()
	b.WriteString(strings.Repeat(" ", indent))
	fmt.Fprint(b, closing)
}

// abbreviate shortens long texts.
func abbreviate(text []byte) []byte {
	const most = 200
	if len(text) <= most {
		return text
	}
	return fmt.Appendf(nil, "%s… (%d bytes)", text[:40], len(text))
}

// dump prints the entries whose printed key begins with prefix.
func dump(ctx context.Context, store kv.Store, prefix string) (string, error) {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer snapshot.Close()
	var b strings.Builder
	it := snapshot.Iter(nil, []byte{kv.ReservedPrefix}, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		key := keyenc.Format(it.Key())
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		value, err := printValue(snapshot, key, it)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s%s\n", key, value)
	}
	return b.String(), it.Err()
}

func printValue(r kv.Reader, key string, it kv.Iterator) (string, error) {
	switch space, _, _ := strings.Cut(key, "/"); space {
	case "data":
		return " " + printItem(it.Value()), nil
	case "statistics", "collection":
		counters, err := r.Counter(it.Key())
		return fmt.Sprintf(" %v", counters), err
	default:
		return "", nil
	}
}

func printItem(stored itemenc.Item) string {
	if stored == nil {
		return "-"
	}
	it, err := stored.Decode()
	if err != nil {
		return err.Error()
	}
	return string(abbreviate([]byte(it.String())))
}

// log prints the change log of the table with a name.
func (s *script) log(ctx context.Context, table string) (string, error) {
	id, err := tableID(ctx, s.store, table)
	if err != nil {
		return "", err
	}
	records, _, err := s.store.ReadLog(ctx, kv.LogID(id), 0, 1000)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range records {
		c, err := logenc.Decode(r.Data)
		if err != nil {
			return "", err
		}
		origin := ""
		if c.Origin == logenc.OriginTTL {
			origin = " by TTL"
		}
		fmt.Fprintf(&b, "%s → %s%s\n", printImage(c.Existed, c.Old), printImage(c.Exists, c.New), origin)
	}
	return b.String(), nil
}

// printImage prints an item in a log record, or that it existed but its image is not kept.
func printImage(there bool, image itemenc.Item) string {
	if there && image == nil {
		return "an item"
	}
	return printItem(image)
}

// tableID reads the id in a table's descriptor.
func tableID(ctx context.Context, store kv.Store, table string) (keyenc.TableID, error) {
	data, err := store.Get(ctx, keyenc.TableDescriptor(table))
	if err != nil {
		return 0, err
	}
	var descriptor struct {
		ID keyenc.TableID `json:"id"`
	}
	if err := json.Unmarshal(data, &descriptor); err != nil {
		return 0, fmt.Errorf("descriptor of table %q: %w", table, err)
	}
	return descriptor.ID, nil
}
