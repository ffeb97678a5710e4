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
	// lossTime is the time after which a connection is considered lost if the peer's system acknowledges nothing. The system
	// also acknowledges for a slow server, which distinguishes a lost connection from a slow commit.
	lossTime = 10 * time.Second
	// unreadBytes is what the peer's system certainly buffers while the server reads nothing. More than that stays
	// unacknowledged until the server reads.
	unreadBytes = 32 << 10
)

// dialer connects with settings that make the system end lost connections.
func dialer() *net.Dialer {
	const probes = 3
	return &net.Dialer{
		// For a connection that waits for a response.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lossTime * 2 / 5, Interval: lossTime / 5, Count: probes},
		// For a connection with unacknowledged data.
		Control: func(network, _ string, c syscall.RawConn) error {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			return setAcknowledgeTime(c, lossTime)
		},
	}
}

// allowLateAcks allows data sent in a connection to be acknowledged as late as a commit may take, until the returned function is
// called. It is for more than unreadBytes, of which the server may not read some while it is busy with the rest.
func allowLateAcks(c *pgx.Conn) (end func()) {
	conn := c.PgConn().Conn()
	if over, is := conn.(*tls.Conn); is {
		conn = over.NetConn()
	}
	tcp, is := conn.(*net.TCPConn)
	if !is {
		return func() {}
	}
	raw, err := tcp.SyscallConn()
	if err != nil { // it is closed, as the next use will show
		return func() {}
	}
	_ = setAcknowledgeTime(raw, commitTime)
	return func() { _ = setAcknowledgeTime(raw, lossTime) }
}
