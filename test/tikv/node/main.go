// Command node is a stand-in of a TiKV server: unistore, which speaks TiKV's protocol, with the health service by which clients find out that a server is back,
// and with TLS, if it is given a certificate. The nodes speak with each other without TLS, on the same port.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/ngaut/unistore/config"
	"github.com/ngaut/unistore/server"
	"github.com/pingcap/kvproto/pkg/deadlock"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	pinglog "github.com/pingcap/log"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
)

var (
	configFile = flag.String("config", "", "file of unistore's configuration")
	driver     = flag.String("pd", "", "address of the placement driver")
	listen     = flag.String("listen", "", "address to listen on")
	address    = flag.String("addr", "", "address that the placement driver gives to others")
	data       = flag.String("data-dir", "", "directory of the data")
	ca         = flag.String("ca", "", "file of the certificate authority of clients; with -cert and -key, clients use TLS")
	cert       = flag.String("cert", "", "file of the node's certificate")
	key        = flag.String("key", "", "file of its key")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	conf := config.DefaultConf
	if _, err := toml.DecodeFile(*configFile, &conf); err != nil {
		return err
	}
	conf.Server.PDAddr, conf.Server.StoreAddr, conf.Engine.DBPath = *driver, *address, *data
	logger, properties, err := pinglog.InitLogger(&pinglog.Config{Level: conf.Server.LogLevel})
	if err != nil {
		return err
	}
	pinglog.ReplaceGlobals(logger, properties)
	listener, err := newListener()
	if err != nil {
		return err
	}
	client, err := pd.NewClient([]string{*driver}, "")
	if err != nil {
		return err
	}
	node, err := server.New(&conf, client)
	if err != nil {
		return err
	}
	const window, largest = 1 << 30, 10 << 20
	s := grpc.NewServer(
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 2 * time.Second, PermitWithoutStream: true}),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window), grpc.MaxRecvMsgSize(largest),
	)
	tikvpb.RegisterTikvServer(s, node)
	deadlock.RegisterDeadlockServer(s, node)
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	return s.Serve(listener)
}

// newListener listens, and accepts both plain connections and TLS where there is a certificate.
func newListener() (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", *listen)
	if err != nil || *cert == "" {
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in " + *ca)
	}
	return &either{l, &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	}}, nil
}

// either is a listener whose connections are TLS if their first byte says so.
type either struct {
	net.Listener
	config *tls.Config
}

func (e *either) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &undecided{Conn: c, config: e.config}, nil
}

// handshake is the first byte of a TLS connection.
const handshake = 22

// undecided is a connection that is asked for its first byte when it is read.
type undecided struct {
	net.Conn
	config *tls.Config
	once   sync.Once
	inner  net.Conn
	err    error
}

func (u *undecided) decide() (net.Conn, error) {
	u.once.Do(func() {
		first := make([]byte, 1)
		if _, u.err = io.ReadFull(u.Conn, first); u.err != nil {
			return
		}
		u.inner = &begun{u.Conn, strings.NewReader(string(first))}
		if first[0] == handshake {
			u.inner = tls.Server(u.inner, u.config)
		}
	})
	return u.inner, u.err
}

func (u *undecided) Read(p []byte) (int, error) {
	c, err := u.decide()
	if err != nil {
		return 0, err
	}
	return c.Read(p)
}

func (u *undecided) Write(p []byte) (int, error) {
	c, err := u.decide()
	if err != nil {
		return 0, err
	}
	return c.Write(p)
}

// begun is a connection whose first bytes have been read.
type begun struct {
	net.Conn
	first *strings.Reader
}

func (b *begun) Read(p []byte) (int, error) {
	if b.first.Len() > 0 {
		return b.first.Read(p)
	}
	return b.Conn.Read(p)
}
