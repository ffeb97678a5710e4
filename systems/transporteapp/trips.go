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
func (in *NuevoViaje) check() error {
	var bad fields
	bad.addIf(in.FechaFinProgramada.Before(in.FechaInicioProgramada), "body.fechaFinProgramada", "is before the trip begins")
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
			Costos: v.Costos, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
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
	u, err := s.db.Perfil(ctx, db.PerfilInput{UserID: userID})
	if err != nil {
		return db.Carta{}, terms{}, err
	}
	if u.Config == nil {
		return db.Carta{}, terms{}, errSinConfig
	}
	t := terms{limit: u.Subscription.Limits.CartasPorteMes, now: s.moment()}
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
	last, err := s.db.UltimoFolio(ctx, db.UltimoFolioInput{UserID: userID})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return db.Carta{}, terms{}, err
	}
	t.seen = last.N
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
		v.Fiscal = &db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: c.Status}
		head := cartaOf(&c)
		answer = ViajeConCarta{Viaje: viajeOf(v), Carta: &head}
		done, err := s.db.CrearViajeConCarta(ctx, db.CrearViajeConCartaInput{
			RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
			Limite: t.limit, Ahora: t.now, Seen: t.seen, Mes: t.month,
			UserID: v.UserID, ViajeID: v.ViajeID, Nombre: v.Nombre, Estado: v.Estado,
			FechaInicioProgramada: v.FechaInicioProgramada, FechaFinProgramada: v.FechaFinProgramada, Origen: v.Origen, Destino: v.Destino,
			OrigenCoordenadas: v.OrigenCoordenadas, DestinoCoordenadas: v.DestinoCoordenadas, DistanciaTotal: v.DistanciaTotal,
			Fiscal: v.Fiscal, Costos: v.Costos, CartaID: c.CartaID, Folio: c.Folio, VersionCartaPorte: c.VersionCartaPorte,
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
				Limite: t.limit, Ahora: t.now, Seen: t.seen, Mes: t.month,
				Fiscal: db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: c.Status},
				UserID: userID, ViajeID: viajeID, CartaID: c.CartaID, Folio: c.Folio, VersionCartaPorte: c.VersionCartaPorte,
				IDCcp: c.IDCcp, Emisor: c.Emisor, Receptor: c.Receptor, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
			})
			replayed = done.Replayed
			return err
		}, db.ErrFolioTomado, db.ErrCartaFolioTaken, db.ErrPlanCambio)
		return answer, replayed, err
	})
}

// trip is one of a company's, with its carta.
func (s *service) trip(ctx context.Context, userID, id string) (ViajeConCarta, error) {
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: userID, ViajeID: id})
	if err != nil {
		return ViajeConCarta{}, err
	}
	out := ViajeConCarta{Viaje: viajeOf(v)}
	if v.Fiscal == nil {
		return out, nil
	}
	c, err := s.db.CartaPorID(ctx, db.CartaPorIDInput{UserID: userID, CartaID: v.Fiscal.CartaPorteID})
	if err != nil {
		return ViajeConCarta{}, err
	}
	head := cartaOf(&c)
	out.Carta = &head
	return out, nil
}

// period bounds trips by when they are to begin; a zero time does not bound.
type period struct{ from, to time.Time }

// tripsByDate are a page of a company's trips by when they begin.
func (s *service) tripsByDate(ctx context.Context, userID string, p period, page table.PageOptions) (table.Page[db.ViajesPorFechaItem], error) {
	in := db.ViajesPorFechaInput{UserID: userID}
	if !p.from.IsZero() {
		in.FechaInicioProgramadaFrom = &p.from
	}
	if !p.to.IsZero() {
		in.FechaInicioProgramadaTo = &p.to
	}
	if !p.from.IsZero() && !p.to.IsZero() && p.from.After(p.to) {
		return table.Page[db.ViajesPorFechaItem]{}, problem.BadRequest(
			problem.CodeInvalidParameter, "the period ends before it begins", problem.Field{Field: "query.hasta", Message: "is before desde"},
		)
	}
	return s.db.ViajesPorFecha(ctx, in, page)
}
