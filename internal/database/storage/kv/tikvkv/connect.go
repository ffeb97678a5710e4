//go:build tikv

package tikvkv

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pingcap/log"
	"github.com/tikv/client-go/v2/txnkv"
	"go.uber.org/zap"
)

// connectTime is the timeout for the placement drivers' first response.
const connectTime = 20 * time.Second

// client wraps the library's client. Its Close also lets other stores of the process use other certificates.
type client struct {
	*txnkv.Client
	release func()
}

func (c *client) Close() error {
	defer c.release()
	return c.Client.Close()
}

// connect returns a client once the placement drivers have responded.
func connect(ctx context.Context, at Address) (*client, error) {
	quiet()
	if err := at.tls.check(ctx, at.drivers); err != nil {
		return nil, err
	}
	release, err := at.tls.use()
	if err != nil {
		return nil, err
	}
	c, err := newClient(ctx, at)
	if err != nil {
		release()
		return nil, err
	}
	return &client{c, release}, nil
}

// newClient gives up after connectTime. The client library keeps trying, and whatever it returns later is closed.
func newClient(ctx context.Context, at Address) (*txnkv.Client, error) {
	type result struct {
		client *txnkv.Client
		err    error
	}
	results := make(chan result, 1)
	go func() {
		c, err := txnkv.NewClient(at.drivers)
		results <- result{c, err}
	}()
	select {
	case r := <-results:
		return r.client, r.err
	case <-ctx.Done():
	case <-time.After(connectTime):
	}
	go func() {
		if r := <-results; r.err == nil {
			_ = r.client.Close()
		}
	}()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case at.tls == certificates{}:
		return nil, fmt.Errorf("no placement driver responds within %v; if the cluster uses TLS, the URL needs ca=FILE, cert=FILE and key=FILE", connectTime)
	default:
		return nil, fmt.Errorf("no placement driver responds within %v", connectTime)
	}
}

// quiet turns off the client library's own log, which is global to the process. The library asks for its level when it
// retries.
var quiet = sync.OnceFunc(func() {
	log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{Level: zap.NewAtomicLevelAt(zap.FatalLevel)})
})
