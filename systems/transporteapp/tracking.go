package transporteapp

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

const (
	earthRadius = 6371.0088 // the mean radius, in km
	whole       = 100       // per cent
	metres      = 3         // decimals of a kilometre
	halfTurn    = 180
)

// future is how far a vehicle's clock may be ahead.
const future = 5 * time.Minute

// ping stores a reported position. It costs one small read and two small writes: the current position, which an older report does
// not change, and the position at a time, which only the first report for that time sets. They are not a transaction, which would
// cost twice as much; an interrupted report can be sent again with the same result.
func (s *service) ping(ctx context.Context, who auth.Principal, said newPing) (Rastreo, error) {
	userID, viajeID, in := who.Sub, said.ViajeID, said.Body
	if in.At.After(s.now().Add(future)) {
		return Rastreo{}, problem.BadRequest(problem.CodeInvalidBody, "the ping's time is in the future", problem.Field{Field: "body.at", Message: "is in the future"})
	}
	at := in.At.UTC().Truncate(time.Millisecond)
	var now db.Tracking
	err := again(ctx, func() error {
		t, err := s.db.PosicionActual(ctx, db.PosicionActualInput{UserID: userID, ViajeID: viajeID})
		if err != nil {
			return err
		}
		now = t
		if !t.Activo {
			return db.ErrViajeNoEnCurso
		}
		if t.UltimaActualizacion != nil && !at.After(*t.UltimaActualizacion) {
			return nil
		}
		if err := advance(&now, in); err != nil {
			return err
		}
		now.UltimaActualizacion = &at
		return errorOf(s.db.MoverViaje(ctx, db.MoverViajeInput{
			UserID: userID, ViajeID: viajeID, Lat: now.Lat, Lng: now.Lng, UltimaActualizacion: &at,
			DistanciaRecorrida: now.DistanciaRecorrida, Progreso: now.Progreso, Visto: t.Pings,
		}))
	}, db.ErrPosicionCambio)
	if err != nil {
		return Rastreo{}, err
	}
	_, err = s.db.AnotarPosicion(ctx, db.AnotarPosicionInput{
		UserID: userID, ViajeID: viajeID, At: at, Lat: in.Lat.Decimal, Lng: in.Lng.Decimal,
	})
	if errors.Is(err, db.ErrPosicionExists) {
		err = nil // it was reported before
	}
	return rastreoOf(now), err
}

// position returns a trip's current position.
func (s *service) position(ctx context.Context, who auth.Principal, in ViajePath) (Rastreo, error) {
	t, err := s.db.PosicionActual(ctx, db.PosicionActualInput{UserID: who.Sub, ViajeID: in.ViajeID})
	return rastreoOf(t), err
}

// route returns a page of a trip's positions.
func (s *service) route(ctx context.Context, who auth.Principal, in routeQuery) (page table.Page[db.Posicion], err error) {
	span := period{in.Desde, in.Hasta}
	if err := span.check(); err != nil {
		return page, err
	}
	asked := db.RutaInput{UserID: who.Sub, ViajeID: in.ViajeID, AtFrom: bound(span.from), AtTo: bound(span.to)}
	page, err = s.db.Ruta(ctx, asked, in.Options())
	if err == nil && len(page.Items) == 0 {
		err = s.tripExists(ctx, who.Sub, in.ViajeID)
	}
	return page, err
}

// advance moves a trip to a reported position. The distance is the vehicle's own if reported, otherwise it grows by the distance
// from the last position. Progress is the driven share of the trip, and never decreases.
func advance(t *db.Tracking, in Ping) error {
	driven := t.DistanciaRecorrida
	switch {
	case in.DistanciaRecorrida != nil:
		driven = in.DistanciaRecorrida.Decimal
	case t.Lat != nil && t.Lng != nil:
		way := distance(t.Lat.Float64(), t.Lng.Float64(), in.Lat.Float64(), in.Lng.Float64())
		grown, err := kilometres(driven.Float64() + way)
		if err != nil {
			return err
		}
		driven = grown
	}
	t.Lat, t.Lng, t.DistanciaRecorrida = &in.Lat.Decimal, &in.Lng.Decimal, driven
	if total := t.DistanciaTotal.Float64(); total > 0 {
		t.Progreso = max(t.Progreso, int64(min(whole, driven.Float64()*whole/total)))
	}
	return nil
}

// kilometres rounds a distance to metres, because a reported number with too many digits could not be added to the totals.
func kilometres(d float64) (table.Decimal, error) {
	return table.ParseDecimal(strconv.FormatFloat(d, 'f', metres, 64))
}

// distance returns the distance between two positions in km, by the haversine formula.
func distance(lat1, lng1, lat2, lng2 float64) float64 {
	radians := func(degrees float64) float64 { return degrees * math.Pi / halfTurn }
	sin := func(x float64) float64 { return math.Sin(x/2) * math.Sin(x/2) }
	h := sin(radians(lat2-lat1)) + math.Cos(radians(lat1))*math.Cos(radians(lat2))*sin(radians(lng2-lng1))
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}
