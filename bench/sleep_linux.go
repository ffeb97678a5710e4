package main

import (
	"syscall"
	"time"
)

// sleepExactly blocks a thread, because Go's timers can be a millisecond late where nothing else runs.
func sleepExactly(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // woken early, it makes a request early by that much
}
