package engine_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestOutOfSpace: below the reserve, requests that only read or delete are accepted, and those that would take space get the
// error about disk space. Without any space, only reads are accepted. Once there is space again, all are.
func TestOutOfSpace(t *testing.T) {
	const megabyte, reserve = 1 << 20, 64 << 20
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	store, err := pebblekv.Open("/data", pebblekv.Options{FS: fs, DiskReserve: reserve, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	available := func(bytes int64) (pending int64) {
		t.Helper()
		fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: uint64(bytes), TotalBytes: 1 << 30})
		usage, err := store.DiskUsage() // triggers a check
		if err != nil {
			t.Fatal(err)
		}
		return usage.Pending
	}
	e := openOn(t, store, engine.Options{TTLInterval: -1})
	send(t, e, "create-table", `{"TableName":"Items","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		var filler strings.Builder // incompressible
		for filler.Len() < 300<<10 {
			filler.WriteString(strconv.FormatUint(random.Uint64(), 36))
		}
		send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Items","Item":{"id":{"S":"%d"},"filler":{"S":"%s"}}}`, i, filler.String()))
	}
	created, err := e.CreateBackup(t.Context(), decoded[api.CreateBackupInput](t, `{"TableName":"Items","BackupName":"nightly"}`))
	if err != nil {
		t.Fatal(err)
	}
	backup := *created.BackupDetails.BackupArn

	refused := []string{
		`put-item {"TableName":"Items","Item":{"id":{"S":"new"}}}`,
		`update-item {"TableName":"Items","Key":{"id":{"S":"1"}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
		`batch-write-item {"RequestItems":{"Items":[{"PutRequest":{"Item":{"id":{"S":"new"}}}},{"DeleteRequest":{"Key":{"id":{"S":"2"}}}}]}}`,
		`transact-write-items {"TransactItems":[{"Put":{"TableName":"Items","Item":{"id":{"S":"new"}}}},{"Delete":{"TableName":"Items","Key":{"id":{"S":"2"}}}}]}`,
		`create-table {"TableName":"Other","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`,
		`create-backup {"TableName":"Items","BackupName":"late"}`,
		`restore-table-from-backup {"TargetTableName":"Restored","BackupArn":"` + backup + `"}`,
	}
	accepted := []string{
		`get-item {"TableName":"Items","Key":{"id":{"S":"1"}}}`,
		`scan {"TableName":"Items","Limit":3}`,
		`delete-item {"TableName":"Items","Key":{"id":{"S":"3"}}}`,
		`batch-write-item {"RequestItems":{"Items":[{"DeleteRequest":{"Key":{"id":{"S":"4"}}}}]}}`,
		`transact-write-items {"ClientRequestToken":"t","TransactItems":[{"Delete":{"TableName":"Items","Key":{"id":{"S":"5"}}}},{"ConditionCheck":{"TableName":"Items","Key":{"id":{"S":"6"}},"ConditionExpression":"attribute_exists(id)"}}]}`,
		`update-time-to-live {"TableName":"Items","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":true}}`,
		`delete-backup {"BackupArn":"` + backup + `"}`,
		`delete-table {"TableName":"Items"}`,
	}
	do := func(request string) error {
		operation, body, _ := strings.Cut(request, " ")
		_, err := perform(t.Context(), e, operation, body)
		return err
	}

	// There is space for every other request, but not for the table to be restored.
	available(reserve + available(1<<30) + 2*megabyte)
	if err := do(refused[len(refused)-1]); !outOfSpace(err) {
		t.Errorf("a restore that is larger than the free space: %v", err)
	}
	if err := do(`put-item {"TableName":"Items","Item":{"id":{"S":"small"}}}`); err != nil {
		t.Errorf("a put with room: %v", err)
	}
	available(reserve)
	for _, request := range refused {
		if err := do(request); !outOfSpace(err) {
			t.Errorf("%.300s: %v", request, err)
		}
	}
	for _, request := range accepted[:len(accepted)-2] {
		if err := do(request); err != nil {
			t.Errorf("%.300s: %v", request, err)
		}
	}
	available(0)
	if err := do(`delete-item {"TableName":"Items","Key":{"id":{"S":"7"}}}`); !isOutOfSpace(err, apierr.NoSpaceToDelete) {
		t.Errorf("with no space at all, a delete: %v", err)
	}
	available(1 << 30)
	for _, request := range refused {
		if err := do(request); err != nil {
			t.Errorf("with room again, %.300s: %v", request, err)
		}
	}
	e.Settle()
	available(0)
	for _, request := range accepted[len(accepted)-2:] {
		if err := do(request); !isOutOfSpace(err, apierr.NoSpaceToDrop) {
			t.Errorf("with no space at all, %.300s: %v", request, err)
		}
	}
	available(megabyte)
	for _, request := range accepted[len(accepted)-2:] {
		if err := do(request); err != nil {
			t.Errorf("%.300s: %v", request, err)
		}
	}
	e.Settle()
	if n, err := e.PendingJobs(t.Context()); n > 1 || err != nil { // the change log of the table is dropped after a day
		t.Errorf("%d jobs are left, %v", n, err)
	}
	wantVerified(t, e)
}

func outOfSpace(err error) bool { return isOutOfSpace(err, apierr.OutOfSpace) }

func isOutOfSpace(err error, message apierr.Sentence) bool {
	known, ok := errors.AsType[*apierr.Error](err)
	return ok && known.Code == apierr.LimitExceededException && known.Message == string(message)
}
