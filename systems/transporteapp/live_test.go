package transporteapp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// feed is an event stream being read.
type feed struct{ lines *bufio.Reader }

// watch subscribes to the first company's trips and waits for the event ready.
func watch(t *testing.T, v *apitest.Server, sub string) *feed {
	t.Helper()
	return watching(t, v, by(sub, as(http.MethodGet, "/eventos", "", nil)))
}

// watching sends a request for the first company's events.
func watching(t *testing.T, v *apitest.Server, r apitest.Request) *feed {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	res, body := v.Stream(ctx, t, in(ana, r))
	if res.Status != http.StatusOK {
		t.Fatalf("%s watches: %d", r.As, res.Status)
	}
	f := &feed{bufio.NewReader(body)}
	f.wantEvent(t, "ready", "")
	return f
}

// next waits for an event and returns its name and trip; "" means the end of the stream.
func (f *feed) next(t *testing.T) (name string, trip transporteapp.ViajeResumen) {
	t.Helper()
	for {
		line, err := f.lines.ReadString('\n')
		if err == io.EOF {
			return "", trip
		}
		if err != nil {
			t.Fatalf("the events break off: %v", err)
		}
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); key {
		case "event":
			name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &trip); err != nil {
				t.Fatalf("%s has data %s: %v", name, value, err)
			}
			return name, trip
		}
	}
}

// wantEvent waits for an event about a trip; "" means the end of the stream.
func (f *feed) wantEvent(t *testing.T, name, trip string) {
	t.Helper()
	if got, about := f.next(t); got != name || about.ViajeID != trip {
		t.Fatalf("got event %q %s, want %q %s", got, about.ViajeID, name, trip)
	}
}

// ends waits for the end of the stream.
func (f *feed) ends(t *testing.T) {
	t.Helper()
	for name := "ready"; name != ""; {
		name, _ = f.next(t)
	}
}

// eventRoutes requests the events: over a socket the stream starts, behind a gateway it only consists of ready.
func eventRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	if v.Live() {
		watch(t, v, ana)
		return
	}
	v.Run(t, []apitest.Case{good("events", as(http.MethodGet, "/eventos", "", nil), http.StatusOK)})
}

// TestEventsOfTrips: a dispatcher receives the events of every trip immediately. A driver receives those of their own trips and is
// notified when they lose one. A member whose role is revoked receives nothing more.
func TestEventsOfTrips(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{}, ana)
	driverID, vehicleID, _ := fleet(t, v, ana, "f")
	otherID, otherVehicle, _ := fleet(t, v, ana, "g")
	join(t, v, "u-desk", object{"rol": "despachador"})
	join(t, v, "u-wheel", object{"rol": "conductor", "conductorId": driverID})
	probe := watch(t, v, ana)
	v.Work(t)
	probe.wantEvent(t, "ready", "") // the process consumes the table's stream
	desk, wheel := watch(t, v, "u-desk"), watch(t, v, "u-wheel")

	first := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", bareTrip()).ViajeID
	desk.wantEvent(t, "viaje", first)
	second := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-2", bareTrip()).ViajeID
	desk.wantEvent(t, "viaje", second)
	give := func(trip, driver, vehicle string) {
		t.Helper()
		put[object](t, v, ana, "/viajes/"+trip+"/recursos", object{"conductorId": driver, "vehiculoId": vehicle})
		desk.wantEvent(t, "viaje", trip)
	}
	give(second, otherID, otherVehicle) // the first driver receives nothing about it
	give(first, driverID, vehicleID)
	wheel.wantEvent(t, "viaje", first)
	v.Do(t, as(http.MethodDelete, "/viajes/"+second+"/recursos", "", nil))
	desk.wantEvent(t, "viaje", second)
	give(first, otherID, otherVehicle)
	wheel.wantEvent(t, "cambio", first)

	v.Do(t, as(http.MethodDelete, "/miembros/u-wheel", "", nil))
	wheel.wantEvent(t, "", "")
	put[object](t, v, ana, "/miembros/u-desk", object{"rol": "conductor", "conductorId": driverID})
	desk.wantEvent(t, "", "")
	if got := v.Do(t, in(ana, by("u-wheel", as(http.MethodGet, "/eventos", "", nil)))); got.Status != http.StatusForbidden {
		t.Errorf("a removed member can watch: %d", got.Status)
	}
}
