package postgreskv

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setAcknowledgeTime makes the system end a TCP connection with data that was not acknowledged for a time.
func setAcknowledgeTime(c syscall.RawConn, d time.Duration) error {
	var refused error
	err := c.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())) //nolint:gosec // a descriptor
	})
	return errors.Join(err, refused)
}
