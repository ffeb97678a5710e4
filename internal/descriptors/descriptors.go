// Package descriptors divides the file descriptors of the process between the store and connections. Both use the same
// limit (ulimit -n), so connections must leave enough descriptors for the store: a store that cannot create a file
// accepts no more writes.
//
//	a quarter, 64 to 1000   files that the store keeps open
//	an eighth, at least 64  short-lived files: logs, compactions, backups; listeners
//	the rest                connections
//
// The functions are safe for concurrent use.
package descriptors

const (
	storeMin, storeMax = 64, 1000
	marginMin          = 64

	// unlimited represents limits too high to matter, and systems without a limit.
	unlimited = 1 << 20
)

// ForStore is the number of files that a store may keep open.
func ForStore() int { return forStore(Limit()) }

// ForConnections is the maximum number of open connections; 0 or less if the limit is too small for the store.
func ForConnections() int { return forConnections(Limit()) }

func forStore(limit int) int { return min(max(limit/4, storeMin), storeMax) }

func forConnections(limit int) int { return limit - forStore(limit) - max(limit/8, marginMin) }
