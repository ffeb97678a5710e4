package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

var epoch = time.UnixMilli(1_000_000)

func open(t *testing.T, store kv.Store) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), store, "us-east-1", "000000000000", func() time.Time { return epoch }, notFollowed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func notFollowed(keyenc.TableID) bool { return false }

func music() *catalog.Descriptor {
	return &catalog.Descriptor{
		Name:       "Music",
		UUID:       "u",
		Created:    5,
		Attributes: []catalog.Attribute{{Name: "pk", Type: "S"}, {Name: "sk", Type: "N"}, {Name: "g", Type: "B"}},
		Keys:       []catalog.KeyElement{{Name: "pk"}, {Name: "sk", Range: true}},
		Indexes: []catalog.IndexDescriptor{
			{ID: 1, Name: "all", Keys: []catalog.KeyElement{{Name: "g"}}, Projection: catalog.ProjectAll},
			{
				ID: 3, Name: "some", Keys: []catalog.KeyElement{{Name: "g"}, {Name: "pk"}, {Name: "sk", Range: true}},
				Projection: catalog.ProjectInclude, Included: []string{"z", "a"}, State: catalog.IndexBackfilling,
			},
			{
				ID: 4, Name: "local", Local: true, Keys: []catalog.KeyElement{{Name: "pk"}, {Name: "g", Range: true}},
				Projection: catalog.ProjectKeysOnly, State: catalog.IndexDeleting,
			},
		},
		LastIndexID: 4,
		Billing:     catalog.Billing{OnDemand: true, BecameOnDemand: 5},
	}
}

