package kv

// keptNameMax is the maximum length of a kept snapshot's name: a caller's, plus the prefix of a store within another one (package
// part).
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
