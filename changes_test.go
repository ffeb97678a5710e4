package monotable_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

// A table is followed in the process, with no stream on it.
func ExampleDB_Changes() {
	ctx := context.Background()
	db, err := monotable.OpenMemory(nil)
	check(err)
	defer db.Close()
	createOrders(ctx, db.Client())

	changes := db.Changes(ctx, "orders", monotable.FromNow)
	put := func(total string) {
		_, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order("ana", total)})
		check(err)
	}
	put("12.50")
	put("13")
	for change, err := range changes {
		check(err)
		fmt.Println(change.Kind, change.New["total"].(*types.AttributeValueMemberN).Value)
		if change.Kind == monotable.Modify {
			break
		}
	}
	// Output:
	// INSERT 12.5
	// MODIFY 13
}

func order(customer, total string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: customer},
		"order":    &types.AttributeValueMemberS{Value: "1"},
		"total":    &types.AttributeValueMemberN{Value: total},
	}
}

// TestChangesCarryAllTypes: Changes returns an item with all types like GetItem.
func TestChangesCarryAllTypes(t *testing.T) {
	db := monotabletest.New(t)
	createOrders(t.Context(), db.Client())
	item := order("ana", "1")
	maps.Copy(item, map[string]types.AttributeValue{
		"b": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "bool": &types.AttributeValueMemberBOOL{Value: true},
		"null": &types.AttributeValueMemberNULL{Value: true}, "ss": &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2.5"}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: ""}}},
		}},
		"empty": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
	})
	client := db.Client()
	changes := db.Changes(t.Context(), "orders", monotable.FromBeginning)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
		t.Fatal(err)
	}
	key := order("ana", "1")
	delete(key, "total")
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for change, err := range changes {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(change.New, got.Item) || !reflect.DeepEqual(change.Keys, key) || change.Old != nil ||
			change.Kind != monotable.Insert || change.TTL || time.Since(change.Time) > time.Minute {
			t.Errorf("got %+v, want the item %v", change, got.Item)
		}
		break
	}
}

// TestChangesErrors can be distinguished with errors.Is.
func TestChangesErrors(t *testing.T) {
	db := monotabletest.New(t)
	createOrders(t.Context(), db.Client())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx   context.Context //nolint:containedctx // a row of the table
		table string
		from  monotable.Position
		want  error
	}{
		{t.Context(), "nowhere", monotable.FromBeginning, monotable.ErrTableNotFound},
		{t.Context(), "orders", 1 << 62, monotable.ErrAhead},
		{t.Context(), "orders", 1 << 40, monotable.ErrTrimmed}, // the table had no follower then
		{over, "orders", monotable.FromBeginning, context.Canceled},
	} {
		for _, err := range db.Changes(c.ctx, c.table, c.from) {
			if !errors.Is(err, c.want) {
				t.Errorf("%s from %d: %v, want %v", c.table, c.from, err, c.want)
			}
			if err == nil {
				break
			}
		}
	}
	ended := make(chan error, 1)
	changes := db.Changes(t.Context(), "orders", monotable.FromNow)
	go func() {
		for _, err := range changes {
			ended <- err
		}
	}()
	if _, err := db.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, monotable.ErrTableDeleted) {
		t.Errorf("ended with %v, want %v", err, monotable.ErrTableDeleted)
	}
}

// TestChangesAcrossRestarts follows a table that is written by four writers, closed and reopened: with the position of its last
// change each run continues where the previous one ended.
func TestChangesAcrossRestarts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dir := t.TempDir()
	const writers, each, runs = 4, 25, 3
	seen := map[string]int{} // the last version of each item
	position := monotable.FromBeginning
	for run := range runs {
		db, err := monotable.Open(dir, &monotable.Options{Durability: monotable.DurabilityNone})
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			createOrders(t.Context(), db.Client())
		}
		var following sync.WaitGroup
		changes := db.Changes(t.Context(), "orders", position)
		following.Go(func() { position = followVersions(t, changes, position, seen, writers*each) })
		var writing sync.WaitGroup
		for writer := range writers {
			random := rand.New(rand.NewPCG(seed, uint64(run*writers+writer)))
			writing.Go(func() { writeVersions(t, db.Client(), random, writer, run*each, each) })
		}
		writing.Wait()
		following.Wait()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for writer := range writers {
		if got := seen[fmt.Sprint(writer)]; got != runs*each {
			t.Errorf("writer %d: saw version %d last, want %d", writer, got, runs*each)
		}
	}
}

// writeVersions writes the versions after from of one item.
func writeVersions(t *testing.T, client *dynamodb.Client, random *rand.Rand, writer, from, n int) {
	t.Helper()
	for version := from + 1; version <= from+n; version++ {
		var err error
		if item := order(fmt.Sprint(writer), strconv.Itoa(version)); random.IntN(2) == 0 {
			_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item})
		} else {
			_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("orders"), Item: item}}},
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// followVersions reads n changes and returns the position of the last; each must be its item's next version.
func followVersions(t *testing.T, changes iter.Seq2[monotable.Change, error], from monotable.Position, seen map[string]int, n int) monotable.Position {
	t.Helper()
	for change, err := range changes {
		if err != nil {
			t.Error(err)
			return from
		}
		if change.Sequence <= from && from != monotable.FromBeginning {
			t.Errorf("%d comes after %d", change.Sequence, from)
		}
		from = change.Sequence
		writer := change.Keys["customer"].(*types.AttributeValueMemberS).Value
		version, err := strconv.Atoi(change.New["total"].(*types.AttributeValueMemberN).Value)
		if err != nil || version != seen[writer]+1 {
			t.Errorf("writer %s: version %d after %d, %v", writer, version, seen[writer], err)
		}
		seen[writer] = version
		if n--; n == 0 {
			return from
		}
	}
	return from
}
