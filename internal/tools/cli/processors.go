package cli

import "runtime"

// spareProcessors is how many goroutines a server runs at once beyond one for each core. The system then shares the cores
// among their threads.
//
// Go's scheduler looks at the network only where a processor has nothing else to do, and every 10 ms. While large
// operations, compactions and the collector keep all processors busy, a small request waits for that, and the Go
// scheduler has no priorities. With a few more, there is nearly always a thread that waits for the network, and the system
// gives it a core soon. On two cores under `make overload` the p99 of small requests was 23 ms with two, 16 ms with
// three, 13 ms with four and 9 ms with six; the p50 1.7 ms with two and 0.7 ms with six.
const spareProcessors = 4

// tuneProcessors makes room for the spare ones and returns how many there are for long work. A GOMAXPROCS in the
// environment is the user's own choice.
func tuneProcessors(getenv func(string) string) (cores int) {
	cores = runtime.GOMAXPROCS(0)
	if getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(cores + spareProcessors)
	}
	return cores
}
