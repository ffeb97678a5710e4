// Command node is a stand-in of a TiKV server: unistore, which speaks TiKV's protocol, with the health service by which clients find out that a server is back,
// and with TLS for all of its connections, if it is given a certificate.
package main

import (
	"context"
	"flag"
	"log"
	"net"
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
	ca         = flag.String("ca", "", "file of the certificate authority of all others; with -cert and -key, all connections use TLS")
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
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", *listen)
	if err != nil {
		return err
	}
	if *cert != "" {
		if listener, err = secure(listener); err != nil {
			return err
		}
	}
	client, err := pd.NewClient([]string{*driver}, "")
	if err != nil {
		return err
	}
	restore, err := setSnapshotsAside(*data)
	if err != nil {
		return err
	}
	node, err := server.New(&conf, registering{client, restore})
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
