package cluster

import (
	"cmp"
	"flag"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

var earlier = flag.String("earlier", "", "the monotable program of an earlier release with the same format, which TestRollingUpgrade replaces; '' is this one")

// TestRollingUpgrade: two servers are replaced one after the other while clients write, count, read and follow the stream, so that
// servers of both releases share the store meanwhile. All requests succeed, and no acknowledged write is lost.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	later, url, dir := serverproc.Build(t), postgrestest.URL("rolling", postgres), t.TempDir()
	serve := func(binary string, n int) *serverproc.Server {
		return serverproc.Start(t, binary, "--log-level", "error", "--store", url, "--data", filepath.Join(dir, strconv.Itoa(n)))
	}
	var old [2]*serverproc.Server
	for n := range old {
		old[n] = serve(cmp.Or(*earlier, later), n)
	}
	b := new(balancer)
	b.send(t, old[0])
	stream := createMoving(t, b.client())
	x := begin(t, b, stream)
	x.progress(t, 100)
	for n, o := range old {
		replacement := serve(later, len(old)+n)
		b.send(t, replacement)
		x.progress(t, 50)
		if n == 0 { // the one that is not replaced yet serves, too
			b.send(t, old[1])
			x.progress(t, 50)
			b.send(t, replacement)
		}
		o.Stop(t)
		x.progress(t, 50)
	}
	x.end(t, stream)
	run(t, later, "verify", filepath.Join(dir, "3"))
}
