//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// holdPeriod is short, so that a process that has used up its share waits for milliseconds.
const holdPeriod = 10_000 // µs

// hold limits a process to a share of one core, until release is called after its end. It needs a control group, and so Linux
// and root.
func hold(pid int, share float64) (release func(), err error) {
	quota := int(share * holdPeriod)
	dir, settings := filepath.Join("/sys/fs/cgroup", fmt.Sprintf("monotable-bench-%d", pid)), map[string]string{
		"cpu.max": fmt.Sprintf("%d %d", quota, holdPeriod),
	}
	if _, err := os.Stat("/sys/fs/cgroup/cpu"); err == nil { // control groups of version 1
		dir, settings = filepath.Join("/sys/fs/cgroup/cpu", filepath.Base(dir)), map[string]string{
			"cpu.cfs_period_us": strconv.Itoa(holdPeriod), "cpu.cfs_quota_us": strconv.Itoa(quota),
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	settings["cgroup.procs"] = strconv.Itoa(pid)
	for name, value := range settings {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil {
			_ = os.Remove(dir)
			return nil, err
		}
	}
	return func() { _ = os.Remove(dir) }, nil
}
