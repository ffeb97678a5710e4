package keyenc

// Within the space of the servers that share a store.
const (
	clusterServer      = 's'
	clusterLeader      = 'w'
	clusterDefinitions = 'd'
	clusterIdentities  = 'i'
)

// Server returns the key of a server's lease, by its id.
func Server(id string) []byte { return append([]byte{spaceCluster, clusterServer}, id...) }

// Servers returns the range of all servers' leases.
func Servers() (lo, hi []byte) { return prefixBounds([]byte{spaceCluster, clusterServer}) }

// Leader returns the key of the lease of the server that does the background work.
func Leader() []byte { return []byte{spaceCluster, clusterLeader} }

// Definitions returns the key of the counter that each change of a table definition increments.
func Definitions() []byte { return []byte{spaceCluster, clusterDefinitions} }

// IdentityChanges returns the key of the counter that each change of users, roles and policies increments.
func IdentityChanges() []byte { return []byte{spaceCluster, clusterIdentities} }

// IsCluster distinguishes the keys of the servers that share a store from those of the database.
func IsCluster(key []byte) bool { return len(key) > 0 && key[0] == spaceCluster }
