package consumers

import (
	"fmt"
	"sync"
	"testing"
)

// delivery is one record as a consumer delivers it: a change of an item's version. A missing item has version 0.
type delivery struct {
	Shard    string `json:"shard"`
	Sequence string `json:"sequence"`
	Item     string `json:"item"`
	Old      int    `json:"old"`
	New      int    `json:"new"`
}

// faultsMax is the maximum number of faults that a judge reports.
const faultsMax = 20

// judge checks one consumer against its guarantees.
type judge struct {
	t    *testing.T
	name string

	mu          sync.Mutex
	changed     *sync.Cond
	delivered   map[string]bool   // sequence numbers
	checkpoints map[string]string // by shard
	last        map[string]int    // by item: its version
	versions    map[string][]int  // by item: all versions delivered
	shards      map[string]bool
	repeated    int // deliveries repeated because their checkpoint had not been saved
	faults      int
	ended       error
}

func newJudge(t *testing.T, name string) *judge {
	t.Helper()
	j := &judge{
		t: t, name: name, delivered: map[string]bool{}, checkpoints: map[string]string{},
		last: map[string]int{}, versions: map[string][]int{}, shards: map[string]bool{},
	}
	j.changed = sync.NewCond(&j.mu)
	return j
}

func (j *judge) fault(format string, args ...any) {
	if j.faults++; j.faults <= faultsMax {
		j.t.Errorf("%s: %s", j.name, fmt.Sprintf(format, args...))
	}
}

// deliver processes deliveries of the consumer. Each change must start with the version left by the previous one of
// the item, so that nothing is missing or out of order.
func (j *judge) deliver(all []delivery) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, d := range all {
		j.shards[d.Shard] = true
		if d.Sequence <= j.checkpoints[d.Shard] {
			j.fault("%+v is delivered behind the shard's checkpoint %s", d, j.checkpoints[d.Shard])
		}
		if j.delivered[d.Sequence] {
			j.repeated++
			continue
		}
		j.delivered[d.Sequence] = true
		if d.Old != j.last[d.Item] || d.New <= d.Old {
			j.fault("%+v is delivered after version %d", d, j.last[d.Item])
		}
		j.last[d.Item] = d.New
		j.versions[d.Item] = append(j.versions[d.Item], d.New)
	}
	j.changed.Broadcast()
}

// save records that the consumer has saved a checkpoint.
func (j *judge) save(shard, sequence string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if sequence < j.checkpoints[shard] {
		j.fault("checkpoint of %s goes back from %s to %s", shard, j.checkpoints[shard], sequence)
	}
	j.checkpoints[shard] = sequence
}

// end records that there will be no more deliveries.
func (j *judge) end(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = err
	j.changed.Broadcast()
}

// await waits until the last versions are those of the table, or the consumer has ended.
func (j *judge) await(table map[string]int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for behind := j.behind(table); behind > 0; behind = j.behind(table) {
		if j.ended != nil {
			j.fault("ended with %v, %d items behind the table", j.ended, behind)
			return
		}
		j.changed.Wait()
	}
}

func (j *judge) behind(table map[string]int) (n int) {
	for item, version := range table {
		if j.last[item] != version {
			n++
		}
	}
	return n
}

// compare compares the deliveries with what the writers sent: every acknowledged version was delivered, and none
// that was not sent. Each writer knows its items' versions, and they increase, so comparing sets is enough.
func (j *judge) compare(all []*writer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, w := range all {
		for item, versions := range w.acknowledged {
			came := map[int]bool{}
			for _, v := range j.versions[item] {
				came[v] = true
			}
			for _, v := range versions {
				if !came[v] {
					j.fault("version %d of %s was acknowledged and never delivered", v, item)
				}
			}
		}
		for item := range w.sent {
			for _, v := range j.versions[item] {
				if !w.sent[item][v] {
					j.fault("version %d of %s is delivered and was never sent", v, item)
				}
			}
			delete(j.versions, item)
		}
	}
	for item := range j.versions {
		j.fault("%s is delivered and was never sent", item)
	}
	j.t.Logf("%s: %d changes from %d shards, %d redelivered because of missing checkpoints", j.name, len(j.delivered), len(j.shards), j.repeated)
}
