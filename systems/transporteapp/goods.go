package transporteapp

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// GoodPath identifies a line of goods by its number.
type GoodPath struct {
	CartaPath
	Orden int64 `path:"orden" minimum:"1" maximum:"99999" doc:"Its position in the list, from 1"`
}

type changedGood struct {
	GoodPath
	api.Seen
	Body Mercancia
}

type removedGood struct {
	GoodPath
	api.Seen
}

var (
	cambiarMercancia = byname.Copy2[weighed, db.Mercancia, db.CambiarMercanciaInput]()
	relevarMercancia = byname.Copy2[relieved, db.Mercancia, db.RelevarMercanciaInput]()
)

// weighed is a carta as it was read, with the total weight that it has after a change.
type weighed struct {
	Revision int64
	Peso     table.Decimal
}

// relieved is a carta like weighed, with its last line, which is moved.
type relieved struct {
	Revision int64
	Peso     table.Decimal
	Lines    []db.RelevarMercanciaLine
}

// goodAt returns a carta, if it still has the version that the caller has read, and one line of its goods.
func (s *service) goodAt(ctx context.Context, userID string, at GoodPath, seen api.Seen) (c db.Carta, m db.Mercancia, err error) {
	if c, err = s.carta(ctx, userID, at.CartaID); err != nil {
		return c, m, err
	}
	if !seen.Has(versionOf(c.Revision)) {
		return c, m, problem.Changed()
	}
	if at.Orden > c.NumeroTotalMercancias {
		return c, m, table.ErrNotFound
	}
	m, err = s.db.MercanciaPorOrden(ctx, db.MercanciaPorOrdenInput{UserID: userID, CartaID: at.CartaID, Orden: at.Orden})
	return c, m, err
}

// changeGood replaces a line of goods.
func (s *service) changeGood(ctx context.Context, who auth.Principal, in changedGood) (Mercancia, error) {
	var bad fields
	for _, f := range cartaporte.ValidarMercancia("body", in.Body.declared()) {
		bad.add(f.Campo, f.Mensaje)
	}
	if err := bad.problem(); err != nil {
		return Mercancia{}, err
	}
	in.Body.Orden, in.Body.Moneda = in.Orden, in.Body.currency()
	stored := mercanciaStored(listed{who.Sub, in.CartaID}, in.Body)
	return in.Body, again(ctx, func() error {
		c, was, err := s.goodAt(ctx, who.Sub, in.GoodPath, in.Seen)
		if err != nil {
			return err
		}
		return s.exchange(ctx, &c, was, stored)
	}, db.ErrCartaCambio)
}

// exchange replaces a line of goods and updates the total weight.
func (s *service) exchange(ctx context.Context, c *db.Carta, was, now db.Mercancia) error {
	rest, err := difference(c.PesoBrutoTotal, was.PesoKg)
	if err != nil {
		return err
	}
	weight, err := sum(rest, now.PesoKg)
	if err != nil {
		return err
	}
	now.Orden = was.Orden
	return errorOf(s.db.CambiarMercancia(ctx, cambiarMercancia(weighed{c.Revision, weight}, now)))
}

// removeGood removes a line of goods from a draft. The last line takes over its number, so that there are no gaps.
func (s *service) removeGood(ctx context.Context, who auth.Principal, in removedGood) (Totales, error) {
	var left Totales
	err := s.inTurn(ctx, in.CartaID, func() error {
		c, was, err := s.goodAt(ctx, who.Sub, in.GoodPath, in.Seen)
		if err != nil {
			return err
		}
		weight, err := difference(c.PesoBrutoTotal, was.PesoKg)
		if err != nil {
			return err
		}
		if last := c.NumeroTotalMercancias; last == in.Orden {
			_, err = s.db.QuitarMercancia(ctx, db.QuitarMercanciaInput{
				UserID: who.Sub, CartaID: in.CartaID, Orden: last, Revision: c.Revision, Peso: weight,
			})
		} else {
			err = s.replaceByLast(ctx, weighed{c.Revision, weight}, was, last)
		}
		c.NumeroTotalMercancias--
		c.PesoBrutoTotal = weight
		left = totalesOf(c)
		return err
	})
	return left, err
}

// replaceByLast removes a line of goods and moves the last one to its place.
func (s *service) replaceByLast(ctx context.Context, c weighed, was db.Mercancia, last int64) error {
	moved, err := s.db.MercanciaPorOrden(ctx, db.MercanciaPorOrdenInput{UserID: was.UserID, CartaID: was.CartaID, Orden: last})
	if err != nil {
		return err
	}
	moved.Orden = was.Orden
	return errorOf(s.db.RelevarMercancia(ctx, relevarMercancia(relieved{c.Revision, c.Peso, []db.RelevarMercanciaLine{{Orden: last}}}, moved)))
}

// changeReceiver changes a draft's receiver.
func (s *service) changeReceiver(ctx context.Context, who auth.Principal, in changedReceiver) (Carta, error) {
	var bad fields
	body := NuevaCarta{in.Body}
	body.check(&bad, "body")
	for i := range bad { // in this request the body is the receiver
		bad[i].Field = "body" + bad[i].Field[len("body.receptor"):]
	}
	if err := bad.problem(); err != nil {
		return Carta{}, err
	}
	var c db.Carta
	err := s.withVersion(ctx, who.Sub, in.CartaID, &in.Seen, func(now db.Carta) error {
		done, err := s.db.GuardarReceptor(ctx, db.GuardarReceptorInput{
			UserID: who.Sub, CartaID: in.CartaID, Revision: now.Revision, Receptor: receptorStored(in.Body),
		})
		c = done.Carta
		return err
	})
	return cartaOf(&c), err
}

type changedReceiver struct {
	CartaPath
	api.Seen
	Body Receptor
}
