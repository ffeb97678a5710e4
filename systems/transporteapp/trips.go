package transporteapp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

const (
	// versionCarta is the version of the complement.
	versionCarta = "3.1"
	// maxPeople and maxPlaces are how many people and places a carta can have.
	maxPeople, maxPlaces = 20, 50
)

// check rejects what the schema cannot express.
func (in *DatosViaje) check(bad *fields) {
	bad.addIf(in.FechaFinProgramada.Before(in.FechaInicioProgramada), "body.fechaFinProgramada", "is before the start of the trip")
	if c := in.Costos; c != nil && c.Margen != nil {
		margin := c.margin()
		bad.addIf(margin == nil || margin.Compare(c.Margen.Decimal) != 0, "body.costos.margen", "is not precioCliente minus costoTotal: omit it, it is computed")
	}
}

func (in *NuevoViaje) check() error {
	var bad fields
	in.DatosViaje.check(&bad)
	if in.Carta != nil {
		in.Carta.check(&bad, "body.carta")
	}
	return bad.problem()
}

func (in *NuevaCarta) check(bad *fields, field string) {
	p, err := cartaporte.RFC(in.Receptor.Rfc)
	bad.addIf(err != nil, field+".receptor.rfc", "is not an RFC")
	bad.addIf(!cartaporte.RegimenFiscal.Tiene(in.Receptor.RegimenFiscal), field+".receptor.regimenFiscal", "is not a key of c_RegimenFiscal")
	bad.addIf(p != "" && !cartaporte.UsoCFDI.Tiene(in.Receptor.UsoCfdi), field+".receptor.usoCfdi", "is not a key of c_UsoCFDI")
	bad.domicilio(field+".receptor.domicilioFiscal", in.Receptor.DomicilioFiscal)
}

// createTrip creates a trip, with a carta if one is requested.
func (s *service) createTrip(ctx context.Context, who auth.Principal, in api.KeyedBody[NuevoViaje]) (ViajeConCarta, bool, error) {
	if err := in.Body.check(); err != nil {
		return ViajeConCarta{}, false, err
	}
	r := newRequest(who.Sub, in.RequestKey, "createViaje", in.Body)
	return keyed(ctx, s, r, func() (ViajeConCarta, error) {
		now := s.moment()
		v := db.Viaje{UserID: who.Sub, ViajeID: s.newID(), Estado: in.Body.Estado, CreatedAt: now, UpdatedAt: now}
		in.Body.into(&v)
		if in.Body.Carta == nil {
			return s.createBareTrip(ctx, r, v)
		}
		return s.createTripWithCarta(ctx, r, v, in.Body.Carta)
	})
}

func (s *service) createBareTrip(ctx context.Context, r request, v db.Viaje) (ViajeConCarta, error) {
	response := ViajeConCarta{Viaje: viajeOf(v)}
	return response, again(ctx, func() error {
		done, err := s.db.CrearViaje(ctx, crearViaje(r.withResponse(response), v))
		return overtaken(done.Replayed, err)
	})
}

// terms are the current conditions of a new carta. Another request may change them before the write, which checks them.
type terms struct {
	Mes          string
	Limite, Seen int64
}

