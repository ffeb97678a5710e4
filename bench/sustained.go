//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// sustained is the result of minutes of writes.
type sustained struct {
	Server       string  `json:"server"`
	Workload     string  `json:"workload"`
	Seconds      float64 `json:"seconds"`
	Highest      float64 `json:"highest_ops_per_second,omitempty"` // not measured for an echo
	Due          float64 `json:"due_per_second"`
	OpsPerSecond float64 `json:"ops_per_second"`
	FsyncMillis  float64 `json:"median_fsync_ms"`
	P50Millis    float64 `json:"p50_ms"`
	P99Millis    float64 `json:"p99_ms"`
	P999Millis   float64 `json:"p999_ms"`
	MaxMillis    float64 `json:"max_ms"`
	CPUMicros    float64 `json:"server_cpu_us_per_op"`
	Written      float64 `json:"bytes_written_per_op,omitempty"`
}

// The maximum latency of writes: of all but one in a thousand, in multiples of an fsync, and of each.
const (
	fsyncs    = 25.0
	stallMost = 250.0 // ms
)

func (s sustained) holds() bool {
	return s.P999Millis <= fsyncs*s.FsyncMillis && s.MaxMillis <= stallMost
}

func (s sustained) String() string {
	most, written := "", ""
	if s.Highest > 0 {
		most = fmt.Sprintf(" of at most %.0f/s", s.Highest)
	}
	if s.Written > 0 {
		written = fmt.Sprintf(", %.0f bytes written each", s.Written)
	}
	return fmt.Sprintf("%s, %s for %.0f s, %.0f/s due%s: p50 %.2f ms, p99 %.1f ms, p99.9 %.1f ms (%.0f fsyncs of %.2f ms; aim %.0f), longest %.0f ms (aim %.0f), %.0f µs of processor time each%s",
		s.Server, s.Workload, s.Seconds, s.Due, most, s.P50Millis, s.P99Millis, s.P999Millis, s.P999Millis/s.FsyncMillis, s.FsyncMillis, fsyncs, s.MaxMillis, stallMost, s.CPUMicros, written)
}

// medianFsync is the time the disk of a directory takes to make a commit durable.
func medianFsync(dir string) (time.Duration, error) {
	const times = 200
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	defer f.Close()
	var took []time.Duration
	page := make([]byte, 4<<10)
	for range times {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[times/2], nil
}

// conditions are the conditions of a run.
type conditions struct {
	Date     string `json:"date"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Cores    int    `json:"cores"`
	Load     string `json:"load_average_before"`
	Items    int    `json:"items"`
	Rounds   int    `json:"rounds"`
	Duration string `json:"duration"`
}

func conditionsOf(s settings) conditions {
	c := conditions{
		Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(), Cores: runtime.NumCPU(), Load: loadAverage(),
		Items: s.items, Rounds: s.rounds, Duration: s.duration.String(),
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				c.Revision = setting.Value
			}
		}
	}
	return c
}

// loadAverage is the load average of the last minute. Linux only.
func loadAverage() string {
	load, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(load), " ")
	return cmp.Or(minute, "unknown")
}

func (c conditions) String() string {
	return fmt.Sprintf("%s, %d cores, load average %s before the run, %d items of 1 KB with two indexes, medians of %d rounds of %s, %s",
		c.Date, c.Cores, c.Load, c.Items, c.Rounds, c.Duration, c.Go)
}
