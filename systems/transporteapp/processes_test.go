package transporteapp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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

// TestTwoProcesses: two dispatchers at two processes plan trips and assign the same driver to all of them; of the trips in a
// period, one gets the driver. The page at one process shows the other's changes, and a role revoked at one process is revoked at
// both. When one process is killed, the other continues.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const periods, rivals = 3, 4
	peers := apitest.Processes(t, transporteapp.System(transporteapp.Options{}))
	first, second := peers[0].Server, peers[1].Server
	put[object](t, first, ana, "/perfil", profile())
	join(t, first, desk, object{"rol": "despachador"})
	driverID, _, _ := fleet(t, second, ana, "one")
	board := &board{watch(t, second, ana), second, map[string]string{}}
	theirs := watch(t, second, desk)

	trips, vehicles := make([]string, periods*rivals), make([]string, periods*rivals)
	for i := range trips {
		begins := day(10+i/rivals, 8)
		trip := with(cartaTrip(), object{"fechaInicioProgramada": begins, "fechaFinProgramada": begins.Add(24 * time.Hour)}) // adjacent periods
		created := apitest.Together(2, func(n int) *apitest.Response {
			return peers[n].Do(t, dispatched(n, as(http.MethodPost, "/viajes", fmt.Sprint("t-", i), trip)))
		})
		var once, again transporteapp.ViajeConCarta
		created[0].JSON(t, &once)
		created[1].JSON(t, &again)
		if trips[i] = once.ViajeID; once.ViajeID == "" || once.ViajeID != again.ViajeID {
			t.Fatalf("one request created %s and %s", created[0].Body, created[1].Body)
		}
		key := fmt.Sprint("v-", i)
		vehicles[i] = post[transporteapp.Vehiculo](t, peers[i%2].Server, http.StatusCreated, ana, "/vehiculos", key, own(vehicle(), "V", key)).VehiculoID
	}
	assign := func(i int) apitest.Request {
		return dispatched(i, as(http.MethodPut, "/viajes/"+trips[i]+"/recursos", "", object{"conductorId": driverID, "vehiculoId": vehicles[i]}))
	}
	responses := apitest.Together(len(trips), func(i int) *apitest.Response { return peers[i%2].Do(t, assign(i)) })
	if got := tally(t, responses); got[""] != periods || got["conductor_ocupado"] != len(trips)-periods {
		t.Errorf("one driver for trips of %d periods: %v", periods, got)
	}
	consistent(t, second, periods)
	all := companyOf(t, second, ana)
	if all.noGaps(t); len(all.cartas) != len(trips) {
		t.Errorf("%d trips have %d cartas", len(trips), len(all.cartas))
	}
	driven := map[string]bool{}
	for i, a := range responses {
		if a.Status == http.StatusOK {
			driven[trips[i]] = true
		}
	}
	board.shows(t, driverID, driven)

	do[object](t, first, http.StatusNoContent, as(http.MethodDelete, "/miembros/"+desk, "", nil))
	if got := second.Do(t, in(ana, by(desk, as(http.MethodGet, "/viajes", "", nil)))); got.Status != http.StatusForbidden {
		t.Errorf("a member removed at the first process can read at the second: %d %s", got.Status, got.Body)
	}
	theirs.ends(t)

	peers[0].Kill()
	had, gets := 0, 0 // in the first period
	for i := range rivals {
		if driven[trips[i]] {
			had = i
		} else {
			gets = i
		}
	}
	do[object](t, second, http.StatusOK, as(http.MethodDelete, "/viajes/"+trips[had]+"/recursos", "", nil))
	delete(driven, trips[had])
	board.shows(t, driverID, driven)
	put[object](t, second, ana, "/viajes/"+trips[gets]+"/recursos", object{"conductorId": driverID, "vehiculoId": vehicles[gets]})
	driven[trips[gets]] = true
	board.shows(t, driverID, driven)
	consistent(t, second, periods)
}

// board is a page with the company's trips: it reads the list when the stream is ready, and then applies the events.
type board struct {
	*feed
	v       *apitest.Server
	drivers map[string]string // by trip
}

// shows waits until a driver has exactly these trips.
func (b *board) shows(t *testing.T, driver string, want map[string]bool) {
	t.Helper()
	for {
		now := map[string]bool{}
		for trip, of := range b.drivers {
			if of == driver {
				now[trip] = true
			}
		}
		if maps.Equal(now, want) {
			return
		}
		switch name, trip := b.next(t); name {
		case "viaje":
			b.drive(trip)
		case "ready":
			for _, listed := range get[page[transporteapp.ViajeResumen]](t, b.v, ana, "/viajes").Items {
				b.drive(listed)
			}
		default:
			t.Fatalf("got event %q; %v has the trips %v, want %v", name, driver, now, want)
		}
	}
}

func (b *board) drive(trip transporteapp.ViajeResumen) {
	if b.drivers[trip.ViajeID] = ""; trip.Resources != nil {
		b.drivers[trip.ViajeID] = trip.Resources.ConductorID
	}
}

// desk is a dispatcher of the first company who uses another process than the owner.
const desk = "u-desk"

// dispatched sends every other request as the dispatcher.
func dispatched(n int, r apitest.Request) apitest.Request {
	if n%2 == 0 {
		return r
	}
	return in(ana, by(desk, r))
}

// process is another instance of the system on the same tables, and shares nothing else with the others.
type process struct {
	url    string
	issuer *auth.Issuer
}

// theirIssuer signs the tokens of all processes in all tests, because generating a key takes longer than most tests.
var theirIssuer = sync.OnceValues(func() (*auth.Issuer, error) {
	return auth.NewIssuer(transporteapp.Name, "http://issuer.test", time.Now)
})

// processes opens several instances of the system on a server's tables.
func processes(t *testing.T, v *apitest.Server, o transporteapp.Options, n int) []process {
	t.Helper()
	return processesVia(t, v, v.Database.DynamoDB, o, n)
}

// processesVia is processes with a given client.
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
			Timeout: apitest.Patience,
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

// do sends a request to this process.
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &apitest.Response{Status: response.StatusCode, Header: response.Header, Body: text}
}
