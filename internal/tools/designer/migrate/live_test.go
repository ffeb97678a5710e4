package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/monotabletest"
)

// childVariable names the file with the orders for a test process that runs a migration and is killed.
const childVariable = "MIGRATE_TEST_CHILD"

// order tells a child process what to do.
type order struct {
	Endpoint, Old, New string
	Fills, Makes       []string
	Finish             bool
	Deployed           migrate.Milestone
	Units              float64
}

func TestMain(m *testing.M) {
	if file := os.Getenv(childVariable); file != "" {
		if err := child(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(file string) error {
	data, err := os.ReadFile(file) //nolint:gosec // the parent's
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	before, err := design.Load(o.Old)
	if err != nil {
		return err
	}
	after, err := design.Load(o.New)
	if err != nil {
		return err
	}
	p, err := migrate.New(before, after, migrate.Options{Fills: o.Fills, Makes: o.Makes})
	if err != nil {
		return err
	}
	return carryOut(p, clientOf(o.Endpoint), &o)
}

func carryOut(p *migrate.Plan, client *dynamodb.Client, o *order) error {
	m, err := migrate.Open(p, migrate.Target{Client: client, Segments: 3, Units: o.Units, TakeOver: true})
	if err != nil {
		return err
	}
	var report *conform.Report
	if o.Finish {
		report, err = m.Finish(context.Background())
	} else {
		report, err = m.Run(context.Background(), o.Deployed)
	}
	if report != nil {
		err = errors.Join(err, conform.WriteText(os.Stderr, report))
	}
	return err
}

func clientOf(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

// program is a program of a design, like generated code.
type program struct {
	db    *table.DB
	lower *lower.Program
}

func programOf(t *testing.T, client *dynamodb.Client, d *design.Design) *program {
	t.Helper()
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	db, err := table.Open(client, table.Config{}, p.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	return &program{db, p}
}

func (p *program) write(ctx context.Context, name string, v table.Values) error {
	i := slices.IndexFunc(p.lower.Writes, func(w *lower.Write) bool { return w.Design.Name == name })
	_, err := p.db.Write(ctx, p.lower.Writes[i].Run, table.Input{Values: v})
	return err
}

func (p *program) read(name string) *table.Read {
	return p.lower.Reads[slices.IndexFunc(p.lower.Reads, func(r *lower.Read) bool { return r.Design.Name == name })].Run
}

// application is a number of writers that run the deployed programs.
type application struct {
	t       *testing.T
	mu      sync.RWMutex // held during a write; deployments wait for it
	running []*program
	writes  atomic.Int64
	stop    chan struct{}
	writers sync.WaitGroup
	models  []map[string]table.Values // the expected orders of each writer
}

// deploy replaces the programs, and waits until the old ones have finished their writes.
func (a *application) deploy(programs ...*program) {
	a.mu.Lock()
	a.running = programs
	a.mu.Unlock()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := a.writes.Load() + 60; a.writes.Load() < until && !a.t.Failed(); {
		<-tick.C
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// orderOf are the values of a new order.
func orderOf(writer, n int) table.Values {
	id := fmt.Sprintf("w%d-%04d", writer, n)
	return table.Values{
		"orderId": text(id), "userId": text("u" + strconv.Itoa(writer)), "number": text("n-" + id), "status": text("s" + strconv.Itoa(n%3)),
		"total": &types.AttributeValueMemberN{Value: "0"}, "note": text("note of " + id),
	}
}

// write makes writes, and reads them back, until it is stopped.
func (a *application) write(writer int, random *rand.Rand) {
	model := a.models[writer]
	for n := len(model); ; n++ {
		select {
		case <-a.stop:
			return
		default:
		}
		if err := a.one(writer, n, random, model); err != nil {
			a.t.Error(err)
			return
		}
		a.writes.Add(1)
	}
}

func (a *application) one(writer, n int, random *rand.Rand, model map[string]table.Values) error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	p := a.running[random.IntN(len(a.running))]
	ctx := a.t.Context()
	ids := slices.Sorted(maps.Keys(model))
	if len(ids) == 0 || random.IntN(10) < 3 {
		v := orderOf(writer, n)
		in := maps.Clone(v)
		e := p.lower.Entities[0]
		known := func(name string) bool {
			return slices.ContainsFunc(e.Fields, func(f table.Field) bool { return f.Name == name })
		}
		delete(in, "total")
		for name, value := range map[string]types.AttributeValue{"gift": nil, "remark": v["note"]} {
			if name == "gift" {
				value = giftType(e)
			}
			if known(name) {
				in[name] = value
			}
		}
		if !known("note") {
			delete(in, "note")
		}
		if err := p.write(ctx, "Place", in); err != nil {
			return ignoring(err, "place %s: %w", v["orderId"])
		}
		model[v["orderId"].(*types.AttributeValueMemberS).Value] = v
		return nil
	}
	id := ids[random.IntN(len(ids))]
	v := model[id]
	key := table.Values{"orderId": v["orderId"], "userId": v["userId"]}
	switch random.IntN(8) {
	case 0:
		if err := p.write(ctx, "Drop", key); err != nil {
			return ignoring(err, "drop %s: %w", v["orderId"])
		}
		delete(model, id)
	case 1, 2:
		key["to"] = text("n-" + id + "-" + strconv.Itoa(n))
		if err := p.write(ctx, "Renumber", key); err != nil {
			return ignoring(err, "renumber %s: %w", v["orderId"])
		}
		v["number"] = key["to"]
	case 3, 4, 5:
		key["to"] = text("s" + strconv.Itoa(random.IntN(3)))
		if err := p.write(ctx, "Move", key); err != nil {
			return ignoring(err, "move %s: %w", v["orderId"])
		}
		total, _ := strconv.Atoi(v["total"].(*types.AttributeValueMemberN).Value)
		v["status"], v["total"] = key["to"], &types.AttributeValueMemberN{Value: strconv.Itoa(total + 1)}
	case 6:
		return a.compare(p, v)
	default:
		var found []string
		for one, err := range p.db.All(ctx, p.read("OrdersOf"), table.Input{Values: key}) {
			if err != nil {
				return err
			}
			found = append(found, one["orderId"].(*types.AttributeValueMemberS).Value)
		}
		if slices.Sort(found); !slices.Equal(found, ids) {
			return fmt.Errorf("OrdersOf returns %d orders of writer %d, which has %d", len(found), writer, len(ids))
		}
	}
	return nil
}

// giftType is a gift of the type in a design.
func giftType(e *table.Entity) types.AttributeValue {
	for _, f := range e.Fields {
		if f.Name == "gift" && f.Type.Kind == "bool" {
			return &types.AttributeValueMemberBOOL{Value: true}
		}
	}
	return text("book")
}

// ignoring returns the error of a write, except one that says that it had too many conflicts and did nothing.
func ignoring(err error, format string, id types.AttributeValue) error {
	if errors.Is(err, table.ErrConflict) {
		return nil
	}
	return fmt.Errorf(format, id.(*types.AttributeValueMemberS).Value, err)
}

// compare reads an order by its ID and compares it with the expected one.
func (a *application) compare(p *program, want table.Values) error {
	id := want["orderId"].(*types.AttributeValueMemberS).Value
	got, err := p.db.Get(a.t.Context(), p.read("OrderOf"), table.Input{Values: table.Values{"orderId": want["orderId"], "userId": want["userId"]}})
	if err != nil {
		return fmt.Errorf("read %s: %w", id, err)
	}
	names := []string{"userId", "number", "status", "total"}
	if slices.ContainsFunc(p.lower.Entities[0].Fields, func(f table.Field) bool { return f.Name == "note" && !f.Optional }) {
		names = append(names, "note")
	}
	for _, name := range names {
		if !same(got[name], want[name]) {
			return fmt.Errorf("%s of %s is %v, want %v", name, id, got[name], want[name])
		}
	}
	return nil
}

func same(a, b types.AttributeValue) bool {
	x, y := "", ""
	for v, out := range map[types.AttributeValue]*string{a: &x, b: &y} {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			*out = "S" + v.Value
		case *types.AttributeValueMemberN:
			*out = "N" + v.Value
		}
	}
	return x == y && x != ""
}

// TestLive runs each migration while an application writes and reads, and is deployed step by step. The process of the
// migration is killed at random moments; MIGRATE_SEED repeats them. In the end every item must match the new design, and no
// write may be lost.
func TestLive(t *testing.T) {
	for name := range migrations() {
		if testing.Short() && name != "all at once" && name != "composed entry" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live(t, name)
		})
	}
}

// loaded is the number of orders with which each writer starts.
const loaded, writers = 60, 3

// carts is the number of items of an entity that the new design removes.
const carts = 5

func live(t *testing.T, name string) {
	t.Helper()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
	if s := os.Getenv("MIGRATE_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("MIGRATE_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test's values
	server := httptest.NewServer(monotabletest.New(t).Handler())
	t.Cleanup(server.Close)
	client := clientOf(server.URL)
	m := migrations()[name]
	before, after := edited(t, base, m.start...), edited(t, base, slices.Concat(m.start, m.edits)...)
	p := planned(t, name)
	if err := provision.Apply(t.Context(), client, provision.Specs(before, nil), func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	old, now := programOf(t, client, before), programOf(t, client, after)
	a := &application{t: t, running: []*program{old}, stop: make(chan struct{})}
	fill(t, a, old)
	for i := range writers {
		r := rand.New(rand.NewPCG(seed, uint64(i)+1)) //nolint:gosec // a test's values
		a.writers.Go(func() { a.write(i, r) })
	}
	defer a.writers.Wait()
	stopped := sync.OnceFunc(func() { close(a.stop) })
	defer stopped()

	d := &driver{t: t, random: random, order: order{Endpoint: server.URL, Fills: m.fills, Makes: m.makes, Units: 20000}}
	d.save(before, after)
	d.drive(order{})
	current := old
	if p.DualWrites != nil {
		dual := programOf(t, client, p.DualWrites)
		a.deploy(current, dual)
		a.deploy(dual)
		d.drive(order{Deployed: migrate.DualWrites})
		current = dual
	}
	if p.NewReads != nil {
		reads := programOf(t, client, p.NewReads)
		a.deploy(current, reads)
		a.deploy(reads)
		d.drive(order{Deployed: migrate.NewReads})
		current = reads
	}
	a.deploy(current, now)
	a.deploy(now)
	d.drive(order{Finish: true})
	a.deploy(now)
	stopped()
	a.writers.Wait()
	if t.Failed() {
		return
	}
	orders := 0
	for _, model := range a.models {
		orders += len(model)
		for _, v := range model {
			if err := a.compare(now, v); err != nil {
				t.Error(err)
			}
		}
	}
	report := conforms(t, client, after)
	t.Logf("%d orders, %d writes, %d kills", orders, a.writes.Load(), d.kills)
	for _, c := range report.Tables[0].Places {
		switch {
		case c.Place != "key":
		case c.Entity == "Order" && c.Items != int64(orders):
			t.Errorf("the table has %d orders, want %d", c.Items, orders)
		case c.Entity == "Parcel" && c.Items < int64(writers*loaded): // of the initial orders; they stay when their order is dropped
			t.Errorf("%d parcels were created, want %d or more", c.Items, writers*loaded)
		}
	}
}

// conforms requires all items to match a design.
func conforms(t *testing.T, client *dynamodb.Client, d *design.Design) *conform.Report {
	t.Helper()
	s, err := source.OpenTable(t.Context(), client, "shop", 1)
	if err != nil {
		t.Fatal(err)
	}
	report, err := conform.Check(d, map[string]conform.Pass{"shop": func() iter.Seq2[table.Item, error] { return s.Items(t.Context()) }}, conform.Options{Examples: 3, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s %s: %d %v", f.Kind, f.Subject, f.Items, f.Examples)
	}
	for _, b := range report.Tables[0].Undeclared {
		t.Errorf("%d items of %s still have the attribute %s", b.Items, b.Entity, b.Attribute)
	}
	return report
}

// fill loads the orders that exist before the migration.
func fill(t *testing.T, a *application, p *program) {
	t.Helper()
	var records []table.Record
	for i := range writers {
		model := map[string]table.Values{}
		for n := range loaded {
			v := orderOf(i, n)
			model[v["orderId"].(*types.AttributeValueMemberS).Value] = v
			records = append(records, table.Record{Entity: p.lower.Entities[0], Values: maps.Clone(v)})
		}
		a.models = append(a.models, model)
	}
	if len(p.lower.Entities) > 1 {
		for i := range carts {
			id := text(strconv.Itoa(i))
			records = append(records, table.Record{Entity: p.lower.Entities[1], Values: table.Values{"cartId": id, "userId": id}})
		}
	}
	if err := p.db.Load(t.Context(), slices.Values(records), nil); err != nil {
		t.Fatal(err)
	}
}

// driver runs a migration in separate processes, and kills some of them.
type driver struct {
	t      *testing.T
	random *rand.Rand
	order  order
	dir    string
	kills  int
}

func (d *driver) save(before, after *design.Design) {
	d.dir = d.t.TempDir()
	for name, one := range map[string]*design.Design{"old.json": before, "new.json": after} {
		data, err := one.JSON()
		if err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.dir, name), data, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	d.order.Old, d.order.New = filepath.Join(d.dir, "old.json"), filepath.Join(d.dir, "new.json")
}

// killed is the number of processes killed per step before one may finish.
const killed = 4

func (d *driver) drive(o order) {
	d.t.Helper()
	full := d.order
	full.Finish, full.Deployed = o.Finish, o.Deployed
	data, err := json.Marshal(full)
	if err != nil {
		d.t.Fatal(err)
	}
	file := filepath.Join(d.dir, "order.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i <= killed && !d.t.Failed(); i++ {
		cmd := exec.CommandContext(d.t.Context(), os.Args[0], "-test.run=^$") //nolint:gosec // this very program
		cmd.Env = append(os.Environ(), childVariable+"="+file)
		var out safeBuffer
		cmd.Stderr = &out
		if err := cmd.Start(); err != nil {
			d.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if i == killed {
			if err := <-ended; err != nil {
				d.t.Fatalf("%+v: %v\n%s", o, err, out.String())
			}
			return
		}
		select {
		case err := <-ended:
			if err != nil {
				d.t.Fatalf("%+v: %v\n%s", o, err, out.String())
			}
		case <-time.After(time.Duration(d.random.IntN(400)) * time.Millisecond):
			d.kills++
			_ = cmd.Process.Kill()
			<-ended
		}
	}
}

type safeBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data)
}
