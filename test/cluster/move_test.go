package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// moveItems is the number of items in a table of TestMove.
const moveItems = 80

// moveRegions are the Regions of the servers of TestMove.
var moveRegions = []string{"us-east-1", "eu-west-1"}

// TestMove: a database is moved from a directory into PostgreSQL and back. Before and after, the API returns the same tables,
// indexes, streams, TTL, tags, backups and users, in two Regions. A consumer resumes where it was, and a backup can be restored.
// The abandoned store is no longer served. In both directions, the move is killed once while it copies: then neither store can be
// opened, and the next run completes the move.
func TestMove(t *testing.T) {
	t.Parallel()
	testMove(t, serverproc.Build(t), postgrestest.URL("moved", postgres), "postgres://postgres@/postgres?host=")
}

// testMove moves a database into the store at a URL and back. Messages show the URL as shown.
func testMove(t *testing.T, binary, url, shown string) {
	t.Helper()
	dir := t.TempDir()
	first, back := filepath.Join(dir, "first"), filepath.Join(dir, "back")
	flags := []string{"--log-level", "error", "--regions", "eu-west-1"}

	server := serverproc.Start(t, binary, append(flags, "--data", first)...)
	for _, region := range moveRegions {
		fillForMove(t, server, region)
	}
	run(t, binary, "iam", "user", "create", "ana", "--data", first)
	run(t, binary, "iam", "key", "create", "ana", "--data", first)
	iterators := map[string]*string{}
	for _, region := range moveRegions {
		iterators[region] = iteratorAfter(t, server, region, 10)
	}
	before := describeAll(t, server, binary, first)
	refused(t, binary, "a server has the directory open", "move", "--from", first, "--to", back)
	server.Stop(t)

	moveKilled(t, binary, first, url)
	refused(t, binary, "the database has been moved to "+shown, "serve", "--addr", "127.0.0.1:0", "--data", first)
	refused(t, binary, "has been moved to", "verify", first)
	refused(t, binary, "has been moved to", "move", "--from", first, "--to", filepath.Join(dir, "other"))

	socket := filepath.Join(dir, "socket")
	server = serverproc.Start(t, binary, append(flags, "--store", url, "--data", socket)...)
	if diff := cmp.Diff(before, describeAll(t, server, binary, socket)); diff != "" {
		t.Errorf("in the store (-directory +store):\n%s", diff)
	}
	for _, region := range moveRegions {
		putForMove(t, moveClient(server, region), moveItems) // one more
		if n := recordsAt(t, server, region, iterators[region]); n != moveItems+1-10 {
			t.Errorf("%s: a consumer that had read ten records of %d reads %d more", region, moveItems+1, n)
		}
	}
	restoreForMove(t, moveClient(server, moveRegions[0]))
	before = describeAll(t, server, binary, socket)
	refused(t, binary, "servers with the source open: 1", "move", "--from", url, "--to", back)
	server.Stop(t)

	moveKilled(t, binary, url, back)
	refused(t, binary, "the database has been moved to "+back, "serve", "--addr", "127.0.0.1:0", "--store", url, "--data", socket)
	server = serverproc.Start(t, binary, append(flags, "--data", back)...)
	if diff := cmp.Diff(before, describeAll(t, server, binary, back)); diff != "" {
		t.Errorf("back in a directory (-store +directory):\n%s", diff)
	}
	for _, region := range moveRegions {
		if n := recordsAt(t, server, region, iterators[region]); n != moveItems+1-10 {
			t.Errorf("%s, back in a directory: a consumer reads %d records more", region, n)
		}
	}
	run(t, binary, "verify", back)
	server.Stop(t)

	// The move is taken back: later writes are not in the reopened store.
	run(t, binary, "move", "--from", url, "--reopen")
	server = serverproc.Start(t, binary, append(flags, "--store", url, "--data", socket)...)
	server.Stop(t)
}

// TestNoDirectory: operations on a directory say what to do instead if the server's data is in a store.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	db, err := monotable.OpenStore(t.Context(), postgrestest.URL("no_directory", postgres), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Backup(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "its own tools") {
		t.Errorf("backup: %v", err)
	}
	if _, err := db.Move(t.Context(), &monotable.MoveOptions{To: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "from the URL of the store") {
		t.Errorf("move: %v", err)
	}
}

