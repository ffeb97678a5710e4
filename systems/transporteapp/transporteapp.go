// Package transporteapp is TransporteApp: trucking companies plan trips, assign drivers and vehicles, track them, and stamp the
// Carta Porte for their cargo.
//
// # Model
//
//	POST /viajes ──▶ Viaje + Carta (borrador) + folio + month's counter + credit      one transaction
//	PUT  /cartas/{id}/…, POST /cartas/{id}/mercancias ──▶ the carta's contents        batches, each updating the totals
//	POST /cartas/{id}/sellar ──▶ read back completely, validated, closed
//	POST /cartas/{id}/timbrado ──▶ Carta (en_timbrado) ──PAC──▶ Carta (timbrada) + trip's summary + credit + the XML
//	PUT  /viajes/{id}/recursos ──▶ Viaje + Agendas of what is assigned and released   one transaction
//	POST /viajes/{id}/iniciar ──▶ Viaje + Conductor + Vehiculo + Remolque             one transaction
//	POST /viajes/{id}/completar ──▶ the same + Agendas, and the driver's statistics   one transaction
//	POST /viajes/{id}/posiciones ──▶ Tracking, then Posicion                          two small writes
//
// transporteapp.design.yaml declares what is stored and how it is accessed. Package transporteappdb is generated from it and is
// the only code that accesses the data. Package cartaporte implements the fiscal document and the PAC. The API is the table in
// routes.go; shapes.go and cartas_shapes.go have the request and response types, and copies.go converts them to and from stored
// items. Domain functions (trips.go, fleet.go, cartas.go, …) take the company and a request as values, and do not depend on HTTP.
//
// # Invariants
//
//	T1  Every key begins with the company's id: another company's data cannot be requested, whatever id is sent.
//	T2  A company has no more drivers, vehicles and cartas a month than its plan allows, and never negative credits.
//	T3  A company's folios have no gaps, and none is issued twice.
//	T4  A driver, vehicle or trailer has no two trips with overlapping planned periods, and is on one trip at a time.
//	T5  A carta's totals match its contents, and nothing is added once it is closed.
//	T6  A request key takes effect once, and a retry gets the first response.
//	T7  A stamp matches the carta as it was closed: from before the PAC is called until its response is known, nothing changes it.
//	T8  A trip starts with a stamped carta, unless it is local, and at most Options.Anticipacion before its planned start.
//	T9  A request is made by a member of its company, in their current role; a company has an owner.
//	T10 A log-in that was closed makes no request.
//
// The package is safe for concurrent use.
package transporteapp

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/internal/personal"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/internal/words"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

//go:generate go run ../../cmd/monotable generate transporteapp.design.yaml -o transporteappdb
//go:generate go test -run TestTemplate -update .

// Name is the system's name.
const Name = "transporteapp"

// tableName is the table with all data.
const tableName = "TransporteApp"

// AdminGroup is the group of the back office, which sells plans and credits.
const AdminGroup = Name + "-admin"

//go:embed words
var wordsFiles embed.FS

// Options are the replaceable parts of a deployment.
type Options struct {
	// PAC stamps cartas; nil is a cartaporte.Local, whose stamps are tests.
	PAC cartaporte.PAC
	// Plan is a new company's subscription; the zero Plan is DefaultPlan.
	Plan Plan
	// Anticipacion is how long before its planned start a trip may start; 0 is DefaultAnticipacion.
	Anticipacion time.Duration
}

// DefaultAnticipacion lets a trip start the day before, but not weeks early.
const DefaultAnticipacion = 24 * time.Hour

// Plan is an initial subscription.
type Plan struct {
	ID, Name                               string
	Conductores, Vehiculos, CartasPorteMes int64
	Creditos                               int64
	// Lasts is how long the subscription is paid for.
	Lasts time.Duration
}

// DefaultPlan returns the plan in the document.
func DefaultPlan() Plan {
	const year = 365 * 24 * time.Hour
	return Plan{
		ID: "profesional", Name: "Profesional", Conductores: 10, Vehiculos: 15, CartasPorteMes: 100, Creditos: 50, Lasts: year,
	}
}

