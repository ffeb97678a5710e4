package transporteapp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// versionCarta is the version of the complement.
const versionCarta = "3.1"

// check refuses what the schema cannot.
func (in *DatosViaje) check(bad *fields) {
	bad.addIf(in.FechaFinProgramada.Before(in.FechaInicioProgramada), "body.fechaFinProgramada", "is before the trip begins")
	if c := in.Costos; c != nil && c.Margen != nil {
		margin := c.margin()
		bad.addIf(margin == nil || margin.Compare(c.Margen.Decimal) != 0, "body.costos.margen", "is not precioCliente less costoTotal: leave it out, it is reckoned")
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
	bad.addIf(err != nil, field+".receptor.rfc", "is no RFC")
	bad.addIf(!cartaporte.RegimenFiscal.Tiene(in.Receptor.RegimenFiscal), field+".receptor.regimenFiscal", "is no key of c_RegimenFiscal")
	bad.addIf(p != "" && !cartaporte.UsoCFDI.Tiene(in.Receptor.UsoCfdi), field+".receptor.usoCfdi", "is no key of c_UsoCFDI")
	bad.domicilio(field+".receptor.domicilioFiscal", in.Receptor.DomicilioFiscal)
}

// createTrip makes a trip, with a carta if one is asked for.
func (s *service) createTrip(ctx context.Context, userID, key string, in NuevoViaje) (ViajeConCarta, bool, error) {
	if err := in.check(); err != nil {
		return ViajeConCarta{}, false, err
	}
	r := newRequest(userID, key, "createViaje", in)
	return once(ctx, s, r, func() (ViajeConCarta, bool, error) {
		id, err := s.newID()
		if err != nil {
			return ViajeConCarta{}, false, err
		}
		v := db.Viaje{UserID: userID, ViajeID: id, CreatedAt: s.moment()}
		in.into(&v)
		v.Estado = in.Estado
		v.UpdatedAt = v.CreatedAt
		if in.Carta == nil {
			return s.createBareTrip(ctx, r, v)
		}
		return s.createTripWithCarta(ctx, r, v, in.Carta)
	})
}

func (s *service) createBareTrip(ctx context.Context, r request, v db.Viaje) (answer ViajeConCarta, replayed bool, err error) {
	answer = ViajeConCarta{Viaje: viajeOf(v)}
	err = again(ctx, func() error {
		done, err := s.db.CrearViaje(ctx, db.CrearViajeInput{
			RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
			UserID: v.UserID, ViajeID: v.ViajeID, Nombre: v.Nombre, Estado: v.Estado,
			FechaInicioProgramada: v.FechaInicioProgramada, FechaFinProgramada: v.FechaFinProgramada, Origen: v.Origen, Destino: v.Destino,
			OrigenCoordenadas: v.OrigenCoordenadas, DestinoCoordenadas: v.DestinoCoordenadas, DistanciaTotal: v.DistanciaTotal,
			Local: v.Local, Costos: v.Costos, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		})
		replayed = done.Replayed
		return err
	})
	return answer, replayed, err
}

// terms are what a new carta is held to, as they are now: another request may change them before the write, which sees it.
type terms struct {
	month       string
	limit, seen int64
	now         time.Time
}

// newCarta is the head of a carta with the folio that is next, and the terms.
func (s *service) newCarta(ctx context.Context, userID, viajeID string, in *NuevaCarta) (db.Carta, terms, error) {
	var (
		u    db.User
		last db.FolioSeq
	)
	err := together(
		func() (err error) {
			u, err = s.db.Perfil(ctx, db.PerfilInput{UserID: userID})
			return err
		},
		func() (err error) {
			last, err = s.db.UltimoFolio(ctx, db.UltimoFolioInput{UserID: userID})
			if errors.Is(err, table.ErrNotFound) { // the first carta
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
	t := terms{limit: u.Subscription.Limits.CartasPorteMes, seen: last.N, now: s.moment()}
	if t.month, err = monthOf(t.now, u.Timezone); err != nil {
		return db.Carta{}, terms{}, err
	}
	// What is used up already needs no transaction, which would cost its write units though it is refused.
	switch used, err := s.used(ctx, &u); {
	case err != nil:
		return db.Carta{}, terms{}, err
	case used >= t.limit:
		return db.Carta{}, terms{}, db.ErrLimiteMensual
	case u.Credits.Balance < 1:
		return db.Carta{}, terms{}, db.ErrSinCreditos
	}
	id, err := s.newID()
	if err != nil {
		return db.Carta{}, terms{}, err
	}
	ccp, err := newIDCCP()
	return db.Carta{
		UserID: userID, CartaID: id, ViajeID: viajeID, Folio: folio(t.seen + 1), VersionCartaPorte: versionCarta,
		Status: db.EstadoCartaBorrador, IDCcp: ccp,
		Emisor: db.Emisor{
			Rfc: u.Config.RfcEmisor, Nombre: u.Config.RazonSocial, RegimenFiscal: u.Config.RegimenFiscal, DomicilioFiscal: u.Config.DomicilioFiscal,
		},
		Receptor: in.Receptor.stored(), CreatedAt: t.now, UpdatedAt: t.now,
	}, t, err
}

// folio is a number as companies' cartas bear it.
func folio(n int64) string { return fmt.Sprintf("CP-%06d", n) }

// newIDCCP is an id of a complement: a UUID that begins with CCC.
func newIDCCP() (string, error) {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	return "CCC" + strings.ToUpper(id.String()[3:]), err
}

func (s *service) createTripWithCarta(ctx context.Context, r request, v db.Viaje, in *NuevaCarta) (answer ViajeConCarta, replayed bool, err error) {
	err = s.inTurn(ctx, v.UserID, func() error {
		c, t, err := s.newCarta(ctx, v.UserID, v.ViajeID, in)
		if err != nil {
			return err
		}
		fiscal := fiscalOf(&c, c.Status)
		v.Fiscal = &fiscal
		head := cartaOf(&c)
		answer = ViajeConCarta{Viaje: viajeOf(v), Carta: &head}
		done, err := s.db.CrearViajeConCarta(ctx, db.CrearViajeConCartaInput{
			RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
			Limite: t.limit, Seen: t.seen, Mes: t.month,
			UserID: v.UserID, ViajeID: v.ViajeID, Nombre: v.Nombre, Estado: v.Estado,
			FechaInicioProgramada: v.FechaInicioProgramada, FechaFinProgramada: v.FechaFinProgramada, Origen: v.Origen, Destino: v.Destino,
			OrigenCoordenadas: v.OrigenCoordenadas, DestinoCoordenadas: v.DestinoCoordenadas, DistanciaTotal: v.DistanciaTotal,
			Fiscal: v.Fiscal, Local: v.Local, Costos: v.Costos, CartaID: c.CartaID, Folio: c.Folio, VersionCartaPorte: c.VersionCartaPorte,
			IDCcp: c.IDCcp, Emisor: c.Emisor, Receptor: c.Receptor, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		})
		replayed = done.Replayed
		return err
	}, db.ErrFolioTomado, db.ErrCartaFolioTaken, db.ErrPlanCambio)
	return answer, replayed, err
}

// addCarta makes a carta for a trip that has none, or whose last one was cancelled.
func (s *service) addCarta(ctx context.Context, userID, viajeID, key string, in NuevaCarta) (Carta, bool, error) {
	var bad fields
	if in.check(&bad, "body"); len(bad) > 0 {
		return Carta{}, false, bad.problem()
	}
	r := newRequest(userID, key, "createCarta "+viajeID, in)
	return once(ctx, s, r, func() (answer Carta, replayed bool, err error) {
		err = s.inTurn(ctx, userID, func() error {
			c, t, err := s.newCarta(ctx, userID, viajeID, &in)
			if err != nil {
				return err
			}
			answer = cartaOf(&c)
			done, err := s.db.CrearCartaDeViaje(ctx, db.CrearCartaDeViajeInput{
				RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
				Limite: t.limit, Seen: t.seen, Mes: t.month,
				Fiscal: fiscalOf(&c, c.Status),
				UserID: userID, ViajeID: viajeID, CartaID: c.CartaID, Folio: c.Folio, VersionCartaPorte: c.VersionCartaPorte,
				IDCcp: c.IDCcp, Emisor: c.Emisor, Receptor: c.Receptor, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
			})
			replayed = done.Replayed
			return err
		}, db.ErrFolioTomado, db.ErrCartaFolioTaken, db.ErrPlanCambio)
		return answer, replayed, err
	})
}

// trip is one of a company's, with its carta and where it is.
func (s *service) trip(ctx context.Context, userID, id string) (ViajeConCarta, error) {
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
	if err != nil {
		return ViajeConCarta{}, err
	}
	out := ViajeConCarta{Viaje: viajeOf(v)}
	return out, together(
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
			if errors.Is(err, table.ErrNotFound) { // it was off before it began
				return nil
			}
			if err != nil {
				return err
			}
			now := rastreoOf(at)
			out.Tracking = &now
			return nil
		},
	)
}

// saveTrip changes what is said of a trip that nobody drives yet.
func (s *service) saveTrip(ctx context.Context, userID, id string, in DatosViaje) (Viaje, error) {
	var bad fields
	if in.check(&bad); len(bad) > 0 {
		return Viaje{}, bad.problem()
	}
	var v db.Viaje
	in.into(&v)
	err := again(ctx, func() error {
		done, err := s.db.GuardarViaje(ctx, db.GuardarViajeInput{
			UserID: userID, ViajeID: id, Nombre: v.Nombre, FechaInicioProgramada: v.FechaInicioProgramada, FechaFinProgramada: v.FechaFinProgramada,
			Origen: v.Origen, Destino: v.Destino, OrigenCoordenadas: v.OrigenCoordenadas, DestinoCoordenadas: v.DestinoCoordenadas,
			DistanciaTotal: v.DistanciaTotal, Local: v.Local, Costos: v.Costos,
		})
		v = done.Viaje
		return err
	})
	return viajeOf(v), err
}

// period bounds a list by time; a zero time does not bound.
type period struct{ from, to time.Time }

// check refuses a period that ends before it begins.
func (p period) check() error {
	if p.from.IsZero() || p.to.IsZero() || !p.from.After(p.to) {
		return nil
	}
	return problem.BadRequest(
		problem.CodeInvalidParameter, "the period is not valid", problem.Field{Field: "query.hasta", Message: "is before desde"},
	)
}

// bound is a time of a period as reads take it.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// tripsByDate are a page of a company's trips by when they begin.
func (s *service) tripsByDate(ctx context.Context, userID string, p period, page table.PageOptions) (table.Page[db.ViajesPorFechaItem], error) {
	if err := p.check(); err != nil {
		return table.Page[db.ViajesPorFechaItem]{}, err
	}
	return s.db.ViajesPorFecha(ctx, db.ViajesPorFechaInput{
		UserID: userID, FechaInicioProgramadaFrom: bound(p.from), FechaInicioProgramadaTo: bound(p.to),
	}, page)
}

// tripExists is table.ErrNotFound where a company has no such trip: what an empty list of a trip's things may mean.
func (s *service) tripExists(ctx context.Context, userID, id string) error {
	_, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
	return err
}
