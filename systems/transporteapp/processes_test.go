package transporteapp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/transporteapp"
)

// process is the system once more, on the same tables: what two processes do, only DynamoDB can tell apart.
type process struct {
	url    string
	issuer *auth.Issuer
}

// theirIssuer signs the tokens of all processes of all tests: making a key takes longer than most of them.
var theirIssuer = sync.OnceValues(func() (*auth.Issuer, error) {
	return auth.NewIssuer(transporteapp.Name, "http://issuer.test", time.Now)
})

// patience is how long a request may wait for its turn behind all others, on a slow machine.
const patience = time.Minute

// processes opens the system on the tables of a server, so many times.
func processes(t *testing.T, v *apitest.Server, o transporteapp.Options, n int) []process {
	t.Helper()
	return processesVia(t, v, v.Database.DynamoDB, o, n)
}

// processesVia is processes with a client of their own.
func processesVia(t *testing.T, v *apitest.Server, client *dynamodb.Client, o transporteapp.Options, n int) []process {
	t.Helper()
	issuer, err := theirIssuer()
	if err != nil {
		t.Fatal(err)
	}
	if o.PAC == nil {
		o.PAC = testPAC
	}
	list := make([]process, n)
	for i := range list {
		host, err := run.NewHost(t.Context(), run.Options{
			Database:  &run.Database{DynamoDB: client, Streams: v.Database.Streams},
			CursorKey: []byte("a key of thirty-two bytes, or so"), Access: run.SignedHere(issuer), Stage: v.Stage(), Clock: v.Clock.Now,
			Timeout: patience,
		}, transporteapp.System(o))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(host.Mux())
		t.Cleanup(func() {
			server.Close()
			if err := host.Close(); err != nil {
				t.Error(err)
			}
		})
		list[i] = process{server.URL + "/" + transporteapp.Name, issuer}
	}
	return list
}

// do makes a request of this process.
func (p process) do(t *testing.T, r apitest.Request) *apitest.Response {
	t.Helper()
	token, err := p.issuer.Mint(auth.Claims{Sub: r.As})
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	if r.Body != nil {
		if body, err = json.Marshal(r.Body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), r.Method, p.url+r.Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Idempotency-Key": r.Key} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &apitest.Response{Status: answer.StatusCode, Header: answer.Header, Body: text}
}
