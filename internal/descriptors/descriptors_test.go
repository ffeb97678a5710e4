package descriptors

import "testing"

func TestSharesAddUpToTheLimit(t *testing.T) {
	for _, c := range []struct{ limit, store, connections int }{
		{64, 64, -64}, {256, 64, 128}, {1024, 256, 640}, {65536, 1000, 56344}, {unlimited, 1000, 916504},
	} {
		if s, n := forStore(c.limit), forConnections(c.limit); s != c.store || n != c.connections {
			t.Errorf("of %d descriptors the store gets %d and connections %d, want %d and %d", c.limit, s, n, c.store, c.connections)
		}
	}
	if limit := Limit(); limit < storeMin {
		t.Errorf("this process may open %d files", limit)
	}
}
