package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestFatalEndsServer: when an invariant of the store is violated, in the background or in a request, the server exits with a
// message and accepts no more writes. Everything it acknowledged is still there afterwards.
func TestFatalEndsServer(t *testing.T) {
	fault := filepath.Join(t.TempDir(), "fault")
	faulty := serverproc.Build(t, "-tags", "faultinjection", "-ldflags",
		"-X github.com/monotable/monotable/internal/database/storage/kv/pebblekv.faultFile="+fault)
	sound := serverproc.Build(t)
	dir := t.TempDir()
	server := serverproc.Start(t, faulty, "--data", dir)
	client := connect(server)
	createTable(t, client)
	item := attributes{
		"pk": &types.AttributeValueMemberS{Value: "w0"}, "sk": &types.AttributeValueMemberS{Value: "i"},
		"version": &types.AttributeValueMemberN{Value: "1"}, "parity": &types.AttributeValueMemberS{Value: "odd"},
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: item}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fault, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// The memtable is flushed in the background; the server exits before it can respond.
	if output, err := exec.CommandContext(t.Context(), faulty, "compact", dir).CombinedOutput(); err == nil {
		t.Errorf("compact succeeded: %s", output)
	}
	status, printed := server.Wait(t)
	if status != 2 || !strings.Contains(printed, "an injected fault") || !strings.Contains(printed, "restart") {
		t.Errorf("the server ended with status %d, and printed\n%s", status, printed)
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: item}); err == nil {
		t.Error("a write was acknowledged afterwards")
	}

	verify(t, sound, dir)
	again := serverproc.Start(t, sound, "--data", dir)
	if found := versions(t, connect(again), ""); found["w0#i"] != 1 {
		t.Errorf("then the table holds %v", found)
	}
	again.Stop(t)
}
