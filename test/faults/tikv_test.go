//go:build tikv

package faults

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
	"github.com/monotable/monotable/test/internal/link"
)

// TestFaultsOnTiKV is TestFaults over TiKV's real placement driver and three nodes of a stand-in.
func TestFaultsOnTiKV(t *testing.T) {
	breakAndCheck(t, func() (store, error) { return startTiKV(t) }, "-tags=tikv")
}

const nodes = 3

// tikv is a placement driver and three nodes. Each of them, and each server, connects to the others through its own proxy.
type tikv struct {
	cluster *tikvtest.Cluster

	mu  sync.Mutex
	own map[int]*link.Proxy // of the cluster's processes
	all []*link.Proxy
}

func startTiKV(t *testing.T) (store, error) {
	t.Helper()
	k := &tikv{own: map[int]*link.Proxy{}}
	var err error
	k.cluster, err = tikvtest.Start(tikvtest.Options{Logs: t.ArtifactDir(), Proxy: func(process int, hosts map[string]string) string {
		if k.own[process] == nil { // it does not start again
			k.own[process] = k.proxy(t, hosts)
		}
		return k.own[process].URL()
	}})
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (k *tikv) proxy(t *testing.T, hosts map[string]string) *link.Proxy {
	t.Helper()
	p := link.NewProxy(t, hosts)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, p)
	return p
}

func (k *tikv) remove() { k.cluster.Remove() }

// pace: a change of a table takes two seconds, during which there are no writes to it.
func (k *tikv) pace() pace { return pace{client: 8 * time.Second, rest: 5 * time.Second} }

func (k *tikv) route(t *testing.T) route {
	t.Helper()
	p := k.proxy(t, k.cluster.Hosts())
	return route{url: k.cluster.Address("faults"), env: []string{"HTTPS_PROXY=" + p.URL()}, links: p.Links()}
}

func (k *tikv) breakages() (list []breakage) {
	for n := tikvtest.Driver; n < nodes; n++ {
		name := fmt.Sprint("node ", n)
		if n == tikvtest.Driver {
			name = "the placement driver"
		}
		list = append(list,
			breakage{"kill " + name, n <= 0, func(t *testing.T) func() {
				t.Helper()
				k.cluster.Kill(n)
				return healer(t, func() error { return k.cluster.Restart(n) })
			}},
			breakage{"pause " + name, false, func(*testing.T) func() {
				k.cluster.Pause(n)
				return func() { k.cluster.Resume(n) }
			}},
			breakage{"refuse " + name, n == 1, func(*testing.T) func() { return applyEffect(refuse, append(k.to(n), k.from(n)...)...) }},
			breakage{"hold bytes to " + name, false, func(*testing.T) func() { return applyEffect(holdUp, k.to(n)...) }},
			breakage{"hold bytes from " + name, false, func(*testing.T) func() {
				return applyEffect(holdUp, k.from(n)...)
			}},
			breakage{"hold responses of " + name, false, func(*testing.T) func() { return applyEffect(holdDown, k.to(n)...) }},
			breakage{"lose the connections of " + name, n == 2, func(*testing.T) func() {
				return dropLinks(append(k.to(n), k.from(n)...))
			}},
		)
	}
	return list
}

// to returns the links from all other processes to one of the cluster's.
func (k *tikv) to(process int) (list []*link.Link) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.all {
		if p != k.own[process] {
			list = append(list, p.Link(k.cluster.Name(process)))
		}
	}
	return list
}

// from returns the links from a process to all others.
func (k *tikv) from(process int) (list []*link.Link) {
	own := k.own[process]
	for host := range k.cluster.Hosts() {
		if host != k.cluster.Name(process) {
			list = append(list, own.Link(host))
		}
	}
	return list
}

func (k *tikv) whole(t *testing.T) {
	t.Helper()
	if err := k.cluster.AwaitHealthy(); err != nil {
		t.Fatal(err)
	}
}

// idle does not wait: a reader decides about the leftovers of a stopped server.
func (k *tikv) idle(*testing.T) {}