// TestLookup derives the data plane's view, from the cache and by another catalog on the same store.
func TestLookup(t *testing.T) {
	store := memkv.New()
	c := open(t, store)
	if err := c.Create(t.Context(), music()); err != nil {
		t.Fatal(err)
	}
	pk, sk := catalog.KeyAttribute{Name: "pk", Kind: attr.KindString}, catalog.KeyAttribute{Name: "sk", Kind: attr.KindNumber}
	g := catalog.KeyAttribute{Name: "g", Kind: attr.KindBinary}
	want := &catalog.Table{
		ID: 1, Name: "Music", Version: 1, PK: pk, SK: sk, OnDemand: true,
		Indexes: []*catalog.Index{
			{ID: 1, Name: "all", PK: []catalog.KeyAttribute{g}, All: true, Readable: true, Maintained: true},
			{
				ID: 3, Name: "some", PK: []catalog.KeyAttribute{g, pk}, SK: []catalog.KeyAttribute{sk},
				Projected: []string{"a", "g", "pk", "sk", "z"}, Maintained: true,
			},
			{
				ID: 4, Name: "local", Kind: catalog.Local, PK: []catalog.KeyAttribute{pk}, SK: []catalog.KeyAttribute{g},
				Projected: []string{"g", "pk", "sk"},
			},
		},
	}
	for _, c := range []*catalog.Catalog{c, open(t, store)} {
		for _, name := range []string{"Music", "arn:aws:dynamodb:us-east-1:000000000000:table/Music"} {
			got, err := c.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			shown := *got
			shown.Descriptor = nil
			if diff := cmp.Diff(want, &shown, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".stored" || p.Last().String() == ".versionKey" }, cmp.Ignore())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestStoredForm pins the form that a table's definition is stored in: a change here needs a new format.
func TestStoredForm(t *testing.T) {
	store := memkv.New()
	d := music()
	d.TTL = catalog.TTL{Attribute: "exp", State: catalog.TTLEnabled, Changed: 7}
	d.Stream = catalog.Stream{Enabled: true, View: "KEYS_ONLY", Label: "l"}
	d.Tags = []catalog.Tag{{Key: "k", Value: "v"}}
	d.OnDemand, d.Warm = &catalog.Maxima{Read: -1, Write: 2}, &catalog.Units{Read: 3, Write: 4}
	d.Class, d.ClassChanged, d.DeletionBarred = "STANDARD", 8, true
	d.Encryption.KeyARN = "arn"
	d.PITR = catalog.PITR{Enabled: true, Days: 9, Since: 10}
	d.Followed = 13
	d.Restored = &catalog.Restored{BackupARN: "b", TableARN: "t", At: 12, InProgress: true}
	if err := open(t, store).Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	got, err := store.Get(t.Context(), keyenc.TableDescriptor("Music"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":2,"id":1,"version":1,"name":"Music","uuid":"u","created":5,` +
		`"attributes":[{"name":"pk","type":"S"},{"name":"sk","type":"N"},{"name":"g","type":"B"}],` +
		`"keys":[{"name":"pk"},{"name":"sk","range":true}],` +
		`"indexes":[{"id":1,"name":"all","keys":[{"name":"g"}],"projection":"ALL"},` +
		`{"id":3,"name":"some","keys":[{"name":"g"},{"name":"pk"},{"name":"sk","range":true}],"projection":"INCLUDE",` +
		`"included":["z","a"],"state":"backfilling"},` +
		`{"id":4,"name":"local","local":true,"keys":[{"name":"pk"},{"name":"g","range":true}],"projection":"KEYS_ONLY",` +
		`"state":"deleting"}],"lastIndexID":4,` +
		`"billing":{"onDemand":true,"becameOnDemand":5},"onDemand":{"read":-1,"write":2},"warm":{"read":3,"write":4},` +
		`"stream":{"enabled":true,"view":"KEYS_ONLY","label":"l"},"ttl":{"attribute":"exp","state":"enabled","changed":7},` +
		`"pitr":{"enabled":true,"days":9,"since":10},"log":{"keys":1,"old":1},"followed":13,` +
		`"restored":{"backupARN":"b","tableARN":"t","at":12,"inProgress":true},` +
		`"encryption":{"keyARN":"arn"},"class":"STANDARD","classChanged":8,"deletionBarred":true,"tags":[{"key":"k","value":"v"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
}

// TestStoredFormWithEverything pins the form of the members that few tables have.
func TestStoredFormWithEverything(t *testing.T) {
	n := new(int64(1))
	d := &catalog.Descriptor{
		Name: "Music", UUID: "u", Created: 5, ReadyAt: 6, SettledAt: 7,
		Attributes: []catalog.Attribute{{Name: "pk", Type: "S"}}, Keys: []catalog.KeyElement{{Name: "pk"}},
		Indexes: []catalog.IndexDescriptor{{
			ID: 1, Name: "v", Keys: []catalog.KeyElement{{Name: "p"}}, Projection: catalog.ProjectAll, State: catalog.IndexAllocating, SettledAt: 8,
			Throughput: catalog.Throughput{Read: 9, Write: 10}, OnDemand: &catalog.Maxima{Read: 11, Write: 12}, Warm: &catalog.Units{Read: 13, Write: 14},
			Insights: &catalog.Insights{Enabled: true, Mode: catalog.ThrottledOnly, Created: 15, Changed: 16, SettledAt: 17, Refused: true},
			Vector:   &catalog.VectorDescriptor{Attribute: "v", Dimensions: 18, Function: "COSINE", Filters: []string{"f"}},
		}},
		Billing: catalog.Billing{Throughput: catalog.Throughput{
			Read: 19, Write: 20, LastIncrease: 21, LastDecrease: 22, Decreases: 23, Was: &catalog.Throughput{Read: 24, Write: 25},
		}},
		Importing: true,
		Policies:  []catalog.Policy{{Stream: "l", Document: "{}", Revision: "r"}},
		Insights:  &catalog.Insights{Enabled: true, Mode: catalog.AccessedAndThrottled},
		Destinations: []catalog.Destination{{
			StreamARN: "arn", Enabled: true, Precision: catalog.PrecisionMicrosecond, From: 26, SettledAt: 27, Updated: true,
		}},
		Global: &catalog.GlobalTable{
			Region: "eu-west-1", Version: catalog.GlobalVersion2019, Strong: true, Witness: "eu-central-1", Filling: true, Leaving: true, Stays: true,
			Replicas: []catalog.Replica{{Region: "us-east-1", State: catalog.ReplicaCreating}}, SourceAt: 28, Unprotected: true, Created: 29,
			Overrides: catalog.Overrides{
				Read: n, MaxRead: n, Class: "STANDARD", Key: "k", Indexes: []catalog.IndexOverrides{{Name: "g", Read: n, MaxRead: n}},
			},
			Scaling: map[string]catalog.Scaling{catalog.ScalesReads: {
				Disabled: true, Min: n, Max: n, Role: "r", Policy: "p", Target: 0.5, KeepHigh: new(true), InCooldown: n, OutCooldown: n,
			}},
		},
	}
	const insights = `{"enabled":true,"mode":"ACCESSED_AND_THROTTLED_KEYS"}`
	want := `{"format":4,"id":1,"version":1,"name":"Music","uuid":"u","created":5,"readyAt":6,"settledAt":7,` +
		`"attributes":[{"name":"pk","type":"S"}],"keys":[{"name":"pk"}],` +
		`"indexes":[{"id":1,"name":"v","keys":[{"name":"p"}],"projection":"ALL","state":"allocating","settledAt":8,` +
		`"throughput":{"read":9,"write":10},"onDemand":{"read":11,"write":12},"warm":{"read":13,"write":14},` +
		`"insights":{"enabled":true,"mode":"THROTTLED_KEYS","created":15,"changed":16,"settledAt":17,"refused":true},` +
		`"vector":{"attribute":"v","dimensions":18,"function":"COSINE","filters":["f"]}}],` +
		`"billing":{"throughput":{"read":19,"write":20,"lastIncrease":21,"lastDecrease":22,"decreases":23,"was":{"read":24,"write":25}}},` +
		`"log":{"keys":1,"old":1,"new":1},"importing":true,"policies":[{"stream":"l","document":"{}","revision":"r"}],"insights":` + insights + `,` +
		`"destinations":[{"streamARN":"arn","enabled":true,"precision":"MICROSECOND","from":26,"settledAt":27,"updated":true}],` +
		`"global":{"region":"eu-west-1","version":"2019.11.21","strong":true,"replicas":[{"region":"us-east-1","state":"creating"}],` +
		`"witness":"eu-central-1","filling":true,"leaving":true,"stays":true,"sourceAt":28,"unprotected":true,` +
		`"overrides":{"read":1,"maxRead":1,"class":"STANDARD","key":"k","indexes":[{"name":"g","read":1,"maxRead":1}]},"created":29,` +
		`"scaling":{"read/":{"disabled":true,"min":1,"max":1,"role":"r","policy":"p","target":0.5,"keepHigh":true,"inCooldown":1,"outCooldown":1}}}}`
	stored := func(want string) {
		t.Helper()
		store := memkv.New()
		d.ID, d.Version = 0, 0
		if err := open(t, store).Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		got, err := store.Get(t.Context(), keyenc.TableDescriptor("Music"))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v: stored form (-want +got):\n%s", err, diff)
		}
		again, err := catalog.DecodeDescriptor([]byte(want))
		if diff := cmp.Diff(d, again); err != nil || diff != "" {
			t.Errorf("%v: read again (-want +got):\n%s", err, diff)
		}
		for key, want := range map[string]string{string(keyenc.NextTableID()): "\x00\x00\x00\x00\x00\x00\x00\x02", string(keyenc.TableVersion(1)): "\x00\x00\x00\x00\x00\x00\x00\x01"} {
			if got, err := store.Get(t.Context(), []byte(key)); err != nil || string(got) != want {
				t.Errorf("%s is %x, %v; want %x", keyenc.Format([]byte(key)), got, err, want)
			}
		}
	}
	stored(want)
	d.Global = nil // what older programs read is written in the form that they know
	before, _, _ := strings.Cut(want, `,"global":`)
	stored(strings.Replace(before, `"format":4`, `"format":3`, 1) + "}")
}

// FuzzDescriptor reads any bytes: what is accepted is a table, and is stored and read again as the same.
func FuzzDescriptor(f *testing.F) {
	f.Add([]byte(`{"format":1,"name":"Music","keys":[{"name":"pk"}],"attributes":[{"name":"pk","type":"S"}]}`))
	f.Add([]byte(`{"format":4,"keys":[{"name":"pk"},{"name":"sk","range":true}],"indexes":[{"id":1,"keys":[{"name":"g"}],"projection":"INCLUDE",` +
		`"included":["a"]},{"id":2,"keys":[],"vector":{"attribute":"v","dimensions":2,"function":"COSINE","filters":["f"]}}],` +
		`"global":{"replicas":[{"region":"eu-west-1"}]},"policies":[{"stream":"l"}],"destinations":[{"enabled":true}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := catalog.DecodeDescriptor(data)
		if err != nil {
			return
		}
		if catalog.TableOf(d).Name != d.Name {
			t.Fatalf("%s: another name", data)
		}
		_ = d.Status(epoch)
		d.Format = max(d.Format, 2) // format 1 is read only
		stored, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		again, err := catalog.DecodeDescriptor(stored)
		if err != nil {
			t.Fatalf("%s is stored as %s: %v", data, stored, err)
		}
		if third, err := json.Marshal(again); err != nil || string(third) != string(stored) {
			t.Fatalf("%s is stored as %s, and that as %s, %v", data, stored, third, err)
		}
	})
}

// TestStaleCache changes a table behind a catalog's back, as another process on a shared store would.
func TestStaleCache(t *testing.T) {
	store := memkv.New()
	stale, c := open(t, store), open(t, store)
	if err := c.Create(t.Context(), music()); err != nil {
		t.Fatal(err)
	}
	if _, err := stale.Lookup("Music"); err == nil {
		t.Error("the stale cache knows a table that it has not read")
	}
	if err := stale.Create(t.Context(), music()); err == nil || err.Error() != "ResourceInUseException: Table already exists: Music" {
		t.Errorf("Create on a stale cache: %v", err)
	}
	if err := stale.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, err := stale.Lookup("Music")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Change(t.Context(), "Music", func(_ kv.Txn, d *catalog.Descriptor) error {
		d.Tags = []catalog.Tag{{Key: "k"}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var stored uint64
	err = store.Update(t.Context(), kv.Intent{Check: [][]byte{keyenc.TableVersion(old.ID)}}, func(txn kv.Txn) error {
		var err error
		stored, err = catalog.Version(txn, old.ID)
		return err
	})
	if err != nil || stored != old.Version+1 {
		t.Errorf("stored version %d, %v; want %d", stored, err, old.Version+1)
	}
	if err := stale.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := stale.Lookup("Music"); err != nil || got.Version != stored {
		t.Errorf("after Refresh: %+v, %v", got, err)
	}
}

// TestChangeFails leaves everything as it is.
func TestChangeFails(t *testing.T) {
	c := open(t, memkv.New())
	if err := c.Create(t.Context(), music()); err != nil {
		t.Fatal(err)
	}
	before, err := c.Lookup("Music")
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	_, err = c.Change(t.Context(), "Music", func(txn kv.Txn, d *catalog.Descriptor) error {
		d.Class = "X"
		txn.Set(keyenc.Job(d.ID, 0, 'x'), []byte("record"))
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("Change: %v", err)
	}
	after, err := c.Get(t.Context(), "Music")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Descriptor, after); diff != "" {
		t.Errorf("a refused change left (-want +got):\n%s", diff)
	}
}

// silent is a store whose updates are carried out without notifying anyone.
type silent struct{ kv.Store }

func (s silent) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if err := s.Store.Update(ctx, in, fn); err != nil {
		return err
	}
	return kv.ErrUndetermined
}

// TestUndetermined: after a change whose outcome is unknown, the catalog knows the table as the store has it.
func TestUndetermined(t *testing.T) {
	c := open(t, silent{memkv.New()})
	if err := c.Create(t.Context(), music()); !errors.Is(err, kv.ErrUndetermined) {
		t.Errorf("Create: %v", err)
	}
	created, err := c.Lookup("Music")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Change(t.Context(), "Music", func(kv.Txn, *catalog.Descriptor) error { return nil })
	if changed, lookup := c.Lookup("Music"); !errors.Is(err, kv.ErrUndetermined) || lookup != nil || changed.Version != created.Version+1 {
		t.Errorf("Change: %v; then there is %v, %v", err, changed, lookup)
	}
	if err := c.Forget(t.Context(), "Music", created.ID); !errors.Is(err, kv.ErrUndetermined) {
		t.Errorf("Forget: %v", err)
	}
	if left, err := c.Lookup("Music"); err == nil {
		t.Errorf("after Forget there is %v", left)
	}
}

// TestIDs are never given out twice.
func TestIDs(t *testing.T) {
	store := memkv.New()
	for want := keyenc.TableID(1); want < 4; want++ {
		c := open(t, store)
		d := music()
		if err := c.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if d.ID != want {
			t.Errorf("the table got id %d, want %d", d.ID, want)
		}
		_, err := c.Change(t.Context(), "Music", func(_ kv.Txn, d *catalog.Descriptor) error {
			d.GoneAt = epoch.UnixMilli()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Lookup("Music"); err == nil {
			t.Error("the table still exists")
		}
	}
}

func TestARN(t *testing.T) {
	c := open(t, memkv.New())
	const region, account = "Invalid AWS region", "AccessDeniedException"
	for _, x := range []struct{ text, want string }{
		{"Music", ""},
		{"Mu", "Invalid table/index name."},
		{strings.Repeat("x", 256), "Invalid table/index name."},
		{"Mu/sic", "Invalid table/index name."},
		{"", "Invalid table/index name."},
		{"arn:aws:dynamodb:us-east-1:000000000000:table/Music", ""},
		{"arn:aws:dynamodb:eu-west-1:000000000000:table/Music", region},
		{"arn:aws:dynamodb:us-east-1:111111111111:table/Music", account},
		{"arn:aws:dynamodb:eu-west-1:111111111111:table/Music", account},
		{"arn:aws:dynamodb:us-east-1:000000000000:table/Music/index/x", "Valid ARN format is"},
		{"arn:aws:dynamodb:us-east-1:000000000000:table/", "Valid ARN format is"},
		{"arn:aws:dynamodb:us-east-1:000000000000:stream/Music", "Invalid resource type in"},
		{"arn:aws:dynamodb::000000000000:table/Music", "Valid ARN format is"},
		{"arn:", "Valid ARN format is"},
	} {
		name, err := c.Name(x.text)
		switch {
		case x.want == "" && (err != nil || name != "Music"):
			t.Errorf("Name(%q) = %q, %v", x.text, name, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("Name(%q): error %v, want one with %q", x.text, err, x.want)
		}
	}
}

func FuzzParseARN(f *testing.F) {
	f.Add("arn:aws:dynamodb:us-east-1:000000000000:table/Music/index/x")
	f.Add("arn:aws:dynamodb:::")
	f.Fuzz(func(t *testing.T, text string) {
		arn, ok := catalog.ParseARN(text)
		if ok && !strings.HasSuffix(text, ":dynamodb:"+arn.Region+":"+arn.Account+":table/"+arn.Table+arn.Rest) {
			t.Errorf("%q is not in its parts %+v", text, arn)
		}
	})
}

func TestStatus(t *testing.T) {
	at := time.UnixMilli
	d := &catalog.Descriptor{ReadyAt: 10, Indexes: []catalog.IndexDescriptor{{Name: "x"}}}
	want := func(when int64, table, index catalog.Status) {
		t.Helper()
		if got := d.Status(at(when)); got != table {
			t.Errorf("at %d the table is %s, want %s", when, got, table)
		}
		if got := d.IndexStatus(&d.Indexes[0], at(when)); got != index {
			t.Errorf("at %d the index is %s, want %s", when, got, index)
		}
	}
	want(9, catalog.StatusCreating, catalog.StatusCreating)
	want(10, catalog.StatusActive, catalog.StatusActive)
	d.SettledAt = 20
	want(19, catalog.StatusUpdating, catalog.StatusActive)
	d.Indexes[0].SettledAt = 30
	want(29, catalog.StatusActive, catalog.StatusUpdating)
	want(30, catalog.StatusActive, catalog.StatusActive)
	for state, index := range map[catalog.IndexState]catalog.Status{
		catalog.IndexAllocating:  catalog.StatusCreating,
		catalog.IndexBackfilling: catalog.StatusCreating,
		catalog.IndexDeleting:    catalog.StatusDeleting,
	} {
		d.Indexes[0].State = state
		want(99, catalog.StatusUpdating, index)
	}
	d.GoneAt = 200
	want(99, catalog.StatusDeleting, catalog.StatusDeleting)
	if d.Gone(at(199)) || !d.Gone(at(200)) {
		t.Error("the table was removed too early or too late")
	}
}

func BenchmarkLookup(b *testing.B) {
	c, err := catalog.Open(b.Context(), memkv.New(), "us-east-1", "000000000000", time.Now, notFollowed)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Create(b.Context(), music()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Lookup("Music"); err != nil {
			b.Fatal(err)
		}
	}
}
