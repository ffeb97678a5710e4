package postgreskv

import (
	"crypto/tls"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// lossTime is after how long a connection is taken for lost whose other side's system does not acknowledge anything any more. That it
	// acknowledges, and does so also for a server that is slow, tells a lost connection from a commit that takes its time.
	lossTime = 10 * time.Second
	// unreadBytes is how much the other side's system certainly takes while the server reads nothing. What is beyond stays unacknowledged until
	// the server reads.
	unreadBytes = 32 << 10
)

// dialer connects such that the system ends lost connections.
func dialer() *net.Dialer {
	const probes = 3
	return &net.Dialer{
		// For a connection that waits for an answer.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lossTime * 2 / 5, Interval: lossTime / 5, Count: probes},
		// For one that has sent what is not acknowledged.
		Control: func(network, _ string, c syscall.RawConn) error {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			return setAcknowledgeTime(c, lossTime)
		},
	}
}

// patient gives what is sent in a connection as long to be acknowledged as a commit may take, until the returned function is called. It is for
// more than unreadBytes, some of which the server may not read while it is busy with the rest.
func patient(c *pgx.Conn) (end func()) {
	conn := c.PgConn().Conn()
	if over, is := conn.(*tls.Conn); is {
		conn = over.NetConn()
	}
	tcp, is := conn.(*net.TCPConn)
	if !is {
		return func() {}
	}
	raw, err := tcp.SyscallConn()
	if err != nil { // it is closed, as will show
		return func() {}
	}
	_ = setAcknowledgeTime(raw, commitTime)
	return func() { _ = setAcknowledgeTime(raw, lossTime) }
}
