//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpu is the processor time the server has used so far. Linux only; 0 elsewhere.
func (s *server) cpu() time.Duration {
	own, _ := processTimes(s.process.Process.Pid)
	return own
}

// processTimes is the processor time used so far by a process, and by its children that have ended.
func processTimes(pid int) (own, ended time.Duration) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The program's name, in parentheses, may contain spaces: count fields from after it.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0, 0
	}
	ticks := func(field int) time.Duration {
		const perSecond = 100
		n, _ := strconv.ParseInt(fields[field], 10, 64)
		return time.Duration(n) * time.Second / perSecond
	}
	return ticks(11) + ticks(12), ticks(13) + ticks(14)
}

// processTreeTime is the processor time of single-threaded processes, and of the children of the first that have ended. It does not
// round the time of each running process to a tick, because there may be dozens that use little.
func processTreeTime(pids []int) (sum time.Duration) {
	for i, pid := range pids {
		if i == 0 {
			_, sum = processTimes(pid)
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		first, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(first, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}
