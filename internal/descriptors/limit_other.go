//go:build !unix

package descriptors

// Limit is the maximum number of open descriptors of the process.
func Limit() int { return unlimited }