// newCarta returns the header of a carta with the next folio, and its terms.
func (s *service) newCarta(ctx context.Context, userID, viajeID string, in *NuevaCarta) (db.Carta, terms, error) {
	var (
		u    db.User
		last db.FolioSeq
	)
	err := firstError(
		func() (err error) {
			u, err = s.db.Perfil(ctx, db.PerfilInput{UserID: userID})
			return err
		},
		func() (err error) {
			last, err = s.db.UltimoFolio(ctx, db.UltimoFolioInput{UserID: userID})
			if errors.Is(err, table.ErrNotFound) { // the company's first carta
				return nil
			}
			return err
		},
	)
	if err != nil {
		return db.Carta{}, terms{}, err
	}
	if u.Config == nil {
		return db.Carta{}, terms{}, errSinConfig
	}
	now := s.moment()
	t := terms{Limite: u.Subscription.Limits.CartasPorteMes, Seen: last.N}
	if t.Mes, err = monthOf(now, u.Timezone); err != nil {
		return db.Carta{}, terms{}, err
	}
	// Without quota or credits no transaction is needed, which would consume write units although it is rejected.
	switch used, err := s.used(ctx, &u); {
	case err != nil:
		return db.Carta{}, terms{}, err
	case used >= t.Limite:
		return db.Carta{}, terms{}, db.ErrLimiteMensual
	case u.Credits.Balance < 1:
		return db.Carta{}, terms{}, db.ErrSinCreditos
	}
	ccp, err := newIDCCP()
	return db.Carta{
		UserID: userID, CartaID: s.newID(), ViajeID: viajeID, Folio: folio(t.Seen + 1), VersionCartaPorte: versionCarta,
		Status: db.EstadoCartaBorrador, IDCcp: ccp,
		Emisor: issuer(u.Config), Receptor: receptorStored(in.Receptor), CreatedAt: now, UpdatedAt: now,
	}, t, err
}

func issuer(of *db.ConfigFiscal) db.Emisor {
	return db.Emisor{Rfc: of.RfcEmisor, Nombre: of.RazonSocial, RegimenFiscal: of.RegimenFiscal, DomicilioFiscal: of.DomicilioFiscal}
}

// folio formats the number of a carta.
func folio(n int64) string { return fmt.Sprintf("CP-%06d", n) }

// newIDCCP returns an id for the complement: a UUID that begins with CCC.
func newIDCCP() (string, error) {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	return "CCC" + strings.ToUpper(id.String()[3:]), err
}

func (s *service) createTripWithCarta(ctx context.Context, r request, v db.Viaje, in *NuevaCarta) (response ViajeConCarta, err error) {
	err = s.inTurn(ctx, v.UserID, func() error {
		c, t, err := s.newCarta(ctx, v.UserID, v.ViajeID, in)
		if err != nil {
			return err
		}
		fiscal := fiscalOf(&c, c.Status)
		v.Fiscal, v.CreatedAt, v.UpdatedAt = &fiscal, c.CreatedAt, c.UpdatedAt
		head := cartaOf(&c)
		response = ViajeConCarta{Viaje: viajeOf(v), Carta: &head}
		done, err := s.db.CrearViajeConCarta(ctx, crearViajeConCarta(newCartaRequest{r.withResponse(response), t, fiscal, ""}, viajeConCarta{v, c}))
		return overtaken(done.Replayed, err)
	}, db.ErrFolioTomado, db.ErrCartaFolioTaken, db.ErrPlanCambio)
	return response, err
}

// addCarta creates a carta for a trip that has none, or whose last one was cancelled or is replaced.
func (s *service) addCarta(ctx context.Context, who auth.Principal, in newCartaOfTrip) (Carta, bool, error) {
	var bad fields
	if in.Body.check(&bad, "body"); len(bad) > 0 {
		return Carta{}, false, bad.problem()
	}
	r := newRequest(who.Sub, in.RequestKey, "createCarta "+in.ViajeID, in.Body)
	created, replayed, err := keyed(ctx, s, r, func() (response Carta, err error) {
		err = s.inTurn(ctx, who.Sub, func() error {
			c, t, err := s.newCarta(ctx, who.Sub, in.ViajeID, &in.Body.NuevaCarta)
			if err != nil {
				return err
			}
			var replaced db.Carta
			before := c.CartaID // replaces none
			if id := in.Body.Sustituye; id != "" {
				before = id
				if replaced, err = s.replaceable(ctx, who.Sub, in.ViajeID, id); err != nil {
					return err
				}
				c.Sustituye = &db.Sustitucion{CartaID: id, Folio: replaced.Folio, UUIDFiscal: replaced.Timbrado.UUIDFiscal}
			}
			response = cartaOf(&c)
			if c.Sustituye != nil { // as it will be with its goods
				response.Totales.NumeroTotalMercancias, response.Totales.PesoBrutoTotal = replaced.NumeroTotalMercancias, Decimal{replaced.PesoBrutoTotal}
			}
			done, err := s.db.CrearCartaDeViaje(ctx, crearCartaDeViaje(newCartaRequest{r.withResponse(response), t, fiscalOf(&c, c.Status), before}, c))
			return overtaken(done.Replayed, err)
		}, db.ErrFolioTomado, db.ErrCartaFolioTaken, db.ErrPlanCambio)
		return response, err
	})
	if err != nil || in.Body.Sustituye == "" {
		return created, replayed, err
	}
	// A client that goes away must not leave a draft with some of the goods.
	created.Revision, err = s.copyGoods(context.WithoutCancel(ctx), who.Sub, in.RequestKey, in.Body.Sustituye, created.CartaID)
	return created, replayed, err
}

