package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const historyTable = `{"TableName":"History","BillingMode":"PAY_PER_REQUEST",
 "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
  {"AttributeName":"g","AttributeType":"S"},{"AttributeName":"l","AttributeType":"S"},{"AttributeName":"m","AttributeType":"S"}],
 "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
 "LocalSecondaryIndexes":[
  {"IndexName":"byL","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
  {"IndexName":"byM","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"m","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
 "GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

// historyOverrides leave some of the indexes out.
var historyOverrides = []string{
	``,
	`,"LocalSecondaryIndexOverride":[],"GlobalSecondaryIndexOverride":[]`,
	`,"LocalSecondaryIndexOverride":[{"IndexName":"byM","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"m","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`,
}

// clock is a clock that only the test advances.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time  { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) set(t time.Time) { c.nanos.Store(t.UnixNano()) }

// history is a table, its expected contents, and those at each past time.
type history struct {
	t      *testing.T
	rng    *rand.Rand
	open   func() *engine.Engine
	engine *engine.Engine
	clock  clock        // the database's time
	behind atomic.Int64 // how far the machine's clock has been set back, in nanoseconds

	items  map[string]string // by key, as text
	states []pastState
}

// pastState is the contents of a table from a time on.
type pastState struct {
	from  time.Time
	items map[string]string
}

func (h *history) note() { h.states = append(h.states, pastState{h.clock.now(), maps.Clone(h.items)}) }

// at returns the state including all changes up to that time.
func (h *history) at(when time.Time) map[string]string {
	for _, s := range slices.Backward(h.states) {
		if !s.from.After(when) {
			return s.items
		}
	}
	return nil
}

func newHistory(t *testing.T, s storeKind, seed uint64) *history {
	t.Helper()
	h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 1)), items: map[string]string{}}
	h.clock.set(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	store := s.open(t)
	h.open = func() *engine.Engine {
		machine := func() time.Time { return h.clock.now().Add(-time.Duration(h.behind.Load())) }
		o := engine.Options{Now: machine, TTLInterval: -1, StreamShardRotation: -1}
		e, err := engine.Open(t.Context(), kv.Checked(store()), o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	h.engine = h.open()
	t.Cleanup(func() {
		if err := h.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// setBack sets the machine's clock back for some steps, with or without a restart among them: the database's time stands still.
func (h *history) setBack() {
	h.t.Helper()
	key, body := h.key()
	h.send("put-item", `{"TableName":"History","Item":{`+body+`}}`) // the database has seen the time
	h.items[key] = text(h.t, body)
	h.note()
	for range 1 + h.rng.IntN(4) {
		h.behind.Store(h.rng.Int64N(int64(2 * time.Hour)))
		if h.rng.IntN(8) == 0 {
			h.restart()
		}
		h.step()
	}
	h.behind.Store(0)
}

func (h *history) restart() {
	h.t.Helper()
	if err := h.engine.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.engine = h.open()
}

func (h *history) send(directive, body string) string {
	h.t.Helper()
	return send(h.t, h.engine, directive, body)
}

func (h *history) key() (key, body string) {
	pk, sk := h.rng.IntN(6), h.rng.IntN(4)
	return fmt.Sprintf("%d/%d", pk, sk), fmt.Sprintf(`"pk":{"S":"%d"},"sk":{"N":"%d"}`, pk, sk)
}

// attributes returns attributes other than the key; an item may lack those of indexes, or expire.
func (h *history) attributes() string {
	var b strings.Builder
	for _, name := range []string{"g", "l", "m"} {
		if h.rng.IntN(3) > 0 {
			fmt.Fprintf(&b, `,%q:{"S":"%d"}`, name, h.rng.IntN(3))
		}
	}
	if h.rng.IntN(4) == 0 {
		fmt.Fprintf(&b, `,"exp":{"N":"%d"}`, h.clock.now().Unix()+h.rng.Int64N(20))
	}
	fmt.Fprintf(&b, `,"n":{"N":"%d"}`, h.rng.IntN(1000))
	return b.String()
}

// text is the one text of an item.
func text(t *testing.T, item string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte("{"+item+"}"), &members); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// step makes one change at random.
func (h *history) step() {
	h.t.Helper()
	key, body := h.key()
	switch h.rng.IntN(10) {
	case 0, 1, 2, 3:
		item := body + h.attributes()
		h.send("put-item", `{"TableName":"History","Item":{`+item+`}}`)
		h.items[key] = text(h.t, item)
	case 4, 5:
		h.update(key, body)
	case 6:
		h.send("delete-item", `{"TableName":"History","Key":{`+body+`}}`)
		delete(h.items, key)
	case 7, 8:
		h.transact(key, body)
	default:
		h.expire()
	}
	h.note()
}

// update sets one attribute and removes another.
func (h *history) update(key, body string) {
	h.t.Helper()
	n := fmt.Sprint(h.rng.IntN(1000))
	h.send("update-item", `{"TableName":"History","Key":{`+body+`},"UpdateExpression":"SET n = :n REMOVE g",
	 "ExpressionAttributeValues":{":n":{"N":"`+n+`"}}}`)
	members := map[string]any{}
	old, ok := h.items[key]
	if !ok {
		old = "{" + body + "}"
	}
	if err := json.Unmarshal([]byte(old), &members); err != nil {
		h.t.Fatal(err)
	}
	delete(members, "g")
	members["n"] = map[string]any{"N": n}
	out, err := json.Marshal(members)
	if err != nil {
		h.t.Fatal(err)
	}
	h.items[key] = string(out)
}

// transact puts one item and deletes another.
func (h *history) transact(key, body string) {
	h.t.Helper()
	other, otherBody := h.key()
	if other == key {
		return
	}
	item := body + h.attributes()
	h.send("transact-write-items", `{"TransactItems":[{"Put":{"TableName":"History","Item":{`+item+`}}},
	 {"Delete":{"TableName":"History","Key":{`+otherBody+`}}}]}`)
	h.items[key] = text(h.t, item)
	delete(h.items, other)
}

// expire removes expired items.
func (h *history) expire() {
	h.t.Helper()
	if _, err := h.engine.ExpireNow(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	maps.DeleteFunc(h.items, func(_, item string) bool {
		var members struct{ Exp struct{ N json.Number } }
		if err := json.Unmarshal([]byte(item), &members); err != nil {
			h.t.Fatal(err)
		}
		expires, err := members.Exp.N.Int64()
		return err == nil && expires <= h.clock.now().Unix()
	})
}

// contents returns the contents of a table: the named attributes, or all.
func contents(t *testing.T, e *engine.Engine, table string, attributes ...string) map[string]string {
	t.Helper()
	in := &api.ScanInput{TableName: &table, AttributesToGet: attributes}
	items := map[string]string{}
	for {
		out, err := e.Scan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range out.Items {
			it, err := stored.Decode()
			if err != nil {
				t.Fatal(err)
			}
			pk, _ := it.Get("pk")
			sk, _ := it.Get("sk")
			line := strings.TrimSuffix(strings.TrimPrefix(it.String(), "{"), "}")
			items[pk.Text()+"/"+sk.Text()] = text(t, line)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
			return items
		}
	}
}

// TestRestoreAgreesWithHistory changes a table at random while time passes and the machine's clock is sometimes set back, and
// restores it to random seconds, with and without its indexes, between restarts and trims.
func TestRestoreAgreesWithHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			h := newHistory(t, s, seed)
			h.send("create-table", historyTable)
			h.send("update-time-to-live", `{"TableName":"History","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
			h.engine.Settle()
			for range 20 { // of a time that cannot be restored
				h.step()
			}
			h.send("update-continuous-backups", `{"TableName":"History","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
			begin := h.clock.now().Truncate(time.Second)
			for round := range 12 {
				for range 150 {
					now := h.clock.now().Add(time.Duration(h.rng.IntN(700)) * time.Millisecond)
					if h.rng.IntN(5) == 0 { // a change in that very second is included
						now = now.Truncate(time.Second).Add(time.Second)
					}
					h.clock.set(now)
					h.step()
					if h.rng.IntN(20) == 0 {
						h.setBack()
					}
				}
				if h.rng.IntN(3) == 0 {
					h.restart()
				}
				if err := h.engine.TrimLogs(t.Context()); err != nil {
					t.Fatal(err)
				}
				h.clock.set(h.clock.now().Add(time.Millisecond))
				h.restore(fmt.Sprintf("Round%d", round), begin)
			}
			done, err := h.engine.Verify(t.Context(), func(f verify.Finding) { t.Error(f) }, nil)
			if err != nil || done.Tables != 13 {
				t.Errorf("verified %v, %v", done, err)
			}
			if diff := cmp.Diff(h.items, contents(t, h.engine, "History")); diff != "" {
				t.Errorf("the source itself (-want +got):\n%s", diff)
			}
		})
	}
}

// restore restores the table to a second at random and compares.
func (h *history) restore(target string, begin time.Time) {
	h.t.Helper()
	last := h.clock.now().Add(-time.Millisecond).Truncate(time.Second)
	at := begin.Add(time.Duration(h.rng.Int64N(last.Unix()-begin.Unix()+1)) * time.Second)
	when := fmt.Sprintf(`"RestoreDateTime":%d.%d`, at.Unix(), h.rng.IntN(1000))
	if h.rng.IntN(4) == 0 {
		at, when = h.clock.now().Add(-time.Millisecond), `"UseLatestRestorableTime":true`
	}
	override := historyOverrides[h.rng.IntN(len(historyOverrides))]
	h.send("restore-table-to-point-in-time", `{"SourceTableName":"History","TargetTableName":"`+target+`",`+when+override+`}`)
	h.engine.Settle()
	if diff := cmp.Diff(h.at(at), contents(h.t, h.engine, target)); diff != "" {
		h.t.Errorf("%s, at %v of [%v, %v] (-want +got):\n%s", target, at, begin, last, diff)
	}
}

// TestRestoreOfLargeItems writes more than fits into the logs of a store in memory, and more than is loaded together. The
// reported period can be restored, whatever the store has trimmed.
func TestRestoreOfLargeItems(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			h := newHistory(t, s, 1)
			h.send("create-table", historyTable)
			h.send("update-continuous-backups", `{"TableName":"History","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
			padding := strings.Repeat("x", 390_000)
			for i := range 300 {
				key := fmt.Sprintf("%d/%d", i%5, i%50)
				item := fmt.Sprintf(`"pk":{"S":"%d"},"sk":{"N":"%d"},"n":{"N":"%d"}`, i%5, i%50, i)
				h.send("put-item", `{"TableName":"History","Item":{`+item+`,"x":{"S":"`+padding+`"}}}`)
				h.items[key] = text(t, item)
				h.note()
				h.clock.set(h.clock.now().Add(900 * time.Millisecond))
			}
			described, err := h.engine.DescribeContinuousBackups(t.Context(), &api.DescribeContinuousBackupsInput{TableName: new("History")})
			if err != nil {
				t.Fatal(err)
			}
			recovery := described.ContinuousBackupsDescription.PointInTimeRecoveryDescription
			earliest, latest := time.Unix(int64(*recovery.EarliestRestorableDateTime), 0), time.Unix(int64(*recovery.LatestRestorableDateTime), 0)
			if forgotten := earliest.After(h.states[0].from); forgotten != (s.name == "memkv") || latest.Sub(earliest) < 20*time.Second {
				t.Errorf("from %v to %v can be restored", earliest, latest)
			}
			if err := restoreTo(t.Context(), h.engine, "History", earliest.Add(-time.Second), "TooEarly"); codeOf(err) != apierr.InvalidRestoreTimeException && s.name == "memkv" {
				t.Errorf("restore to a time before: %v", err)
			}
			for i, at := range []time.Time{earliest, earliest.Add(latest.Sub(earliest) / 2).Truncate(time.Second), latest} {
				target := fmt.Sprintf("Target%d", i)
				if err := restoreTo(t.Context(), h.engine, "History", at, target); err != nil {
					t.Fatal(err)
				}
				h.engine.Settle()
				if got := contents(t, h.engine, target, "pk", "sk", "n"); !maps.Equal(got, h.at(at)) {
					t.Errorf("at %v there were %d items, and %d are restored, or other ones", at, len(h.at(at)), len(got))
				}
			}
			wantVerified(t, h.engine)
		})
	}
}
