package table_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// recorder records the order in which partitions are queried, and the number of concurrent requests.
type recorder struct {
	table.Client
	partitions []string
	running    atomic.Int64
	most       int64
}

func (r *recorder) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	r.most = max(r.most, r.running.Add(1))
	defer r.running.Add(-1)
	partition := ""
	for _, name := range slices.Sorted(maps.Keys(in.ExpressionAttributeValues)) {
		partition += name + plainText(in.ExpressionAttributeValues[name])
	}
	r.partitions = append(r.partitions, partition)
	return r.Client.Query(ctx, in, o...)
}

// TestSequential tests that a sequential DB queries the partitions of a sharded key one after another, always in the same
// order, with the same results.
func TestSequential(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(30)...)
	want, err := s.db.List(t.Context(), s.spread(false), table.Input{})
	if err != nil {
		t.Fatal(err)
	}
	var orders [2][]string
	for i := range orders {
		r := &recorder{Client: s.client}
		got, err := s.open(r, table.Config{Sequential: true}).List(t.Context(), s.spread(false), table.Input{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ids(want, "total"), ids(got, "total")); diff != "" {
			t.Error(diff)
		}
		if r.most != 1 || len(r.partitions) < 12 {
			t.Errorf("%d requests at once, %d in all; want 1, and at least one for each of 12 shards", r.most, len(r.partitions))
		}
		orders[i] = r.partitions
	}
	if diff := cmp.Diff(orders[0], orders[1]); diff != "" {
		t.Errorf("the partitions are asked in two orders:\n%s", diff)
	}
}

// TestGivenIDs tests that IDs come from Config.NewID if it is set.
func TestGivenIDs(t *testing.T) {
	s := newStore(t)
	var kinds []table.Kind
	db := s.open(s.client, table.Config{NewID: func(k table.Kind) string {
		kinds = append(kinds, k)
		return fmt.Sprintf("id-%d", len(kinds))
	}})
	fresh := table.Term{Kind: table.NewIDTerm}
	w := &table.Write{Pattern: "Make", Steps: []table.Step{{
		Action: table.Create, Entity: s.order, Set: []table.Assignment{{Path: []string{"orderId"}, Value: []table.Term{fresh}}},
	}}}
	for n := range 2 {
		v := anOrder(n)
		delete(v, "orderId")
		out, err := db.Write(t.Context(), w, table.Input{Values: v})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := ids([]table.Values{out.Items[0][0]}, "orderId"), []string{fmt.Sprintf("id-%d", n+1)}; !slices.Equal(got, want) {
			t.Errorf("the order has the id %v; want %v", got, want)
		}
	}
	if want := []table.Kind{"id", "id"}; !slices.Equal(kinds, want) {
		t.Errorf("ids of the kinds %v were asked for; want %v", kinds, want)
	}
}
