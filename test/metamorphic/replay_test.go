package metamorphic

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable"
)

// looksBack compares what is recorded of a table's past with the table: the replay of its change log, and a
// restored backup.
func (s *subject) looksBack(t *testing.T, seed uint64) {
	t.Helper()
	want := s.contents(t, s.table)
	if diff := cmp.Diff(want, s.replayed(t)); diff != "" {
		t.Errorf("seed %d, %q: the change log replayed from empty is not the table (-table/+replayed):\n%s", seed, s.variant.name, diff)
	}
	if diff := cmp.Diff(want, s.contents(t, s.restored(t))); diff != "" {
		t.Errorf("seed %d, %q: the restored backup is not the table (-table/+restored):\n%s", seed, s.variant.name, diff)
	}
}

// contents are the items of a table by key.
func (s *subject) contents(t *testing.T, table string) map[string]string {
	t.Helper()
	items := map[string]string{}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			items[keyOf(it)] = show(it)
		}
	}
	return items
}

func keyOf(it attributes) string { return show(attributes{"pk": it["pk"], "sk": it["sk"]}) }

// replayed replays the change log from its beginning. Each change must start where the previous one of the item
// ended. An item written now marks the end.
func (s *subject) replayed(t *testing.T) map[string]string {
	t.Helper()
	end := attributes{"pk": &types.AttributeValueMemberS{Value: "the end"}, "sk": &types.AttributeValueMemberN{Value: "0"}}
	if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: end}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	items := map[string]string{}
	for change, err := range s.db.Changes(ctx, s.table, monotable.FromBeginning) {
		if err != nil {
			t.Fatal(err)
		}
		key := keyOf(change.Keys)
		if key == keyOf(end) {
			break
		}
		before, there := items[key]
		if (change.Old != nil) != there || there && before != show(change.Old) {
			t.Fatalf("change %d of %s says that it replaced %v, and it is %q", change.Sequence, key, change.Old, before)
		}
		if change.Kind == monotable.Remove {
			delete(items, key)
		} else {
			items[key] = show(change.New)
		}
	}
	if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &s.table, Key: end}); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(items)
}

// restored backs up the table and restores it, and returns the new table's name.
func (s *subject) restored(t *testing.T) string {
	t.Helper()
	backup, err := s.client.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: &s.table, BackupName: aws.String("history")})
	if err != nil {
		t.Fatal(err)
	}
	name := s.table + "-restored"
	if _, err := s.client.RestoreTableFromBackup(t.Context(), &dynamodb.RestoreTableFromBackupInput{
		TargetTableName: &name, BackupArn: backup.BackupDetails.BackupArn,
	}); err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 5*time.Millisecond, 50*time.Millisecond
	})
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return name
}
