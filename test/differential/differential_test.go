// Package differential sends random sequences of requests to monotable and to DynamoDB Local, AWS's own emulator, and
// compares the results: success or failure, the error, the returned items. It ignores messages, and any order that AWS
// does not define.
//
// DynamoDB Local is not AWS: it is older, and sometimes wrong. A difference is therefore a question for AWS's
// documentation. Our assessments are in testdata/triage.yaml; only a difference that is not listed fails the test. It is
// reported with the seed of its sequence, and with the shortest sequence of requests that still shows it.
//
//	go test ./test/differential -time 10m              random sequences for ten minutes: make differential
//	go test ./test/differential -seed N -sequences 1   repeat one sequence
//
// Without flags it is skipped, because it is random and needs a Java virtual machine.
package differential

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/test/internal/localproc"
)

var (
	seedFlag      = flag.Uint64("seed", 1, "seed of the first sequence; 0 draws one")
	sequencesFlag = flag.Int("sequences", 0, "how many sequences to run, each with the next seed")
	timeFlag      = flag.Duration("time", 0, "run random sequences for so long instead")
	allFlag       = flag.Bool("all", false, "go on after a difference that is not triaged, without minimising it, and list all at the end")
)

const (
	sequenceLength = 30
	// sequencesPerProcess bounds the memory of DynamoDB Local, which keeps the database of every access key.
	sequencesPerProcess = 2000
)

func TestAgainstDynamoDBLocal(t *testing.T) {
	if *sequencesFlag == 0 && *timeFlag == 0 {
		t.Skip("run make differential")
	}
	seed, deadline := *seedFlag, time.Time{}
	if *timeFlag > 0 {
		deadline = time.Now().Add(*timeFlag)
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	c := &comparison{triage: readTriage(t), known: map[string]int{}, unknown: map[string]int{}}
	t.Logf("first seed %d", seed)
	more := func(n int) bool {
		if deadline.IsZero() {
			return n < *sequencesFlag
		}
		return time.Now().Before(deadline)
	}
	for n, ran := 0, true; ran && more(n) && (*allFlag || len(c.unknown) == 0); {
		ran = false
		t.Run(fmt.Sprintf("from seed %d", seed), func(t *testing.T) {
			c.endpoint = localproc.Start(t, "../systems")
			for range sequencesPerProcess {
				if !more(n) || len(c.unknown) > 0 && !*allFlag {
					break
				}
				c.sequence(t, seed)
				seed++
				n++
				ran = true
			}
		})
	}
	c.summary(t)
}

// comparison has the counts of all sequences.
type comparison struct {
	endpoint string
	triage   []*rule
	database int // number of the last database of DynamoDB Local

	sequences, requests, succeeded int
	known, unknown                 map[string]int
}

// sequence runs one sequence up to the first difference after which the two databases differ.
func (c *comparison) sequence(t *testing.T, seed uint64) {
	t.Helper()
	requests := newGenerator(seed).sequence(sequenceLength)
	c.sequences++
	c.run(t, requests, func(i int, ours, theirs outcome) bool {
		c.requests++
		if ours.kind == "ok" && theirs.kind == "ok" {
			c.succeeded++
		}
		if ours.same(theirs) {
			return true
		}
		d := difference{request: requests[i], ours: ours, theirs: theirs}
		if name := d.triaged(c.triage); name != "" {
			c.known[name]++
			return !d.changesState()
		}
		signature := d.signature()
		if c.unknown[signature]++; c.unknown[signature] == 1 {
			c.report(t, seed, requests[:i+1], d)
		}
		return !d.changesState()
	})
}

// run executes requests on two empty databases until see ends the sequence.
func (c *comparison) run(t *testing.T, requests []request, see func(i int, ours, theirs outcome) bool) {
	t.Helper()
	c.database++
	mine, done := here(t)
	defer done()
	other := local(c.endpoint, c.database)
	for i, q := range requests {
		ours, err := mine.perform(t.Context(), q)
		if err != nil {
			t.Fatalf("%v: %v", q, err)
		}
		theirs, err := other.perform(t.Context(), q)
		if err != nil {
			t.Fatalf("DynamoDB Local: %v: %v", q, err)
		}
		if !see(i, ours, theirs) {
			return
		}
	}
}

// report minimizes a difference and fails the test with it.
func (c *comparison) report(t *testing.T, seed uint64, requests []request, d difference) {
	t.Helper()
	if *allFlag {
		t.Errorf("seed %d: not triaged: %v\n  here:  %v\n  local: %v", seed, d.request, d.ours, d.theirs)
		return
	}
	requests, d = c.minimise(t, requests, d)
	var b strings.Builder
	for _, q := range requests {
		fmt.Fprintf(&b, "  %v\n", q)
	}
	t.Errorf("seed %d: a difference that is not triaged:\n%s  here:  %v\n  local: %v", seed, b.String(), d.ours, d.theirs)
}

func (c *comparison) summary(t *testing.T) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d sequences, %d requests, %d of them successful on both\n", c.sequences, c.requests, c.succeeded)
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		fmt.Fprintf(&b, "%7d %s\n", c.known[name], name)
	}
	for _, name := range slices.SortedFunc(maps.Keys(c.unknown), func(a, b string) int { return c.unknown[b] - c.unknown[a] }) {
		fmt.Fprintf(&b, "%7d NOT TRIAGED %s\n", c.unknown[name], name)
	}
	t.Log(b.String())
}
