//go:build !linux

package postgreskv

import (
	"syscall"
	"time"
)

// setAcknowledgeTime does nothing: what is sent and not acknowledged is given up after commitTime.
func setAcknowledgeTime(syscall.RawConn, time.Duration) error { return nil }