// service is the running system.
type service struct {
	db    *db.DB
	pac   cartaporte.PAC
	plan  Plan
	now   func() time.Time
	turns *turns
	early time.Duration
	// hub notifies this process's connections of trips.
	hub *live.Hub[topic]
}

// System is TransporteApp.
func System(o Options) system.System {
	return system.System{
		Name: Name, Title: "TransporteApp", Version: "1.0.0", AdminGroup: AdminGroup,
		About:    "Trips, drivers and vehicles of trucking companies, with a Carta Porte for the goods.",
		Tables:   func(string) []system.Table { return tables() },
		Rules:    rules(),
		Words:    words.Must(wordsFiles),
		Open:     func(_ context.Context, d system.Deps) (*system.Service, error) { return open(o, d) },
		Examples: examples(),
		Load:     loadPlan(),
	}
}

func examples() []system.Example {
	return []system.Example{
		{
			Title: "Say who you are", Method: http.MethodPut, Path: "/perfil",
			Body: `{"email":"ana@transportes.mx","fullName":"Ana García","timezone":"America/Mexico_City","config":{"rfcEmisor":"EKU9003173C9",` +
				`"razonSocial":"ESCUELA KEMPER URGATE","regimenFiscal":"601","domicilioFiscal":{"codigoPostal":"06600","estado":"CMX"}}}`,
		},
		{
			Title: "Plan a trip with its Carta Porte", Method: http.MethodPost, Path: "/viajes",
			Header: map[string]string{"Idempotency-Key": "first"},
			Body: `{"nombre":"Viaje CDMX-GDL","fechaInicioProgramada":"2027-01-15T08:00:00Z","fechaFinProgramada":"2027-01-15T18:00:00Z",` +
				`"origen":"Ciudad de México","destino":"Guadalajara","distanciaTotal":540,"carta":{"receptor":{"rfc":"IIA040805DZ4",` +
				`"nombre":"INDISTRIA ILUMINADORA DE ALMACENES","regimenFiscal":"601","usoCfdi":"S01","domicilioFiscal":{"codigoPostal":"44100","estado":"JAL"}}}}`,
		},
		{Title: "Your trips, newest first", Method: http.MethodGet, Path: "/viajes?limit=5"},
		{Title: "The drivers available that day", Method: http.MethodGet, Path: "/conductores?desde=2027-01-16T00:00:00Z&hasta=2027-01-17T00:00:00Z"},
		{Title: "A Carta Porte by its folio", Method: http.MethodGet, Path: "/folios/CP-000001"},
	}
}

func tables() []system.Table {
	return system.Tables(db.CreateTables(db.Config{}), db.TimeToLive(db.Config{}), db.Decode)
}

func open(o Options, d system.Deps) (*system.Service, error) {
	data, err := db.New(d.DynamoDB, db.Config{CursorKey: d.CursorKey, Caller: auth.CursorOwner, Clock: d.Clock, Observe: d.Observe})
	if err != nil {
		return nil, err
	}
	s := &service{db: data, pac: o.PAC, plan: o.Plan, now: d.Clock, turns: newTurns(), hub: live.New[topic](d.Logger), early: cmp.Or(o.Anticipacion, DefaultAnticipacion)}
	if s.pac == nil {
		s.pac = cartaporte.NewLocal(d.Clock)
	}
	if s.plan == (Plan{}) {
		s.plan = DefaultPlan()
	}
	return &system.Service{
		Register: s.routes,
		Admit:    s.admit,
		Streams:  []system.Stream{{Name: "publish-board", Table: tableName, EveryProcess: true, Begun: s.hub.Begun, Handle: s.hub.WhileFollowed(s.publishTrips)}},
		Acts:     api.KeepActs(data.Op.KeepAct, data.Tx),
		Personal: &personal.Data{
			DB: data, Kept: db.PersonKept(),
			Allow:  personal.Check{Of: s.checkFounder, Errors: []error{errSinAcceso, errRol}},
			Refuse: personal.Check{Of: s.underWay, Errors: []error{errViajeEnCurso, errConMiembros, errPropietario, errCartaEnProceso}},
		},
		Sample: seed.Sample{Records: sample, Load: data.Load},
	}, nil
}
