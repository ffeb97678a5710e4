package sdk

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestBackups creates backups, restores them and restores to points in time with the SDK for Go, across a restart of the server.
func TestBackups(t *testing.T) {
	t.Parallel()
	binary, dir := serverproc.Build(t), t.TempDir()
	server := serverproc.Start(t, binary, "--data", dir)
	b := &backups{t, client(server)}
	b.createTable()
	b.put("1", "before")
	b.turnRecoveryOn()
	arn := b.backUp()
	since := b.waitForNextSecond()
	b.put("1", "after")
	b.put("2", "after")
	b.wantRefusals(arn)

	server.Stop(t)
	b.client = client(serverproc.Start(t, binary, "--data", dir))
	b.restoreBackup(arn)
	b.wantItems("FromBackup", map[string]string{"1": "before"})
	b.restoreTo(since)
	b.wantItems("ToInstant", map[string]string{"1": "before"})
	b.wantItems("Source", map[string]string{"1": "after", "2": "after"})
	b.deleteTable()
	b.wantItems("FromDeleted", map[string]string{"1": "after", "2": "after"})
}

func client(s *serverproc.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &s.Endpoint, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// backups has the client of a test and its steps.
type backups struct {
	*testing.T
	client *dynamodb.Client
}

func (b *backups) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *backups) createTable() {
	b.Helper()
	_, err := b.client.CreateTable(b.Context(), &dynamodb.CreateTableInput{
		TableName: new("Source"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: new("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: new("is"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: new("pk"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  new("byIs"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: new("is"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	b.must(err)
	b.waitFor("Source")
}

// waitFor waits until a table is ACTIVE, like programs do.
func (b *backups) waitFor(table string) {
	b.Helper()
	waiter := dynamodb.NewTableExistsWaiter(b.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
	b.must(waiter.Wait(b.Context(), &dynamodb.DescribeTableInput{TableName: &table}, time.Minute))
}

func (b *backups) put(pk, is string) {
	b.Helper()
	_, err := b.client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: new("Source"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "is": &types.AttributeValueMemberS{Value: is},
	}})
	b.must(err)
}

func (b *backups) turnRecoveryOn() {
	b.Helper()
	out, err := b.client.UpdateContinuousBackups(b.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName: new("Source"),
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: new(true), RecoveryPeriodInDays: new(int32(7)),
		},
	})
	b.must(err)
	d := out.ContinuousBackupsDescription
	p := d.PointInTimeRecoveryDescription
	if d.ContinuousBackupsStatus != types.ContinuousBackupsStatusEnabled || p.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled ||
		*p.RecoveryPeriodInDays != 7 || p.EarliestRestorableDateTime.Sub(*p.LatestRestorableDateTime) > time.Second {
		b.Errorf("continuous backups are %+v, %+v", d, p)
	}
}

// backUp creates a backup, lists it and describes it.
func (b *backups) backUp() (arn string) {
	b.Helper()
	created, err := b.client.CreateBackup(b.Context(), &dynamodb.CreateBackupInput{TableName: new("Source"), BackupName: new("first")})
	b.must(err)
	listed, err := b.client.ListBackups(b.Context(), &dynamodb.ListBackupsInput{
		TableName: new("Source"), TimeRangeLowerBound: created.BackupDetails.BackupCreationDateTime, Limit: new(int32(1)),
	})
	b.must(err)
	if len(listed.BackupSummaries) != 1 || *listed.BackupSummaries[0].BackupArn != *created.BackupDetails.BackupArn {
		b.Fatalf("%+v is listed of %+v", listed.BackupSummaries, created.BackupDetails)
	}
	arn = *listed.BackupSummaries[0].BackupArn
	described, err := b.client.DescribeBackup(b.Context(), &dynamodb.DescribeBackupInput{BackupArn: &arn})
	b.must(err)
	d := described.BackupDescription
	if d.BackupDetails.BackupStatus != types.BackupStatusAvailable || *d.SourceTableDetails.ItemCount != 1 ||
		len(d.SourceTableFeatureDetails.GlobalSecondaryIndexes) != 1 {
		b.Errorf("the backup is %+v of %+v", d.BackupDetails, d.SourceTableDetails)
	}
	return arn
}

// waitForNextSecond waits until a later whole second can be restored.
func (b *backups) waitForNextSecond() time.Time {
	b.Helper()
	second := time.Now().Truncate(time.Second).Add(time.Second)
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for {
		out, err := b.client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: new("Source")})
		b.must(err)
		if !out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime.Before(second) {
			return second
		}
	}
}

