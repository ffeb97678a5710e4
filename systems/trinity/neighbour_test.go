package trinity_test

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/trinity"
)

// neighbour is a second process on a test's database, without workers.
type neighbour struct {
	url    string // with the system's prefix
	host   *run.Host
	issuer *auth.Issuer
}

// another starts a process with its own database client.
func another(t *testing.T, v *apitest.Server, s system.System, client *dynamodb.Client) *neighbour {
	t.Helper()
	p := &neighbour{}
	var err error
	if p.issuer, err = auth.NewIssuer(trinity.Name, "http://another.test", nil); err != nil {
		t.Fatal(err)
	}
	p.host, err = run.NewHost(t.Context(), run.Options{
		Database:  &run.Database{DynamoDB: client, Streams: v.Database.Streams, Poll: time.Millisecond},
		CursorKey: make([]byte, 32), Access: run.SignedHere(p.issuer), Clock: v.Clock.Now, NoWorkers: true,
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p.host.Mux())
	t.Cleanup(server.Close)
	p.url = server.URL + "/" + trinity.Name
	return p
}

// work lets the process consume the streams that every process consumes, until the test ends.
func (p *neighbour) work(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { p.host.Work(ctx) })
	t.Cleanup(func() {
		stop()
		working.Wait()
	})
}

func (p *neighbour) token(t *testing.T, sub string) string {
	t.Helper()
	token, err := p.issuer.Mint(auth.Claims{Sub: sub})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