// TestMovedUnderServer: a server that was suspended while its database was moved, and did not notice the move, does not continue
// when it resumes.
func TestMovedUnderServer(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL("moved_under", postgres)
	db, err := monotable.OpenStore(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	createTable(t, db.Client())
	if err := put(t, db.Client(), 1, 1); err != nil {
		t.Fatal(err)
	}
	store, err := postgreskv.Open(t.Context(), url, postgreskv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	mark := format.Move{Stage: format.Leaving, To: "elsewhere", Version: 1}
	err = store.Update(t.Context(), kv.Intent{Write: [][]byte{keyenc.FormatVersion()}}, func(txn kv.Txn) error {
		cluster.Raise(txn)
		return mark.Save(txn)
	})
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "the server refuses requests", func() bool { return db.Ready() != nil && put(t, db.Client(), 1, 2) != nil })
	poll(t, "it is no server of the store any more", func() bool {
		n, err := cluster.Serving(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}

// run runs the command, which must succeed, and returns its output.
func run(t *testing.T, binary string, args ...string) string {
	t.Helper()
	printed, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("monotable %s: %v\n%s", strings.Join(args, " "), err, printed)
	}
	return string(printed)
}

// refused runs the command, which must fail with the wanted message.
func refused(t *testing.T, binary, want string, args ...string) {
	t.Helper()
	printed, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(printed), want) {
		t.Errorf("monotable %s: %v\n%swant an error with %q", strings.Join(args, " "), err, printed, want)
	}
}

// moveKilled starts a move and kills it while it copies. Then neither store can be opened. A second move completes.
func moveKilled(t *testing.T, binary, from, to string) {
	t.Helper()
	move := exec.CommandContext(t.Context(), binary, "move", "--from", from, "--to", to, "--progress")
	stderr, err := move.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := move.Start(); err != nil {
		t.Fatal(err)
	}
	lines, begun := bufio.NewScanner(stderr), false
	for !begun && lines.Scan() {
		begun = strings.HasPrefix(lines.Text(), "monotable: copy: ")
	}
	_ = move.Process.Kill()
	_ = move.Wait()
	if !begun {
		t.Fatal("the move has ended before it copied")
	}
	if err := tryOpen(t, from); err == nil || !strings.Contains(err.Error(), "moved to") {
		t.Errorf("%s in the middle of a move: %v", from, err)
	}
	if err := tryOpen(t, to); err == nil { // the move ended before the kill, on a slow machine; the tests of package move cover every point
		t.Log("the move was not killed in time")
		return
	} else if !strings.Contains(err.Error(), "run the same monotable move again") {
		t.Errorf("%s in the middle of a move: %v", to, err)
	}
	printed := run(t, binary, "move", "--from", from, "--to", to)
	if !strings.Contains(printed, "an interrupted move") {
		t.Errorf("the second move printed\n%s", printed)
	}
}

// tryOpen opens a store and closes it again.
func tryOpen(t *testing.T, store string) error {
	t.Helper()
	var db *monotable.DB
	var err error
	if strings.Contains(store, "://") {
		db, err = monotable.OpenStore(t.Context(), store, nil)
	} else {
		db, err = monotable.Open(store, nil)
	}
	if err != nil {
		return err
	}
	return db.Close()
}

func moveClient(s *serverproc.Server, region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: &s.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: &http.Client{},
	})
}

func streamsClient(s *serverproc.Server, region string) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: region, BaseEndpoint: &s.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: &http.Client{},
	})
}

func attribute(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
}

func keySchema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
}