// replaceable returns a trip's stamped carta, which another one may replace.
func (s *service) replaceable(ctx context.Context, userID, tripID, id string) (db.Carta, error) {
	c, err := s.carta(ctx, userID, id)
	switch {
	case err != nil:
		return c, err
	case c.ViajeID != tripID:
		return c, table.ErrNotFound
	case c.Status != db.EstadoCartaTimbrada || c.Timbrado == nil:
		return c, db.ErrCartaNoTimbrada
	}
	return c, nil
}

// trip returns a company's trip with its carta and position.
func (s *service) trip(ctx context.Context, userID, id string) (ViajeConCarta, error) {
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
	if err != nil {
		return ViajeConCarta{}, err
	}
	out := ViajeConCarta{Viaje: seen(ctx, v)}
	return out, firstError(
		func() error {
			if v.Fiscal == nil {
				return nil
			}
			c, err := s.carta(ctx, userID, v.Fiscal.CartaPorteID)
			if err != nil {
				return err
			}
			head := cartaOf(&c)
			out.Carta = &head
			return nil
		},
		func() error {
			if v.Estado == db.EstadoViajeBorrador || v.Estado == db.EstadoViajeProgramado {
				return nil
			}
			at, err := s.db.PosicionActual(ctx, db.PosicionActualInput{UserID: userID, ViajeID: id})
			if errors.Is(err, table.ErrNotFound) { // it was cancelled before it started
				return nil
			}
			if err != nil {
				return err
			}
			now := rastreoOf(at)
			out.Tracking = &now
			return nil
		},
		func() (err error) {
			out.Discrepancias, err = s.discrepancies(ctx, &v)
			return err
		},
	)
}

