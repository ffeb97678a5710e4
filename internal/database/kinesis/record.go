package kinesis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
)

// record is the JSON document of a change. It has no sequence number, because Kinesis assigns one.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/kds_using-shards-and-metrics.html
type record struct {
	AWSRegion    string    `json:"awsRegion"`
	EventID      string    `json:"eventID"`
	EventName    string    `json:"eventName"`
	UserIdentity *identity `json:"userIdentity"`
	RecordFormat string    `json:"recordFormat"`
	TableName    string    `json:"tableName"`
	DynamoDB     body      `json:"dynamodb"`
	EventSource  string    `json:"eventSource"`
}

// identity marks a change made by time to live.
type identity struct {
	PrincipalID string `json:"principalId"`
	Type        string `json:"type"`
}

type body struct {
	ApproximateCreationDateTime          int64
	ApproximateCreationDateTimePrecision string
	Keys                                 json.RawMessage
	NewImage                             json.RawMessage `json:",omitempty"`
	OldImage                             json.RawMessage `json:",omitempty"`
	SizeBytes                            int
}

func newRecord(x *engine.Delivery, c *engine.Change) (Record, error) {
	keys := wire.AppendAttributes(nil, c.Key)
	r := record{
		AWSRegion: x.Region, EventID: eventID(x, c), EventName: "MODIFY", RecordFormat: "application/json",
		TableName: x.Table, EventSource: "aws:dynamodb",
		DynamoDB: body{
			ApproximateCreationDateTime: creation(c.Time, x.Precision), ApproximateCreationDateTimePrecision: x.Precision,
			Keys: keys, NewImage: image(c.New), OldImage: image(c.Old), SizeBytes: c.Key.Size() + c.New.Size() + c.Old.Size(),
		},
	}
	switch {
	case c.Old == nil:
		r.EventName = "INSERT"
	case c.New == nil:
		r.EventName = "REMOVE"
	}
	if c.Expired {
		r.UserIdentity = &identity{PrincipalID: "dynamodb.amazonaws.com", Type: "Service"}
	}
	data, err := json.Marshal(r)
	sum := sha256.Sum256(keys)
	return Record{Key: hex.EncodeToString(sum[:16]), Data: data, seq: c.Seq, time: c.Time}, err
}

func image(it attr.Item) json.RawMessage {
	if it == nil {
		return nil
	}
	return wire.AppendAttributes(nil, it)
}

// creation returns the time of a change in the precision of its destination.
func creation(t time.Time, precision string) int64 {
	if precision == catalog.PrecisionMicrosecond {
		return t.UnixMicro()
	}
	return t.UnixMilli()
}

// eventID returns a UUID that is the same at every delivery of the change.
func eventID(x *engine.Delivery, c *engine.Change) string {
	id := stream.EventID(x.ID, "kinesis", c.Seq)
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}