// wantRefusals checks that rejected requests return the errors that programs check for.
func (b *backups) wantRefusals(arn string) {
	b.Helper()
	ctx, missing := b.Context(), arn[:len(arn)-8]+"00000000"
	_, err := b.client.CreateBackup(ctx, &dynamodb.CreateBackupInput{TableName: new("Missing"), BackupName: new("first")})
	wantError[*types.TableNotFoundException](b, err)
	_, err = b.client.DescribeBackup(ctx, &dynamodb.DescribeBackupInput{BackupArn: &missing})
	wantError[*types.BackupNotFoundException](b, err)
	_, err = b.client.DeleteBackup(ctx, &dynamodb.DeleteBackupInput{BackupArn: &missing})
	wantError[*types.BackupNotFoundException](b, err)
	_, err = b.client.RestoreTableFromBackup(ctx, &dynamodb.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: new("Source")})
	wantError[*types.TableAlreadyExistsException](b, err)
	_, err = b.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: new("Source"), TargetTableName: new("Other"), RestoreDateTime: new(time.Now().Add(time.Hour)),
	})
	wantError[*types.InvalidRestoreTimeException](b, err)
}

func wantError[E error](b *backups, err error) {
	b.Helper()
	if _, ok := errors.AsType[E](err); !ok {
		b.Errorf("%v, want a %T", err, *new(E))
	}
}

func (b *backups) restoreBackup(arn string) {
	b.Helper()
	_, err := b.client.RestoreTableFromBackup(b.Context(), &dynamodb.RestoreTableFromBackupInput{
		BackupArn: &arn, TargetTableName: new("FromBackup"), GlobalSecondaryIndexOverride: []types.GlobalSecondaryIndex{},
	})
	b.must(err)
	b.waitFor("FromBackup")
	_, err = b.client.DeleteBackup(b.Context(), &dynamodb.DeleteBackupInput{BackupArn: &arn})
	b.must(err)
}

func (b *backups) restoreTo(at time.Time) {
	b.Helper()
	begun, err := b.client.RestoreTableToPointInTime(b.Context(), &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: new("Source"), TargetTableName: new("ToInstant"), RestoreDateTime: &at,
	})
	b.must(err)
	if s := begun.TableDescription.RestoreSummary; s == nil || !*s.RestoreInProgress || !s.RestoreDateTime.Equal(at) {
		b.Errorf("the table is being restored as %+v", s)
	}
	b.waitFor("ToInstant")
	out, err := b.client.DescribeTable(b.Context(), &dynamodb.DescribeTableInput{TableName: new("ToInstant")})
	b.must(err)
	if s := out.Table.RestoreSummary; s != nil || len(out.Table.GlobalSecondaryIndexes) != 1 {
		b.Errorf("the table is restored as %+v, with %d indexes", s, len(out.Table.GlobalSecondaryIndexes))
	}
}

// deleteTable deletes the source table, and restores its system backup.
func (b *backups) deleteTable() {
	b.Helper()
	_, err := b.client.DeleteTable(b.Context(), &dynamodb.DeleteTableInput{TableName: new("Source")})
	b.must(err)
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for {
		out, err := b.client.ListBackups(ctx, &dynamodb.ListBackupsInput{BackupType: types.BackupTypeFilterSystem})
		b.must(err)
		left := out.BackupSummaries
		if len(left) != 1 || *left[0].BackupName != "Source$DeletedTableBackup" || left[0].BackupExpiryDateTime == nil {
			b.Fatalf("the deleted table leaves %+v", left)
		}
		if left[0].BackupStatus == types.BackupStatusAvailable {
			_, err := b.client.RestoreTableFromBackup(ctx, &dynamodb.RestoreTableFromBackupInput{
				BackupArn: left[0].BackupArn, TargetTableName: new("FromDeleted"),
			})
			b.must(err)
			b.waitFor("FromDeleted")
			return
		}
	}
}

func (b *backups) wantItems(table string, want map[string]string) {
	b.Helper()
	out, err := b.client.Scan(b.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: new(true)})
	b.must(err)
	got := map[string]string{}
	for _, item := range out.Items {
		pk, _ := item["pk"].(*types.AttributeValueMemberS)
		is, _ := item["is"].(*types.AttributeValueMemberS)
		if pk != nil && is != nil {
			got[pk.Value] = is.Value
		}
	}
	if len(got) != len(want) || len(out.Items) != len(want) {
		b.Errorf("%s holds %s, want %s", table, quoted(got), quoted(want))
		return
	}
	for pk, is := range want {
		if got[pk] != is {
			b.Errorf("%s holds %s, want %s", table, quoted(got), quoted(want))
		}
	}
}

func quoted(items map[string]string) (text string) {
	for pk, is := range items {
		text += " " + pk + "=" + strconv.Quote(is)
	}
	return text
}