// discrepancies lists which of a trip's driver, vehicle, trailer, departure and arrival its carta does not have although it declares
// others: those that the trip was given after the carta had been filled in.
func (s *service) discrepancies(ctx context.Context, v *db.Viaje) ([]string, error) {
	r, over := v.Resources, v.Estado == db.EstadoViajeCompletado || v.Estado == db.EstadoViajeCancelado
	if over || v.Fiscal == nil || v.Fiscal.CartaPorteStatus == db.EstadoCartaCancelada {
		return nil, nil
	}
	var (
		declares     db.CartaCompletaResult
		driver       db.Conductor
		leave, reach *db.Ubicacion
		zone         *time.Location
	)
	err := firstError(
		func() (err error) {
			leave, reach, err = s.ends(ctx, v.UserID, v.Fiscal.CartaPorteID)
			return err
		},
		func() (err error) {
			zone, err = s.zoneOf(ctx, v.UserID)
			return err
		},
		func() (err error) { // the vehicle and the people come first
			if r == nil {
				return nil
			}
			declares, err = s.db.CartaCompleta(ctx, db.CartaCompletaInput{UserID: v.UserID, CartaID: v.Fiscal.CartaPorteID}, table.PageOptions{Limit: 1 + maxPeople})
			return err
		},
		func() (err error) {
			if r == nil {
				return nil
			}
			driver, err = s.db.ConductorPorID(ctx, db.ConductorPorIDInput{UserID: v.UserID, ConductorID: r.ConductorID})
			if errors.Is(err, table.ErrNotFound) { // the trip has changed since it was read
				return nil
			}
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(what string, differs bool) {
		if differs {
			out = append(out, what)
		}
	}
	drives := func(f db.Figura) bool { return f.TipoFigura == cartaporte.Operador && f.RfcFigura == driver.Rfc }
	add("conductor", len(declares.Figura) > 0 && driver.ConductorID != "" && !slices.ContainsFunc(declares.Figura, drives))
	for _, a := range declares.Autotransporte {
		add("vehiculo", cartaporte.Placa(a.PlacaVM) != cartaporte.Placa(r.VehiculoPlaca))
		add("remolque", cartaporte.Placa(text(a.PlacaRemolque)) != cartaporte.Placa(text(r.RemolquePlaca)))
	}
	add("salida", leave != nil && !isAt(leave, v.FechaInicioProgramada, zone))
	add("llegada", reach != nil && !isAt(reach, v.FechaFinProgramada, zone))
	return out, nil
}

// ends returns a carta's first and last place, where the trip leaves and arrives; nil if it has none.
func (s *service) ends(ctx context.Context, userID, id string) (leave, reach *db.Ubicacion, err error) {
	places, err := s.places(ctx, userID, id)
	if n := len(places); n > 1 {
		leave, reach = &places[0], &places[n-1]
	}
	return leave, reach, err
}

// isAt reports whether a place has a time, to the minute.
func isAt(u *db.Ubicacion, at time.Time, zone *time.Location) bool {
	return strings.HasPrefix(u.FechaHoraSalidaLlegada, at.In(zone).Format("2006-01-02T15:04"))
}

// saveTrip changes the data of a trip that has not started.
func (s *service) saveTrip(ctx context.Context, who auth.Principal, in changedTrip) (db.Viaje, error) {
	v := db.Viaje{UserID: who.Sub, ViajeID: in.ViajeID}
	var bad fields
	if in.Body.check(&bad); len(bad) > 0 {
		return v, bad.problem()
	}
	in.Body.into(&v)
	var saved db.Viaje
	err := s.change(ctx, &in.Seen, func() error {
		carta, moved, err := s.movedPlaces(ctx, &v)
		if err != nil {
			return err
		}
		if len(moved) == 0 {
			done, err := s.db.GuardarViaje(ctx, guardarViaje(in.Seen, v))
			saved = done.Viaje
			return err
		}
		if _, err = s.db.GuardarViajeConCarta(ctx, guardarViajeConCarta(tripOfDraft{in.Seen, carta.CartaID, carta.Revision, carta.DistanciaTotal, moved}, v)); err == nil {
			saved, err = s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: who.Sub, ViajeID: in.ViajeID})
		}
		return err
	}, db.ErrCartaCambio)
	return saved, err
}

