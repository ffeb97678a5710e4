package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/test/internal/serverproc"
)

const (
	bankTable = "bank"
	accounts  = 100
	deposit   = 1000 // initial balance of each account; transfers keep the sum
)

// TestKillDuringBackupsAndRestores kills the server while money moves between accounts, backups of the table are created, restored and
// deleted, point-in-time restores run, and the shards of its stream are rotated every second. Afterwards nothing is incomplete:
// every started restore ends, each restored table has all the money, and replaying the stream from its beginning, through all its
// shards, yields the table.
func TestKillDuringBackupsAndRestores(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	binary, dir := serverproc.Build(t), t.TempDir()
	start := func() (*serverproc.Server, *dynamodb.Client) {
		server := serverproc.Start(t, binary, "--data", dir, "--log-level", "warn", "--stream-shards", "2", "--stream-shard-rotation", "1s")
		return server, connect(server)
	}
	server, client := start()
	stream := createBank(t, client)
	for round := range *killsFlag {
		work, end := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		for i := range 4 {
			choice := rand.New(rand.NewPCG(seed, uint64(round*10+i+1)))
			busy.Go(func() { transfer(work, client, choice) })
		}
		busy.Go(func() { backupAndRestore(work, client, round) })
		<-time.After(time.Duration(300+random.IntN(1700)) * time.Millisecond)
		server.Kill(t)
		end()
		busy.Wait()
		verify(t, binary, dir)
		server, client = start()
		t.Logf("kill %d: %s", round+1, whole(t, client))
	}
	replays(t, server, client, stream)
	server.Stop(t)
	verify(t, binary, dir)
}

func account(i int) attributes {
	return attributes{"pk": &types.AttributeValueMemberS{Value: "account " + strconv.Itoa(i)}}
}

func createBank(t *testing.T, client *dynamodb.Client) (streamARN string) {
	t.Helper()
	out, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(bankTable), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("money"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("byMoney"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("money"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range accounts {
		it := account(i)
		it["money"] = &types.AttributeValueMemberN{Value: strconv.Itoa(deposit)}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(bankTable), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String(bankTable),
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true),
		},
	}); err != nil {
		t.Fatal(err)
	}
	awaitSecond(t, client, time.Now())
	return *out.TableDescription.LatestStreamArn
}

// awaitSecond waits until the table can be restored to a second after a time: an earlier second might lack some deposits.
func awaitSecond(t *testing.T, client *dynamodb.Client, after time.Time) {
	t.Helper()
	for look := time.NewTicker(20 * time.Millisecond); ; <-look.C {
		out, err := client.DescribeContinuousBackups(t.Context(), &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String(bankTable)})
		if err != nil {
			t.Fatal(err)
		}
		if latest := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime; latest != nil && latest.After(after) {
			return
		}
	}
}

// transfer moves money between accounts, two in a transaction, until the server has exited.
func transfer(ctx context.Context, client *dynamodb.Client, random *rand.Rand) {
	for ctx.Err() == nil {
		from := random.IntN(accounts)
		to := (from + 1 + random.IntN(accounts-1)) % accounts
		add := func(i, n int) types.TransactWriteItem {
			return types.TransactWriteItem{Update: &types.Update{
				TableName: aws.String(bankTable), Key: account(i), UpdateExpression: aws.String("ADD money :n"),
				ExpressionAttributeValues: attributes{":n": &types.AttributeValueMemberN{Value: strconv.Itoa(n)}},
			}}
		}
		n := 1 + random.IntN(50)
		// A transfer that is canceled, or interrupted by the kill, moves either nothing or everything; the sum shows that.
		_, _ = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{add(from, -n), add(to, n)}})
	}
}

