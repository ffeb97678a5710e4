//go:build tikv

package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// suiteFlags are the flags of go test for suites over any store, so that nothing is compiled twice.
var suiteFlags = []string{"-tags=tikv"}

// TestMoveToTiKV is TestMove into the stand-in for TiKV and back, followed by TestMoveUnderWrites into it.
func TestMoveToTiKV(t *testing.T) {
	cluster := tikvtest.New(t, tikvtest.Options{})
	binary := serverproc.Build(t, "-tags=tikv")
	shown, _, _ := strings.Cut(cluster.Address("moved"), "?")
	t.Run("Stopped", func(t *testing.T) { testMove(t, binary, cluster.Address("moved"), shown+"?prefix=moved") })
	t.Run("UnderWrites", func(t *testing.T) { testMoveUnderWrites(t, binary, cluster.Address("moving")) })
}

// TestSplitOnTiKV: a table created for 12,000 writes per second starts with twelve regions, whose leaders are on several nodes,
// and its writes use all of them.
func TestSplitOnTiKV(t *testing.T) {
	cluster := tikvtest.New(t, tikvtest.Options{})
	server := serverproc.Start(t, serverproc.Build(t, "-tags=tikv"), "--store", cluster.Address("split"), "--data", t.TempDir(), "--log-level", "warn")
	regions := func() map[uint64]tikvtest.Region {
		t.Helper()
		all, err := cluster.Regions()
		if err != nil {
			t.Fatal(err)
		}
		byID := map[uint64]tikvtest.Region{}
		for _, r := range all {
			byID[r.ID] = r
		}
		return byID
	}
	c := client(server)
	createTable(t, c)
	before := regions()
	warm := &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(12_000), WriteUnitsPerSecond: aws.Int64(12_000)}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("large"), BillingMode: types.BillingModePayPerRequest, WarmThroughput: warm,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	written, n := map[uint64]bool{}, 0
	poll(t, "writes in twelve new regions with leaders on several nodes", func() bool {
		var batch []types.WriteRequest
		for range 25 {
			n++
			item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}}
			batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		if _, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"large": batch}}); err != nil {
			t.Fatal(err)
		}
		nodes := map[uint64]bool{}
		for id, r := range regions() {
			if _, is := before[id]; is {
				continue
			}
			nodes[r.Leader.Node] = true
			written[id] = written[id] || r.WrittenKeys > 0
		}
		count := 0
		for _, is := range written {
			if is {
				count++
			}
		}
		return count >= 12 && len(nodes) > 1
	})
	t.Logf("%d items; %d regions before, %d after; written to: %v", n, len(before), len(regions()), written)
}

// TestSuitesOnTiKV is TestSuites over the stand-in for TiKV, with each database under a prefix of one cluster.
func TestSuitesOnTiKV(t *testing.T) {
	cluster := tikvtest.New(t, tikvtest.Options{})
	selected := []string{"./test/sdk", "./systems/portfolio/..."}
	if *whole {
		selected = []string{"./test/conformance", "./test/sdk", "./test/seeds", "./systems/..."}
	}
	runSuites(t, cluster.Address("suites"), selected, "-p=3", "-parallel=4") // they mostly wait
}
