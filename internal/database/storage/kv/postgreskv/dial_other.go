//go:build !linux

package postgreskv

import (
	"syscall"
	"time"
)

// setAcknowledgeTime does nothing: unacknowledged data is given up after commitTime.
func setAcknowledgeTime(syscall.RawConn, time.Duration) error { return nil }