// backupAndRestore creates backups, restores them and the latest point in time, and deletes backups, until the server has exited.
func backupAndRestore(ctx context.Context, client *dynamodb.Client, round int) {
	for n := 0; ctx.Err() == nil; n++ {
		created, err := client.CreateBackup(ctx, &dynamodb.CreateBackupInput{TableName: aws.String(bankTable), BackupName: aws.String("backup")})
		if err != nil {
			return
		}
		name := fmt.Sprintf("%d-%d", round, n)
		_, err = client.RestoreTableFromBackup(ctx, &dynamodb.RestoreTableFromBackupInput{
			TargetTableName: aws.String("backup-" + name), BackupArn: created.BackupDetails.BackupArn,
		})
		if err != nil {
			return
		}
		_, err = client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: aws.String(bankTable), TargetTableName: aws.String("moment-" + name), UseLatestRestorableTime: aws.Bool(true),
		})
		if err != nil {
			return
		}
		_, _ = client.DeleteBackup(ctx, &dynamodb.DeleteBackupInput{BackupArn: created.BackupDetails.BackupArn}) // may be in use
	}
}

// whole waits until all restores have ended, and adds up the money in each table. Then it removes the restored tables.
func whole(t *testing.T, client *dynamodb.Client) (listing string) {
	t.Helper()
	restored := 0
	for pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range page.TableNames {
			active := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
				o.MinDelay, o.MaxDelay = 10*time.Millisecond, 100*time.Millisecond
			})
			if err := active.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
				t.Fatalf("table %s: %v", name, err)
			}
			expectMoney(t, client, name)
			if name == bankTable {
				continue
			}
			restored++
			if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fmt.Sprintf("%d restored tables are whole", restored)
}

func expectMoney(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	for _, index := range []*string{nil, aws.String("byMoney")} {
		sum, items := 0, 0
		for pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, IndexName: index}); pages.HasMorePages(); {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatalf("table %s: %v", table, err)
			}
			for _, it := range page.Items {
				sum += money(t, it["money"].(*types.AttributeValueMemberN).Value)
				items++
			}
		}
		if sum != accounts*deposit || items != accounts {
			t.Errorf("table %s %s: %d in %d accounts, want %d in %d", table, aws.ToString(index), sum, items, accounts*deposit, accounts)
		}
	}
}

func money(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// replays reads the stream from its beginning and compares the result of its records with the table. The old image of each record
// must equal the new image of the account's previous record.
func replays(t *testing.T, server *serverproc.Server, client *dynamodb.Client, stream string) {
	t.Helper()
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.Endpoint), Credentials: aws.AnonymousCredentials{},
	})
	var mu sync.Mutex
	balance, records, shards := map[string]string{}, 0, map[string]bool{}
	reader, err := consumer.New(streams, stream, func(_ context.Context, batch consumer.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		shards[batch.Shard] = true
		for _, r := range batch.Records {
			pk := r.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value
			old := ""
			if r.Dynamodb.OldImage != nil {
				old = r.Dynamodb.OldImage["money"].(*streamtypes.AttributeValueMemberN).Value
			}
			if old != balance[pk] {
				return fmt.Errorf("record %s of %s begins at %q, and the one before it ended at %q", *r.Dynamodb.SequenceNumber, pk, old, balance[pk])
			}
			balance[pk] = r.Dynamodb.NewImage["money"].(*streamtypes.AttributeValueMemberN).Value
			records++
		}
		return nil
	}, consumer.Options{MaxAttempts: 1, PollInterval: 10 * time.Millisecond, DiscoverInterval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := reader.CatchUp(ctx); err != nil {
		t.Fatal(errors.Join(err, ctx.Err()))
	}
	var wrong []string
	for pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(bankTable)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			pk, has := it["pk"].(*types.AttributeValueMemberS).Value, it["money"].(*types.AttributeValueMemberN).Value
			if balance[pk] != has {
				wrong = append(wrong, fmt.Sprintf("%s has %s, by the stream %q", pk, has, balance[pk]))
			}
		}
	}
	t.Logf("%d records in %d shards", records, len(shards))
	if len(wrong) > 0 || len(balance) != accounts || len(shards) < 4 {
		t.Errorf("the stream tells of %d accounts in %d shards; %s", len(balance), len(shards), strings.Join(wrong, "; "))
	}
}
