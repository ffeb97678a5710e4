package transporteapp

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
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
	Body Mercancia
}

var cambiarMercancia = byname.Copy2[weighed, db.Mercancia, db.CambiarMercanciaInput]()

// weighed is a carta as it was read, with the total weight that it has after a change.
type weighed struct {
	Revision int64
	Peso     table.Decimal
}

// goodAt returns a carta and one line of its goods.
func (s *service) goodAt(ctx context.Context, userID string, at GoodPath) (c db.Carta, m db.Mercancia, err error) {
	if c, err = s.carta(ctx, userID, at.CartaID); err != nil {
		return c, m, err
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
		c, was, err := s.goodAt(ctx, who.Sub, in.GoodPath)
		if err != nil {
			return err
		}
		return s.exchange(ctx, &c, was, stored)
	}, db.ErrCartaCambio)
}

// exchange replaces a line of goods and updates the total weight.
func (s *service) exchange(ctx context.Context, c *db.Carta, was, now db.Mercancia) error {
	weight, err := lighter(c.PesoBrutoTotal, was.PesoKg, now.PesoKg)
	if err != nil {
		return err
	}
	now.Orden = was.Orden
	return errorOf(s.db.CambiarMercancia(ctx, cambiarMercancia(weighed{c.Revision, weight}, now)))
}

// lighter subtracts one weight and adds others.
func lighter(total, less table.Decimal, more ...table.Decimal) (table.Decimal, error) {
	rest, err := difference(total, less)
	if err != nil {
		return rest, err
	}
	return sum(append(more, rest)...)
}

// removeGood removes a line of goods from a draft. The last line takes over its number, so that there are no gaps. Until the
// second transaction, which a repeated request completes, that line exists twice.
func (s *service) removeGood(ctx context.Context, who auth.Principal, in GoodPath) (Totales, error) {
	var left Totales
	err := s.inTurn(ctx, in.CartaID, func() error {
		c, was, err := s.goodAt(ctx, who.Sub, in)
		if err != nil {
			return err
		}
		last := was
		if c.NumeroTotalMercancias > in.Orden {
			at := GoodPath{in.CartaPath, c.NumeroTotalMercancias}
			if _, last, err = s.goodAt(ctx, who.Sub, at); err != nil {
				return err
			}
			if err := s.exchange(ctx, &c, was, last); err != nil {
				return err
			}
			c.Revision++
			if c.PesoBrutoTotal, err = lighter(c.PesoBrutoTotal, was.PesoKg, last.PesoKg); err != nil {
				return err
			}
		}
		weight, err := difference(c.PesoBrutoTotal, last.PesoKg)
		if err != nil {
			return err
		}
		_, err = s.db.QuitarMercancia(ctx, db.QuitarMercanciaInput{
			UserID: who.Sub, CartaID: in.CartaID, Orden: c.NumeroTotalMercancias, Revision: c.Revision, Peso: weight,
		})
		c.NumeroTotalMercancias--
		c.PesoBrutoTotal = weight
		left = totalesOf(c)
		return err
	})
	return left, err
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
	err := s.withCarta(ctx, who.Sub, in.CartaID, func(now db.Carta) error {
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
	Body Receptor
}
