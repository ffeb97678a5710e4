package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/bucket/folder"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

// scriptRegion is a Region that a script's database serves.
type scriptRegion struct {
	name   string
	store  kv.Store
	engine *engine.Engine
}

// serve opens a Region.
func (s *script) serve(t *testing.T, name string) {
	t.Helper()
	r := &scriptRegion{name: name}
	var err error
	if len(s.served) == 0 {
		r.store = s.open()
	} else if r.store, err = part.Open(t.Context(), s.served[0].store, name); err != nil {
		t.Fatal(err)
	}
	buckets, err := folder.Open(s.buckets)
	if err != nil {
		t.Fatal(err)
	}
	r.engine, err = engine.Open(t.Context(), r.store, engine.Options{
		Now:         func() time.Time { return time.Unix(0, s.now.Load()).UTC() },
		Rand:        &counting{},
		TTLInterval: -1,
		Buckets:     buckets,
		Region:      name,
		Regions:     s.all,

		StreamShardRotation: -1,

		OnDeliveries: func() {},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.served = append(s.served, r)
}

// enter makes a Region the script's current one.
func (s *script) enter(t *testing.T, name string) {
	t.Helper()
	named := func(r *scriptRegion) bool { return r.name == name }
	if !slices.ContainsFunc(s.served, named) {
		s.serve(t, name)
	}
	r := s.served[slices.IndexFunc(s.served, named)]
	s.store, s.engine = r.store, r.engine
}

// replicas prints the status, the other replicas and the items of a table in each Region.
func (s *script) replicas(ctx context.Context, table string) (string, error) {
	var b strings.Builder
	for _, r := range s.served {
		described, err := r.engine.DescribeTable(ctx, &api.DescribeTableInput{TableName: &table})
		if isMissing(err) {
			fmt.Fprintf(&b, "%s: none\n", r.name)
			continue
		}
		if err != nil {
			return "", err
		}
		d := described.Table
		fmt.Fprintf(&b, "%s: %s", r.name, *d.TableStatus)
		if d.MultiRegionConsistency != nil {
			fmt.Fprintf(&b, ", %s", *d.MultiRegionConsistency)
		}
		for _, other := range d.Replicas {
			fmt.Fprintf(&b, ", %s %s", *other.RegionName, *other.ReplicaStatus)
		}
		for _, w := range d.GlobalTableWitnesses {
			fmt.Fprintf(&b, ", witness %s %s", *w.RegionName, *w.WitnessStatus)
		}
		b.WriteString("\n")
		if err := printItems(ctx, &b, r.engine, table); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func isMissing(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "ResourceNotFoundException")
}

// printItems prints the items of a table, sorted as text.
func printItems(ctx context.Context, b *strings.Builder, e *engine.Engine, table string) error {
	found, err := e.Scan(ctx, &api.ScanInput{TableName: &table, ConsistentRead: new(true)})
	if isMissing(err) {
		return nil // it is being deleted
	}
	if err != nil {
		return err
	}
	var lines []string
	for _, stored := range found.Items {
		lines = append(lines, printItem(stored))
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
	return nil
}
