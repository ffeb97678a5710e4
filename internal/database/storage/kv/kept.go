package kv

// keptNameMax is the length of the longest name of a kept snapshot: a caller's, and what a store within another (package
// part) puts before it.
const keptNameMax = 200

// ValidKeptName reports whether a kept snapshot may have this name, see Keeper.
func ValidKeptName(name string) bool {
	if name == "" || len(name) > keptNameMax {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
