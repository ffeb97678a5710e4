package transporteapp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Fecha is a JSON date: 2027-06-15.
type Fecha struct{ table.Date }

// Schema describes Fecha as a date in the API's document.
func (Fecha) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date", Examples: []any{"2027-06-15"}}
}

// Vencimiento is the expiry of a document of the fleet.
type Vencimiento struct {
	Tipo      db.TipoRecurso `json:"tipo" enum:"conductor,vehiculo,remolque"`
	RecursoID string         `json:"recursoId" doc:"Of the driver, the vehicle or the trailer"`
	Nombre    string         `json:"nombre" doc:"The driver's name, or the plate"`
	Documento string         `json:"documento" enum:"licencia,permiso,seguro" doc:"What expires"`
	Vence     string         `json:"vence" format:"date" doc:"The last day on which it is valid"`
}

// Vencimientos are the upcoming and past expiries, sorted by date.
type Vencimientos struct {
	Items []Vencimiento `json:"items" nullable:"false"`
}

type expiryQuery struct {
	Dias int `query:"dias" minimum:"0" maximum:"366" default:"30" doc:"Within how many days"`
}

// expiring lists licences, permits and insurance policies that have expired or expire within some days. Days are in the company's
// time zone.
func (s *service) expiring(ctx context.Context, who auth.Principal, in expiryQuery) (Vencimientos, error) {
	out := Vencimientos{Items: []Vencimiento{}}
	today, err := s.dayOf(ctx, who.Sub, s.now())
	if err != nil {
		return out, err
	}
	until := table.DateOf(today.Time().AddDate(0, 0, in.Dias)) // not hours, because some days do not have 24
	add := func(kind db.TipoRecurso, id, name, document string, ends *table.Date) {
		if ends != nil && ends.Compare(until) <= 0 {
			out.Items = append(out.Items, Vencimiento{kind, id, name, document, ends.String()})
		}
	}
	for x, err := range s.db.ConductoresPorVencerAll(ctx, db.ConductoresPorVencerInput{UserID: who.Sub, VenceTo: &until}) {
		if err != nil {
			return out, err
		}
		if x.Activo {
			add(db.TipoRecursoConductor, x.ConductorID, x.Nombre, "licencia", &x.Vence)
		}
	}
	for x, err := range s.db.VehiculosPorVencerAll(ctx, db.VehiculosPorVencerInput{UserID: who.Sub, VenceTo: &until}) {
		if err != nil {
			return out, err
		}
		add(db.TipoRecursoVehiculo, x.VehiculoID, x.Placa, "permiso", x.PermisoVigencia)
		add(db.TipoRecursoVehiculo, x.VehiculoID, x.Placa, "seguro", x.SeguroVigencia)
	}
	for x, err := range s.db.RemolquesPorVencerAll(ctx, db.RemolquesPorVencerInput{UserID: who.Sub, VenceTo: &until}) {
		if err != nil {
			return out, err
		}
		add(db.TipoRecursoRemolque, x.RemolqueID, x.Placa, "seguro", x.SeguroVigencia)
	}
	slices.SortFunc(out.Items, func(a, b Vencimiento) int {
		return cmp.Or(strings.Compare(a.Vence, b.Vence), strings.Compare(a.Nombre, b.Nombre))
	})
	return out, nil
}

// first returns the earlier of two dates, either of which may be unknown.
func first(a, b *table.Date) *table.Date {
	if a == nil || b != nil && b.Compare(*a) < 0 {
		return b
	}
	return a
}
