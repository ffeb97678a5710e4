//go:build unix

package descriptors

import "syscall"

// Limit is the maximum number of open descriptors of the process. Go's runtime has raised the soft limit to the
// hard limit.
func Limit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unlimited
	}
	return int(min(uint64(limit.Cur), unlimited)) //nolint:gosec,unconvert // it is at most unlimited, and signed on some systems
}
