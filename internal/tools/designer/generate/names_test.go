package generate

import "testing"

// TestNames tests Go names for a design's names, with initialisms, and for enumeration values, with
// codes unchanged.
func TestNames(t *testing.T) {
	for _, c := range []struct{ name, exported, unexported string }{
		{"createdAt", "CreatedAt", "createdAtOf"},
		{"created_at", "CreatedAt", "createdAtOf"},
		{"txId", "TxID", "txIDOf"},
		{"imageUrl", "ImageURL", "imageURLOf"},
		{"URLThing", "URLThing", "urlThingOf"},
		{"userIds", "UserIDs", "userIDsOf"},
		{"ttl", "TTL", "ttlOf"},
		{"json", "JSON", "jsonOf"},
		{"id", "ID", "idOf"},
		{"idle", "Idle", "idleOf"},
		{"viajeActualId", "ViajeActualID", "viajeActualIDOf"},
		{"pesoKg", "PesoKg", "pesoKgOf"},
		{"HTTPServer", "HTTPServer", "httpServerOf"},
		{"portfolio-backend-table", "PortfolioBackendTable", "portfolioBackendTableOf"},
		{"GSI1PK", "GSI1PK", "gsi1PKOf"},
		{"type", "Type", "typeOf"},
		{"a", "A", "aOf"},
	} {
		if got := exported(c.name); got != c.exported {
			t.Errorf("exported(%s) = %s, want %s", c.name, got, c.exported)
		}
		if got := unexported(c.exported, "Of"); got != c.unexported {
			t.Errorf("unexported(%s) = %s, want %s", c.exported, got, c.unexported)
		}
	}
	for value, want := range map[string]string{
		"PENDING": "Pending", "en_curso": "EnCurso", "EN_CURSO": "EnCurso", "USD": "USD", "TV": "TV", "MOVIE": "Movie", "dark-green": "DarkGreen",
		"4xx": "4xx", "in progress": "InProgress", "customer": "Customer", "HTTP_ERROR": "HTTPError", "año": "Año", "iPhone": "IPhone", "+": "",
	} {
		if got := constant(value); got != want {
			t.Errorf("constant(%q) = %q, want %q", value, got, want)
		}
	}
}

// TestCommentsAreWrapped tests that a comment is wrapped between words, and that a word that is too long gets
// its own line.
func TestCommentsAreWrapped(t *testing.T) {
	long := make([]byte, 150)
	for i := range long {
		long[i] = 'x'
	}
	got := comment("a "+string(long)+" b", "", "second", "\tcode   as it is")
	want := "// a\n// " + string(long) + "\n// b\n//\n// second\n//\n//\tcode   as it is\n"
	if got != want {
		t.Errorf("the comment is\n%s want\n%s", got, want)
	}
}
