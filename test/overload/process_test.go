package overload

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var attacked = flag.String("attack", "", "only attack the server at this `address`, until the input ends; for the test's own use")

func TestMain(m *testing.M) {
	flag.Parse()
	if *attacked == "" {
		os.Exit(m.Run())
	}
	var l load
	input := json.NewDecoder(os.Stdin)
	if err := input.Decode(&l); err != nil {
		panic(err)
	}
	if l.Apart {
		if err := schedule(unix.SCHED_IDLE, 0); err != nil {
			panic(err)
		}
	}
	counts := newTally()
	ctx, stop := context.WithCancel(context.Background())
	ended := clientOf(*attacked).attack(ctx, l, counts)
	_, _ = io.Copy(io.Discard, os.Stdin)
	untilMet(counts)
	stop()
	ended()
	if err := json.NewEncoder(os.Stdout).Encode(counts.of); err != nil {
		panic(err)
	}
}

// expected are the responses of which each kind of large request must get at least one.
var expected = map[string]string{oversizedKind: "413", largeKind: "400 ValidationException", transactionKind: "200"}

// untilMet waits for the expected responses, on a slow machine a little longer than the load lasts.
func untilMet(counts *tally) {
	limit := time.After(30 * time.Second)
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for kind, response := range expected {
		for !counts.met(kind, response) {
			select {
			case <-look.C:
			case <-limit:
				return
			}
		}
	}
}

// beginAttack attacks from a separate process, as from another machine: the other clients, whose latency is measured, must not
// wait for the attackers' goroutines. end stops the attack and adds its results to counts.
func beginAttack(t *testing.T, endpoint string, l load, counts *tally) (end func()) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var met bytes.Buffer
	attack := exec.CommandContext(t.Context(), program, "-attack", endpoint)
	attack.Stdout, attack.Stderr = &met, os.Stderr
	input, err := attack.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := attack.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(input).Encode(l); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = input.Close()
		if err := attack.Wait(); err != nil {
			t.Fatal(err)
		}
		var of map[string]map[string]int
		if err := json.Unmarshal(met.Bytes(), &of); err != nil {
			t.Fatal(err)
		}
		for kind, responses := range of {
			for response, n := range responses {
				counts.addMany(kind, response, n)
			}
		}
	}
}

// schedule puts all threads of this process, and those that they start, under a policy of the system's scheduler.
func schedule(policy, priority uint32) error {
	const threads = "/proc/self/task"
	entries, err := os.ReadDir(threads)
	if err != nil {
		return err
	}
	for _, thread := range entries {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: priority}
		if err := unix.SchedSetAttr(id, &attributes, 0); err != nil {
			return fmt.Errorf("scheduling policy %d: %w", policy, err)
		}
	}
	return nil
}
