package faults

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/monotable/monotable/test/internal/registers"
)

// check checks everything once the cluster has settled.
func (w *workload) check(t *testing.T) {
	t.Helper()
	w.finishIndexes(t)
	table := w.readAll(t)
	w.checkHistory(t)

	acknowledged := w.acknowledged()
	w.follower.catchUp(t)
	w.follower.compare(t, "who has followed", table, acknowledged)
	anew := newFollower(t, w.cluster)
	anew.catchUp(t)
	anew.compare(t, "who begins anew", table, acknowledged)

	binary, dir := w.cluster.binary, w.cluster.frontEnds[0].dir
	if printed, err := exec.CommandContext(t.Context(), binary, "verify", dir).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, printed)
	}
	t.Logf("%d pairs, %d requests, %d without a response, %d indexes filled, %d tables created and deleted",
		w.pairs.used(), len(w.history), w.lost, w.indexes.Load(), w.tables.Load())
}

// readAll reads all pairs, as the last requests of their histories. Lost requests may have been executed until after it.
func (w *workload) readAll(t *testing.T) map[place]int {
	t.Helper()
	table := map[place]int{}
	for p := range w.pairs.used() {
		r := registers.Request{Pair: p, Kind: registers.GetBoth}
		o := porcupine.Operation{Input: r, Call: int64(time.Since(w.begun))}
		a, err := registers.Perform(t.Context(), w.clients[0], r)
		if err != nil {
			t.Fatal(err)
		}
		o.Output, o.Return = a, int64(time.Since(w.begun))
		w.history = append(w.history, o)
		table[place{p, 0}], table[place{p, 1}] = a.Value[0], a.Value[1]
	}
	end := int64(time.Since(w.begun))
	for i, o := range w.history {
		if o.Output.(registers.Response).Lost {
			w.history[i].Return = end
		}
	}
	return table
}

func (w *workload) checkHistory(t *testing.T) {
	t.Helper()
	begun := time.Now()
	for p, history := range registers.ByPair(w.history) {
		result := porcupine.CheckOperationsTimeout(registers.Model, history, patience)
		if result == porcupine.Ok {
			continue
		}
		picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("pair%d.html", p))
		_, info := porcupine.CheckOperationsVerbose(registers.Model, history, patience)
		if err := porcupine.VisualizePath(registers.Model, info, picture); err != nil {
			t.Error(err)
		}
		t.Errorf("the history of pair %d is %v, see %s", p, result, picture)
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, o := range history {
			t.Logf("%12d %12d client %d: %s", o.Call/1000, o.Return/1000, o.ClientId, registers.Model.DescribeOperation(o.Input, o.Output))
		}
	}
	t.Logf("the histories are checked in %v", time.Since(begun).Round(time.Millisecond))
}

// acknowledged are the values with acknowledged puts.
func (w *workload) acknowledged() map[place][]int {
	values := map[place][]int{}
	for _, o := range w.history {
		r, a := o.Input.(registers.Request), o.Output.(registers.Response)
		if a.Lost || a.Refused || a.Conflict {
			continue
		}
		mine, other := place{r.Pair, r.Register}, place{r.Pair, 1 - r.Register}
		switch r.Kind {
		case registers.Put, registers.Swap:
			values[mine] = append(values[mine], r.Value)
		case registers.SwapBoth:
			values[mine], values[other] = append(values[mine], r.Value), append(values[other], r.Value)
		case registers.Add:
			values[mine] = append(values[mine], a.Value[0])
		default: // it has put no value, or the outcome is unknown
		}
	}
	return values
}
