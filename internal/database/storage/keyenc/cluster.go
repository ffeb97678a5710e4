package keyenc

// Within the space of servers that share a store.
const (
	clusterServer      = 's'
	clusterLeader      = 'w'
	clusterDefinitions = 'd'
	clusterIdentities  = 'i'
)

// Server is the key of the lease of a server, by its id.
func Server(id string) []byte { return append([]byte{spaceCluster, clusterServer}, id...) }

// Servers is the range of all servers' leases.
func Servers() (lo, hi []byte) { return prefixBounds([]byte{spaceCluster, clusterServer}) }

// Leader is the key of the lease of the server that does the work beside requests.
func Leader() []byte { return []byte{spaceCluster, clusterLeader} }

// Definitions is the counter that each change of a definition raises.
func Definitions() []byte { return []byte{spaceCluster, clusterDefinitions} }

// IdentityChanges is the counter that each change of users, roles and policies raises.
func IdentityChanges() []byte { return []byte{spaceCluster, clusterIdentities} }

// IsCluster tells the keys of servers that share a store from those of the database.
func IsCluster(key []byte) bool { return len(key) > 0 && key[0] == spaceCluster }
