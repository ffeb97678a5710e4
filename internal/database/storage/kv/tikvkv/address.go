//go:build tikv

package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pingcap/log"
	"github.com/tikv/client-go/v2/txnkv"
	"go.uber.org/zap"
)

// Address is where a store is: tikv://PD[:PORT][,PD…][?prefix=NAME][&gc=off].
type Address struct {
	drivers []string // of the placement, host and port
	name    string   // sets apart the stores of one cluster
	gc      bool     // the store removes old versions
}

const defaultPort = ":2379"

var validName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// ParseAddress reads an address. The prefix is "monotable" if there is none.
func ParseAddress(address string) (Address, error) {
	rest, is := strings.CutPrefix(address, "tikv://")
	if !is {
		return Address{}, errors.New("want an address that starts with tikv://")
	}
	hosts, query, _ := strings.Cut(rest, "?")
	at := Address{name: "monotable", gc: true}
	for host := range strings.SplitSeq(strings.TrimSuffix(hosts, "/"), ",") {
		if host == "" || strings.ContainsAny(host, "/@ ") {
			return Address{}, fmt.Errorf("%q is not a host: want tikv://PD1:2379,PD2:2379, the placement drivers of a TiKV cluster", host)
		}
		if !strings.Contains(host, ":") {
			host += defaultPort
		}
		at.drivers = append(at.drivers, host)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, err
	}
	for option, value := range values {
		switch {
		case option == "prefix" && validName.MatchString(value[0]):
			at.name = value[0]
		case option == "gc" && (value[0] == "on" || value[0] == "off"):
			at.gc = value[0] == "on"
		default:
			return Address{}, fmt.Errorf("unknown option %s=%s: want prefix=NAME, with a-z, 0-9, _ and -, or gc=off", option, value[0])
		}
	}
	return at, nil
}

// prefix is what all keys of the store begin with. TiDB's begin with 'm' and 't'.
func (a Address) prefix() []byte { return []byte("monotable/" + a.name + "/") }

// quiet turns off the client library's own log, which is one for the whole process. The library asks for its level when it retries.
var quiet = sync.OnceFunc(func() {
	log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{Level: zap.NewAtomicLevelAt(zap.FatalLevel)})
})

// connectTime is how long the placement drivers may take to answer the first question.
const connectTime = 20 * time.Second

// connect returns a client, once the placement drivers have answered.
func connect(ctx context.Context, at Address) (*txnkv.Client, error) {
	quiet()
	type answer struct {
		client *txnkv.Client
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		client, err := txnkv.NewClient(at.drivers)
		answers <- answer{client, err}
	}()
	select {
	case a := <-answers:
		return a.client, a.err
	case <-ctx.Done():
	case <-time.After(connectTime):
	}
	go func() {
		if a := <-answers; a.err == nil {
			_ = a.client.Close()
		}
	}()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("no placement driver responded within %v", connectTime)
}

func joinClose(err error, client *txnkv.Client) error { return errors.Join(err, client.Close()) }
