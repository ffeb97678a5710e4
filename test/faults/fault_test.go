package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/monotable/monotable/test/internal/link"
)

// kind is the kind of a fault.
type kind int

const (
	killServer kind = iota
	pauseServer
	cutClients
	refuseClients
	holdRequests
	holdResponses
	cutStore
	refuseStore
	holdToStore
	holdFromStore
	loseStore
	breakStore
)

func (k kind) String() string {
	return [...]string{
		"kill server", "pause server", "cut clients of server", "refuse clients of server", "hold requests to server", "hold responses of server",
		"cut store from server", "refuse store to server", "hold bytes to the store of server", "hold bytes from the store to server",
		"lose the connections to the store of server",
	}[k]
}

// fault is one fault, with a duration.
type fault struct {
	kind   kind
	server int      // the server, or the server of the link
	store  breakage // for breakStore
	length time.Duration
}

func (f fault) String() string {
	if f.kind == breakStore {
		return fmt.Sprintf("%s for %v", f.store.name, f.length)
	}
	return fmt.Sprintf("%v %d for %v", f.kind, f.server, f.length)
}

// draw draws simultaneous faults: one, or one each of a server's process, of the network and of the store.
func draw(random *rand.Rand, breakages []breakage) (list []fault) {
	classes := [][2]kind{{killServer, pauseServer}, {cutClients, loseStore}, {breakStore, breakStore}}
	for _, i := range random.Perm(len(classes))[:1+max(0, random.IntN(5)-2)] {
		first, last := classes[i][0], classes[i][1]
		list = append(list, fault{
			kind: first + kind(random.IntN(int(last-first)+1)), server: random.IntN(frontEnds), store: breakages[random.IntN(len(breakages))], length: drawLength(random),
		})
	}
	if slices.ContainsFunc(list, func(f fault) bool { return f.kind == loseStore }) { // it ends when the server can write
		list = slices.DeleteFunc(list, func(f fault) bool { return f.kind <= pauseServer })
	}
	return list
}

// drawLength draws a duration: usually short, sometimes longer than leases and updates of a server last.
func drawLength(random *rand.Rand) time.Duration {
	longest := []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 9 * time.Second}[random.IntN(4)]
	return (50*time.Millisecond + time.Duration(random.Int64N(int64(longest)))).Round(time.Millisecond)
}

// shortList is the nth of a few faults, with random servers.
func shortList(random *rand.Rand, breakages []breakage, n int) []fault {
	server, length := random.IntN(frontEnds), time.Duration(100+random.IntN(300))*time.Millisecond
	some := func(kinds ...kind) []fault {
		return []fault{{kind: kinds[random.IntN(len(kinds))], server: server, length: length}}
	}
	breakages = slices.DeleteFunc(slices.Clone(breakages), func(b breakage) bool { return !b.short })
	switch {
	case n == 0:
		return append(some(cutStore, holdToStore, holdFromStore), fault{kind: pauseServer, server: (server + 1) % frontEnds, length: length})
	case n == 1:
		return append(some(cutClients, holdRequests, holdResponses), fault{kind: killServer, server: (server + 1) % frontEnds, length: length})
	case n-2 < len(breakages):
		return []fault{{kind: breakStore, store: breakages[n-2], length: length}}
	default:
		return nil
	}
}

// causeFaults causes simultaneous faults, ends each of them, and waits until the cluster has recovered. The store is repaired first
// and servers last, because they only start if it responds.
func (c *cluster) causeFaults(t *testing.T, random *rand.Rand, list []fault) {
	t.Helper()
	slices.SortFunc(list, func(a, b fault) int { return int(b.kind - a.kind) })
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.String()
	}
	t.Logf("%s", strings.Join(names, ", "))
	begun := time.Now()
	if random.IntN(3) > 0 { // so that a random mix of work is in progress
		<-time.After(time.Duration(random.IntN(500)) * time.Millisecond)
	}
	heal := make([]func(), len(list))
	for i, f := range list {
		heal[i] = c.begin(t, f)
	}
	for i, f := range list {
		<-time.After(f.length)
		heal[i]()
	}
	healed := time.Now()
	c.recovered(t)
	t.Logf("healed after %v, recovered after %v more",
		healed.Sub(begun).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
}

// begin starts a fault and returns a function that ends it.
func (c *cluster) begin(t *testing.T, f fault) (heal func()) {
	t.Helper()
	s := c.frontEnds[f.server]
	switch f.kind {
	case killServer:
		s.process.Kill(t)
		return func() { c.run(t, s) }
	case pauseServer:
		s.process.Signal(t, syscall.SIGSTOP)
		return func() { s.process.Signal(t, syscall.SIGCONT) }
	case cutClients, refuseClients, holdRequests, holdResponses:
		return applyEffect(linkEffect(f.kind-cutClients), s.clients)
	case cutStore, refuseStore, holdToStore, holdFromStore:
		return applyEffect(linkEffect(f.kind-cutStore), s.store.links...)
	case loseStore:
		forget := dropLinks(s.store.links)
		return func() {
			s.writes(t, fmt.Sprintf("server %d writes, whose connections are lost", f.server))
			forget()
		}
	default:
		return f.store.begin(t)
	}
}

// linkEffect is the effect of a fault on links, in the order of the kinds.
type linkEffect int

const (
	cut linkEffect = iota
	refuse
	holdUp
	holdDown
)

// applyEffect applies an effect to some links.
func applyEffect(what linkEffect, links ...*link.Link) (heal func()) {
	for _, l := range links {
		switch what {
		case cut:
			l.Cut()
		case refuse:
			l.Refuse()
		case holdUp:
			l.Hold(link.Up)
		case holdDown:
			l.Hold(link.Down)
		}
	}
	return func() {
		for _, l := range links {
			l.Release()
		}
	}
}

// dropLinks silently drops the connections of some links, until they are reset.
func dropLinks(links []*link.Link) (heal func()) {
	for _, l := range links {
		l.DropSilently()
	}
	return func() { applyEffect(cut, links...) }
}

// healer ends a fault by an operation that may fail.
func healer(t *testing.T, heal func() error) func() {
	t.Helper()
	return func() {
		t.Helper()
		if err := heal(); err != nil {
			t.Fatal(err)
		}
	}
}
