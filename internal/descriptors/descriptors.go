// Package descriptors divides the file descriptors of the process between the store and connections. Both take them from
// one limit (ulimit -n), so connections must leave the store the files that it has to open: a store that cannot create a
// file takes no more writes.
//
//	a quarter, 64 to 1000   files of the store that stay open
//	an eighth, at least 64  files that are open for a short time: logs, compactions, backups; listeners
//	the rest                connections
//
// The functions may be called from any goroutine.
package descriptors

const (
	storeMin, storeMax = 64, 1000
	marginMin          = 64

	// unlimited stands for limits too high to matter, and for systems without one.
	unlimited = 1 << 20
)

// ForStore is how many files a store may keep open.
func ForStore() int { return forStore(Limit()) }

// ForConnections is how many connections may be open; 0 or less where the limit is too small for the store.
func ForConnections() int { return forConnections(Limit()) }

func forStore(limit int) int { return min(max(limit/4, storeMin), storeMax) }

func forConnections(limit int) int { return limit - forStore(limit) - max(limit/8, marginMin) }
