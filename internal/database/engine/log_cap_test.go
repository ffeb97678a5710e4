package engine_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestLogCap: before change logs reach their limit a warning is logged once; above it the oldest changes of all tables are
// deleted, and their readers get AWS's error.
func TestLogCap(t *testing.T) {
	const limit = 1 << 20
	var c clock
	c.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	var logged bytes.Buffer
	e := openOn(t, memkv.New(), engine.Options{
		Now: c.now, TTLInterval: -1, StreamShardRotation: -1, LogMaxBytes: limit, Logger: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	defer e.Close()
	createTable(t, e, streamedTable("NEW_AND_OLD_IMAGES"))
	if err := turnRecoveryOn(t.Context(), e, "Music"); err != nil {
		t.Fatal(err)
	}
	reader := newConsumer(t, e)
	reader.read()
	begin := reader.iterators[*reader.shards()[0].ShardId]
	send(t, e, "create-table", accountsTable)
	send(t, e, "update-table", `{"TableName":"Accounts","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`)
	written := 0
	write := func(n int) {
		t.Helper()
		for i := range n {
			written++
			c.set(c.now().Add(time.Second))
			music(t, e, fmt.Sprint(i), fmt.Sprintf("%06000d", written))
			send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":{"id":{"S":"%d"},"v":{"S":"%s"}}}`, i, fmt.Sprintf("%04000d", written)))
		}
		if err := e.CapLogs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	use := func() int64 {
		t.Helper()
		u, err := e.LogUse(t.Context())
		if err != nil || u.Max != limit {
			t.Fatalf("%+v, %v", u, err)
		}
		return u.Bytes
	}
	warned := func(what string) int { return strings.Count(logged.String(), what) }

	write(50)
	if warned("cap") != 0 {
		t.Errorf("at %d bytes it is logged: %s", use(), &logged)
	}
	write(23)
	write(1)
	if used := use(); warned("near their cap") != 1 || warned("over their cap") != 0 || used < limit*8/10 {
		t.Errorf("at %d bytes it is logged: %s", used, &logged)
	}
	write(40)
	if used := use(); warned("over their cap") != 1 || used > limit*9/10 || used < limit*8/10 {
		t.Errorf("at %d bytes it is logged: %s", used, &logged)
	}
	if _, err := e.GetRecords(t.Context(), &api.GetRecordsInput{ShardIterator: begin}); codeOf(err) != apierr.TrimmedDataAccessException {
		t.Errorf("the begin of the stream: %v", err)
	}
	described, err := e.DescribeContinuousBackups(t.Context(), &api.DescribeContinuousBackupsInput{TableName: new("Music")})
	if err != nil {
		t.Fatal(err)
	}
	recovery := described.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	earliest := time.Unix(int64(*recovery.EarliestRestorableDateTime), 0)
	if age := c.now().Sub(earliest); age < 50*time.Second || age > 100*time.Second {
		t.Errorf("%v back can be restored", age)
	}
	if err := restoreTo(t.Context(), e, "Music", earliest, "Restored"); err != nil {
		t.Error(err)
	}
	e.Settle()
	wantVerified(t, e)
}
