//go:build unix && !linux

package main

import "time"

func sleepExactly(d time.Duration) { time.Sleep(d) }
