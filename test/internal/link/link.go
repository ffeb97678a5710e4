// Package link is a breakable network connection between two processes: a Link accepts TCP connections and forwards their
// bytes to another address, until it is told to reset them, to hold bytes back, or to drop a connection silently. It
// counts the forwarded bytes.
//
//	client ──Up──► Link ──Up──► target
//	       ◄─Down─      ◄─Down─
//
// Held bytes are delivered when they are released, even if the sender has closed its connection meanwhile, as in a real
// network. All methods are safe for concurrent use.
package link

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Direction is the direction of bytes.
type Direction int

// The directions: from clients to the target, and back.
const (
	Up Direction = iota
	Down
)

// Link is an address that forwards to another.
type Link struct {
	listener net.Listener
	stop     context.CancelFunc
	ctx      context.Context //nolint:containedctx // of all connections
	all      sync.WaitGroup

	mu              sync.Mutex
	network, target string
	refusing        bool
	gates           [2]chan struct{} // closed while bytes may pass
	connections     map[*connection]bool
	traffic         Traffic
}

// Traffic is what has been forwarded. A flight is what one side of a connection sends until the other one sends: each flight
// up, with the flight down in response, is a round trip.
type Traffic struct{ Flights, Bytes [2]int }

// connection is a pair of connections with forwarding.
type connection struct {
	client, server net.Conn
	lost           chan struct{} // closed once no byte passes any more
	closed         chan struct{}
	once           sync.Once
	last           Direction // of the last bytes; none initially
}

// New listens on a free port of the loopback interface for the duration of the test, and forwards connections to a target.
func New(tb testing.TB, network, target string) *Link {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		tb.Fatal(err)
	}
	l := &Link{listener: listener, ctx: ctx, stop: stop, network: network, target: target, connections: map[*connection]bool{}}
	for d := range l.gates {
		l.gates[d] = open()
	}
	l.all.Go(l.accept)
	tb.Cleanup(l.close)
	return l
}

func open() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// Traffic returns what has been forwarded since the link was created, in all connections.
func (l *Link) Traffic() Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.traffic
}

func (l *Link) count(c *connection, d Direction, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.traffic.Bytes[d] += n; c.last != d {
		c.last = d
		l.traffic.Flights[d]++
	}
}

// Address is the address of the link.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Retarget forwards later connections to another target.
func (l *Link) Retarget(network, target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.network, l.target = network, target
}

// Cut resets all connections, including dropped ones.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.connections {
		c.reset()
	}
}

// Refuse cuts, and resets each later connection until Release.
func (l *Link) Refuse() {
	l.mu.Lock()
	l.refusing = true
	l.mu.Unlock()
	l.Cut()
}

// Hold holds back the bytes of a direction, also of later connections, until Release.
func (l *Link) Hold(d Direction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.gates[d]:
		l.gates[d] = make(chan struct{})
	default: // it is held
	}
}

// Release ends Refuse and Hold.
func (l *Link) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = false
	for d, gate := range l.gates {
		select {
		case <-gate:
		default:
			close(gate)
			l.gates[d] = gate
		}
	}
}

// DropSilently drops the existing connections without telling either end: neither data nor their end passes, as when a firewall
// forgets them or the machine behind them is gone. Later connections are not affected.
func (l *Link) DropSilently() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.connections {
		select {
		case <-c.lost:
		default:
			close(c.lost)
		}
	}
}

func (l *Link) close() {
	l.stop()
	_ = l.listener.Close()
	l.Cut()
	l.all.Wait()
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.all.Go(func() { l.connect(client) })
	}
}

func (l *Link) connect(client net.Conn) {
	l.mu.Lock()
	network, target, refusing := l.network, l.target, l.refusing
	l.mu.Unlock()
	var server net.Conn
	if !refusing {
		server, _ = (&net.Dialer{}).DialContext(l.ctx, network, target)
	}
	if server == nil {
		drop(client)
		return
	}
	c := &connection{client: client, server: server, lost: make(chan struct{}), closed: make(chan struct{}), last: -1}
	l.mu.Lock()
	if l.connections[c] = true; l.refusing || l.ctx.Err() != nil {
		c.reset()
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pass(c, Up, server, client) })
	both.Go(func() { l.pass(c, Down, client, server) })
	both.Wait()
	c.reset()
	l.mu.Lock()
	delete(l.connections, c)
	l.mu.Unlock()
}

// pass copies until the source ends, and then ends the target.
func (l *Link) pass(c *connection, d Direction, to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if !l.mayPass(c, d) {
			return
		}
		if n > 0 {
			l.count(c, d, n)
			if _, err := to.Write(buffer[:n]); err != nil {
				c.reset()
				return
			}
		}
		if errors.Is(err, io.EOF) {
			if half, is := to.(interface{ CloseWrite() error }); is {
				_ = half.CloseWrite()
			}
			return
		}
		if err != nil {
			c.reset()
			return
		}
	}
}

// mayPass waits until bytes may pass, and reports whether they still may.
func (l *Link) mayPass(c *connection, d Direction) bool {
	l.mu.Lock()
	gate := l.gates[d]
	l.mu.Unlock()
	select {
	case <-gate:
	case <-c.lost:
	case <-c.closed:
	}
	select {
	case <-c.lost:
		<-c.closed
		return false
	case <-c.closed:
		return false
	default:
		return true
	}
}

func (c *connection) reset() {
	c.once.Do(func() {
		close(c.closed)
		drop(c.client)
		drop(c.server)
	})
}

// drop closes a connection with a reset, if its network supports that.
func drop(conn net.Conn) {
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
