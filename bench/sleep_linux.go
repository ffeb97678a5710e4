package main

import (
	"syscall"
	"time"
)

// sleepExactly blocks a thread, because Go's timers can be a millisecond late if nothing else runs.
func sleepExactly(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // if it is interrupted, a request is early by the difference
}