// movedPlaces returns a trip's draft carta and those of its places that have the stored times or the stored distance of the trip, with
// the new ones. What was entered by hand stays as it is.
func (s *service) movedPlaces(ctx context.Context, v *db.Viaje) (c db.Carta, moved []db.GuardarViajeConCartaLine, err error) {
	was, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: v.UserID, ViajeID: v.ViajeID})
	if err != nil || was.Fiscal == nil || was.Fiscal.CartaPorteStatus != db.EstadoCartaBorrador {
		return c, nil, err
	}
	zone, err := s.zoneOf(ctx, v.UserID)
	if err != nil {
		return c, nil, err
	}
	if c, err = s.carta(ctx, v.UserID, was.Fiscal.CartaPorteID); err != nil || c.Sellada {
		return c, nil, err
	}
	leave, reach, err := s.ends(ctx, v.UserID, c.CartaID)
	move := func(u *db.Ubicacion, from, to time.Time, further bool) {
		if u == nil {
			return
		}
		line := db.GuardarViajeConCartaLine{Orden: u.Orden, FechaHoraSalidaLlegada: u.FechaHoraSalidaLlegada, DistanciaRecorrida: u.DistanciaRecorrida}
		later := !from.Equal(to) && isAt(u, from, zone)
		if later {
			line.FechaHoraSalidaLlegada = to.In(zone).Truncate(time.Minute).Format(localTime)
		}
		if further {
			line.DistanciaRecorrida, c.DistanciaTotal = &v.DistanciaTotal, v.DistanciaTotal
		}
		if later || further {
			moved = append(moved, line)
		}
	}
	move(leave, was.FechaInicioProgramada, v.FechaInicioProgramada, false)
	same := func(a, b table.Decimal) bool { return a.Compare(b) == 0 }
	whole := reach != nil && reach.DistanciaRecorrida != nil && same(*reach.DistanciaRecorrida, was.DistanciaTotal) && same(c.DistanciaTotal, was.DistanciaTotal)
	move(reach, was.FechaFinProgramada, v.FechaFinProgramada, whole && !same(was.DistanciaTotal, v.DistanciaTotal))
	return c, moved, err
}

// period restricts a list to a period; a zero time is no limit.
type period struct{ from, to time.Time }

// check rejects a period that ends before it begins.
func (p period) check() error {
	if p.from.IsZero() || p.to.IsZero() || !p.from.After(p.to) {
		return nil
	}
	return problem.BadRequest(
		problem.CodeInvalidParameter, "the period is not valid", problem.Field{Field: "query.hasta", Message: "is before desde"},
	)
}

// bound converts a limit of a period for reads.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// listTrips returns a page of a company's trips: those in a state, those that start in a period, or all.
func (s *service) listTrips(ctx context.Context, who auth.Principal, in tripQuery) (table.Page[ViajeResumen], error) {
	p := period{in.Desde, in.Hasta}
	dated := p != period{}
	switch {
	case dated && in.Estado != "":
		return table.Page[ViajeResumen]{}, problem.BadRequest(
			problem.CodeInvalidParameter, "estado and a period cannot be combined", problem.Field{Field: "query.estado", Message: "requires desde or hasta"},
		)
	case dated:
		if err := p.check(); err != nil {
			return table.Page[ViajeResumen]{}, err
		}
		page, err := s.db.ViajesPorFecha(ctx, db.ViajesPorFechaInput{
			UserID: who.Sub, FechaInicioProgramadaFrom: bound(p.from), FechaInicioProgramadaTo: bound(p.to),
		}, in.Options())
		return api.Show(page, viajePorFecha), err
	case in.Estado != "":
		page, err := s.db.ViajesPorEstado(ctx, db.ViajesPorEstadoInput{UserID: who.Sub, Estado: in.Estado}, in.Options())
		return api.Show(page, viajePorEstado), err
	default:
		page, err := s.db.ViajesDeUsuario(ctx, db.ViajesDeUsuarioInput{UserID: who.Sub}, in.Options())
		return api.Show(page, viajeEnLista), err
	}
}

// cartasOfTrip returns a page of a trip's cartas.
func (s *service) cartasOfTrip(ctx context.Context, who auth.Principal, in tripPage) (table.Page[db.CartasDeViajeItem], error) {
	page, err := s.db.CartasDeViaje(ctx, db.CartasDeViajeInput{UserID: who.Sub, ViajeID: in.ViajeID}, in.Options())
	if err == nil && len(page.Items) == 0 {
		err = s.tripExists(ctx, who.Sub, in.ViajeID)
	}
	return page, err
}

// tripExists returns table.ErrNotFound if the company has no such trip, which an empty list cannot tell apart from a trip without
// entries.
func (s *service) tripExists(ctx context.Context, userID, id string) error {
	return errorOf(s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id}))
}