// fillForMove creates a table with every feature, and a backup.
func fillForMove(t *testing.T, s *serverproc.Server, region string) {
	t.Helper()
	c, all, table := moveClient(s, region), &types.Projection{ProjectionType: types.ProjectionTypeAll}, aws.String("moves")
	created, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("pk", types.ScalarAttributeTypeS), attribute("sk", types.ScalarAttributeTypeN), attribute("group", types.ScalarAttributeTypeS),
		},
		KeySchema:              keySchema("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("byGroup"), KeySchema: keySchema("group", "sk"), Projection: all}},
		LocalSecondaryIndexes:  []types.LocalSecondaryIndex{{IndexName: aws.String("within"), KeySchema: keySchema("pk", "group"), Projection: all}},
		StreamSpecification:    &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		Tags:                   []types.Tag{{Key: aws.String("team"), Value: aws.String(region)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: table, TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("exp")},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: table, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range moveItems {
		putForMove(t, c, n)
		if n == moveItems/2 {
			if _, err := c.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: table, BackupName: aws.String("half")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.TagResource(t.Context(), &dynamodb.TagResourceInput{ResourceArn: created.TableDescription.TableArn, Tags: []types.Tag{{Key: aws.String("x"), Value: aws.String("y")}}}); err != nil {
		t.Fatal(err)
	}
}

// putForMove puts an item. Some have keys longer than the limit of a PostgreSQL row, and some expire long after the test.
func putForMove(t *testing.T, c *dynamodb.Client, n int) {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("moves"), Item: map[string]types.AttributeValue{
		"pk":    &types.AttributeValueMemberS{Value: strings.Repeat("x", n%7*300) + fmt.Sprint(n%20)},
		"sk":    &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
		"group": &types.AttributeValueMemberS{Value: strings.Repeat("g", 1+n%3*500)},
		"exp":   &types.AttributeValueMemberN{Value: "4102444800"},
		"text":  &types.AttributeValueMemberB{Value: []byte(strings.Repeat("monotable ", n%50))},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// restoreForMove restores the backup, which has the items before it, and the latest point in time.
func restoreForMove(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	list, err := c.ListBackups(t.Context(), &dynamodb.ListBackupsInput{TableName: aws.String("moves")})
	if err != nil || len(list.BackupSummaries) != 1 {
		t.Fatalf("backups: %+v, %v", list, err)
	}
	_, err = c.RestoreTableFromBackup(t.Context(), &dynamodb.RestoreTableFromBackupInput{
		BackupArn: list.BackupSummaries[0].BackupArn, TargetTableName: aws.String("restored"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.RestoreTableToPointInTime(t.Context(), &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: aws.String("moves"), TargetTableName: aws.String("latest"), UseLatestRestorableTime: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"restored": moveItems/2 + 1, "latest": moveItems + 1} {
		poll(t, "the table is restored", func() bool {
			out, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
			if err != nil {
				t.Fatal(err)
			}
			return out.Table.TableStatus == types.TableStatusActive
		})
		if items := scanned(t, c, table, ""); len(items) != want {
			t.Errorf("the table %s has %d items, want %d", table, len(items), want)
		}
	}
}

// describeAll returns the descriptions of the database by the API and the tools, in a comparable form.
func describeAll(t *testing.T, s *serverproc.Server, binary, dir string) map[string]any {
	t.Helper()
	recorded := map[string]any{"users": run(t, binary, "iam", "user", "list", "--data", dir) + run(t, binary, "iam", "key", "list", "ana", "--data", dir)}
	for _, region := range moveRegions {
		c := moveClient(s, region)
		tables, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tables.TableNames {
			at := region + "/" + name
			described, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
			if err != nil {
				t.Fatal(err)
			}
			recorded[at] = asText(t, described.Table)
			ttl, err := c.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
			if err != nil {
				t.Fatal(err)
			}
			recorded[at+" TTL"] = asText(t, ttl.TimeToLiveDescription)
			tags, err := c.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: described.Table.TableArn})
			if err != nil {
				t.Fatal(err)
			}
			recorded[at+" tags"] = asText(t, tags.Tags)
			recovery, err := c.DescribeContinuousBackups(t.Context(), &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
			if err != nil {
				t.Fatal(err)
			}
			if point := recovery.ContinuousBackupsDescription.PointInTimeRecoveryDescription; point.EarliestRestorableDateTime != nil {
				recorded[at+" earliest point in time"] = point.EarliestRestorableDateTime.String()
			}
			for _, index := range []string{"", "byGroup", "within"} {
				recorded[at+" items "+index] = scanned(t, c, name, index)
			}
			if described.Table.LatestStreamArn != nil {
				recorded[at+" records"] = streamed(t, s, region, *described.Table.LatestStreamArn)
			}
		}
		backups, err := c.ListBackups(t.Context(), &dynamodb.ListBackupsInput{})
		if err != nil {
			t.Fatal(err)
		}
		recorded[region+" backups"] = asText(t, backups.BackupSummaries)
	}
	return recorded
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scanned returns the items of a table or index, in the order of a scan.
func scanned(t *testing.T, c *dynamodb.Client, table, index string) (items []string) {
	t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(100)}
	if index != "" {
		in.IndexName = &index
	}
	for pages := dynamodb.NewScanPaginator(c, in); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			items = append(items, asText(t, item))
		}
	}
	return items
}

// streamed returns the shards of a stream and their records.
func streamed(t *testing.T, s *serverproc.Server, region, arn string) (recorded []string) {
	t.Helper()
	c := streamsClient(s, region)
	stream, err := c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range stream.StreamDescription.Shards {
		recorded = append(recorded, asText(t, shard))
		got, err := c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records(t, c, got.ShardIterator) {
			recorded = append(recorded, asText(t, r))
		}
	}
	return recorded
}

// records reads from an iterator until there are no more records.
func records(t *testing.T, c *dynamodbstreams.Client, iterator *string) (list []streamtypes.Record) {
	t.Helper()
	for iterator != nil {
		page, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: aws.Int32(100)})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Records) == 0 {
			break
		}
		list, iterator = append(list, page.Records...), page.NextShardIterator
	}
	return list
}

// iteratorAfter returns the position of a consumer after a number of records.
func iteratorAfter(t *testing.T, s *serverproc.Server, region string, n int32) *string {
	t.Helper()
	c := streamsClient(s, region)
	list, err := c.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: aws.String("moves")})
	if err != nil || len(list.Streams) != 1 {
		t.Fatalf("streams: %+v, %v", list, err)
	}
	arn := list.Streams[0].StreamArn
	stream, err := c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: stream.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: got.ShardIterator, Limit: &n})
	if err != nil || len(page.Records) != int(n) {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	return page.NextShardIterator
}

// recordsAt returns the number of records that a consumer reads from an iterator; each must be read once.
func recordsAt(t *testing.T, s *serverproc.Server, region string, iterator *string) int {
	t.Helper()
	var numbers []string
	for _, r := range records(t, streamsClient(s, region), iterator) {
		numbers = append(numbers, *r.Dynamodb.SequenceNumber)
	}
	slices.Sort(numbers)
	return len(slices.Compact(numbers))
}
