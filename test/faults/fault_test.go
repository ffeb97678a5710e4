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

// kind is what a fault does.
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
	killPrimary
	pausePrimary
	failOver
	killStandby
	pauseStandby
)

func (k kind) String() string {
	return [...]string{
		"kill server", "pause server", "cut clients of server", "refuse clients of server", "hold requests to server", "hold responses of server",
		"cut store from server", "refuse store to server", "hold bytes to the store of server", "hold bytes from the store to server",
		"lose the connections to the store of server",
		"kill the primary", "pause the primary", "kill the primary and promote its standby", "kill the standby", "pause the standby",
	}[k]
}

// fault is one fault, for some time.
type fault struct {
	kind   kind
	server int // which server or whose link
	length time.Duration
}

func (f fault) String() string {
	if f.kind >= killPrimary {
		return fmt.Sprintf("%v for %v", f.kind, f.length)
	}
	return fmt.Sprintf("%v %d for %v", f.kind, f.server, f.length)
}

// draw draws faults that go on at once: one, or one each of a server's process, of the network and of PostgreSQL.
func draw(random *rand.Rand) (list []fault) {
	classes := [][2]kind{{killServer, pauseServer}, {cutClients, loseStore}, {killPrimary, pauseStandby}}
	for _, i := range random.Perm(len(classes))[:1+max(0, random.IntN(5)-2)] {
		first, last := classes[i][0], classes[i][1]
		list = append(list, fault{
			kind: first + kind(random.IntN(int(last-first)+1)), server: random.IntN(frontEnds), length: drawLength(random),
		})
	}
	if slices.ContainsFunc(list, func(f fault) bool { return f.kind == loseStore }) { // which ends when the server writes
		list = slices.DeleteFunc(list, func(f fault) bool { return f.kind <= pauseServer })
	}
	return list
}

// drawLength draws a time: many short ones, and some that are longer than leases and updates of a server last.
func drawLength(random *rand.Rand) time.Duration {
	longest := []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 9 * time.Second}[random.IntN(4)]
	return (50*time.Millisecond + time.Duration(random.Int64N(int64(longest)))).Round(time.Millisecond)
}

// shortList is the nth of a few, whose order and servers are drawn.
func shortList(random *rand.Rand, n int) []fault {
	server, length := random.IntN(frontEnds), time.Duration(100+random.IntN(300))*time.Millisecond
	some := func(kinds ...kind) []fault {
		return []fault{{kinds[random.IntN(len(kinds))], server, length}}
	}
	switch n {
	case 0:
		return append(some(cutStore, holdToStore, holdFromStore), fault{pauseServer, (server + 1) % frontEnds, length})
	case 1:
		return append(some(cutClients, holdRequests, holdResponses), fault{killServer, (server + 1) % frontEnds, length})
	case 2:
		return some(killPrimary)
	case 3:
		return some(failOver)
	default:
		return nil
	}
}

// suffer has faults happen at once, ends each of them, and waits until the cluster has recovered. PostgreSQL is healed first and servers last:
// they start where it answers.
func (c *cluster) suffer(t *testing.T, random *rand.Rand, list []fault) {
	t.Helper()
	slices.SortFunc(list, func(a, b fault) int { return int(b.kind - a.kind) })
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.String()
	}
	begun := time.Now()
	if random.IntN(3) > 0 { // what is under way is some of everything
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
	t.Logf("%s: healed after %v, recovered after %v more", strings.Join(names, ", "),
		healed.Sub(begun).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
}

// begin begins a fault and returns what ends it.
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
		return c.disturb(f.kind-cutClients, s.clients)
	case cutStore, refuseStore, holdToStore, holdFromStore:
		return c.disturb(f.kind-cutStore, s.store[:]...)
	case loseStore:
		lost := s.store[c.primary]
		lost.Lose()
		return func() {
			s.writes(t, fmt.Sprintf("server %d writes, whose connections are lost", f.server))
			lost.Cut()
		}
	default:
		return c.beginPostgres(t, f.kind)
	}
}

// disturb is a fault of some links: cut, refuse, hold up, hold down, in the order of the kinds.
func (c *cluster) disturb(what kind, links ...*link.Link) (heal func()) {
	for _, l := range links {
		switch what {
		case 0:
			l.Cut()
		case 1:
			l.Refuse()
		case 2:
			l.Hold(link.Up)
		default:
			l.Hold(link.Down)
		}
	}
	return func() {
		for _, l := range links {
			l.Release()
		}
	}
}

func (c *cluster) beginPostgres(t *testing.T, k kind) (heal func()) {
	t.Helper()
	primary, standby := c.postgres[c.primary], c.postgres[1-c.primary]
	switch k {
	case killPrimary, failOver:
		primary.Kill()
	case killStandby:
		standby.Kill()
	case pausePrimary:
		primary.Pause()
		return primary.Resume
	default:
		standby.Pause()
		return standby.Resume
	}
	return func() {
		var err error
		switch k {
		case killPrimary:
			err = primary.Restart()
		case killStandby:
			err = standby.Restart()
		default:
			err = c.failOver()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// failOver promotes the standby of a primary that is dead, and gives it a standby of its own at the dead one's address.
func (c *cluster) failOver() error {
	dead := c.primary
	c.primary = 1 - dead
	primary := c.postgres[c.primary]
	if err := primary.Promote(); err != nil {
		return err
	}
	c.postgres[dead].Remove()
	standby, err := primary.Standby(noStandby)
	if err != nil {
		return err
	}
	c.postgres[dead] = standby
	for _, f := range c.frontEnds {
		f.store[dead].Retarget("unix", standby.Socket())
	}
	return primary.Reconfigure(oneStandby)
}
