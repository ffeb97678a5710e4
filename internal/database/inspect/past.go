package inspect

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	changesDefault, changesMax = 25, 100
	itemsDefault, itemsMax     = 100, 1000
)

// changesInput requests an item's changes before a position from an earlier response.
type changesInput struct {
	TableName string
	Key       json.RawMessage
	Before    string
	Limit     int
}

type changesOutput struct {
	Changes []change
	// Since is the time from which the table keeps changes, in seconds since the epoch; absent if it keeps none. Before is where
	// to continue; absent at the end. Searched is the time down to which the log was searched.
	Since    float64 `json:",omitempty"`
	Before   string  `json:",omitempty"`
	Searched float64 `json:",omitempty"`
}

// change is the effect of one commit. An image that the table did not keep is absent: for point-in-time recovery it keeps the old
// one, and the new one is the old image of the next change, or the current item.
type change struct {
	SequenceNumber  string
	Time            float64
	Existed, Exists bool
	By              string          // client, ttl or replica
	Old             json.RawMessage `json:",omitempty"`
	New             json.RawMessage `json:",omitempty"`
}

func (h *Handler) listItemChanges(ctx context.Context, by caller, body []byte) (any, error) {
	input := changesInput{Limit: changesDefault}
	if err := decode(body, &input); err != nil {
		return nil, err
	}
	if input.Limit < 1 || input.Limit > changesMax {
		return nil, invalid("Limit %d: want 1 to %d.", input.Limit, changesMax)
	}
	var before uint64
	if input.Before != "" {
		var err error
		if before, err = strconv.ParseUint(input.Before, 10, 64); err != nil || before == 0 {
			return nil, invalid("Before %q is not from an earlier response.", input.Before)
		}
	}
	if len(input.Key) == 0 {
		return nil, invalid("Key is required.")
	}
	var key api.GetItemInput
	if err := wire.Decode(fmt.Appendf(nil, `{"Key":%s}`, input.Key), &key); err != nil {
		return nil, err
	}
	in, name, err := h.table(by, "ListItemChanges", input.TableName)
	if err != nil {
		return nil, err
	}
	found, err := in.ItemHistory(ctx, name, key.Key, kv.Seq(before), input.Limit)
	if err != nil {
		return nil, err
	}
	out := changesOutput{Changes: []change{}, Since: float64(found.Since) / 1000}
	if found.Before != 0 {
		out.Before, out.Searched = strconv.FormatUint(uint64(found.Before), 10), float64(found.Before.Millis())/1000
	}
	for i := range found.Changes {
		c, err := newChange(&found.Changes[i])
		if err != nil {
			return nil, err
		}
		out.Changes = append(out.Changes, c)
	}
	return out, nil
}

var origins = map[logenc.Origin]string{logenc.OriginClient: "client", logenc.OriginTTL: "ttl", logenc.OriginReplica: "replica"}

func newChange(c *engine.ItemChange) (change, error) {
	out := change{
		SequenceNumber: strconv.FormatUint(uint64(c.Seq), 10), Time: float64(c.Time) / 1000, Existed: c.Existed, Exists: c.Exists, By: origins[c.Origin],
	}
	var err error
	if out.Old, err = image(c.Old); err == nil {
		out.New, err = image(c.New)
	}
	return out, err
}

// image encodes an item as JSON, nil for none.
func image(it itemenc.Item) (json.RawMessage, error) {
	if len(it) == 0 {
		return nil, nil
	}
	return wire.AppendItem(nil, it)
}

// compareInput requests a table at a second, from where an earlier response ended.
type compareInput struct {
	TableName string
	// At is in seconds since the epoch. All includes unchanged items.
	At    int64
	All   bool
	After string
	Limit int
}

type compareOutput struct {
	Items []compared
	// After is where to continue; absent at the end.
	After string `json:",omitempty"`
}

// compared is an item then and now; absent if it did not or does not exist. Same has the item once if it is unchanged.
type compared struct {
	Then json.RawMessage `json:",omitempty"`
	Now  json.RawMessage `json:",omitempty"`
	Same json.RawMessage `json:",omitempty"`
}

func (h *Handler) compareTable(ctx context.Context, by caller, body []byte) (any, error) {
	input := compareInput{Limit: itemsDefault}
	if err := decode(body, &input); err != nil {
		return nil, err
	}
	if input.Limit < 1 || input.Limit > itemsMax {
		return nil, invalid("Limit %d: want 1 to %d.", input.Limit, itemsMax)
	}
	const secondsMax = 1 << 40 // far beyond any recovery window
	if input.At < 0 || input.At > secondsMax {
		return nil, invalid("At %d: want seconds since 1970.", input.At)
	}
	var after []byte
	if input.After != "" {
		var err error
		if after, err = base64.RawURLEncoding.DecodeString(input.After); err != nil {
			return nil, invalid("After %q is not from an earlier response.", input.After)
		}
	}
	in, name, err := h.table(by, "CompareTable", input.TableName)
	if err != nil {
		return nil, err
	}
	found, err := in.CompareTable(ctx, name, input.At, !input.All, after, input.Limit)
	if err != nil {
		return nil, err
	}
	out := compareOutput{Items: []compared{}, After: base64.RawURLEncoding.EncodeToString(found.Next)}
	for _, x := range found.Items {
		var c compared
		if bytes.Equal(x.Then, x.Now) {
			c.Same, err = image(x.Now)
		} else if c.Then, err = image(x.Then); err == nil {
			c.Now, err = image(x.Now)
		}
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, c)
	}
	return out, nil
}
