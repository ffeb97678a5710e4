package transporteapp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// cancelCarta cancels a carta: a draft returns its credit, a stamped one is first cancelled by the PAC.
func (s *service) cancelCarta(ctx context.Context, who auth.Principal, in cancelledCarta) (Carta, error) {
	userID, id := who.Sub, in.CartaID
	err := s.withCarta(ctx, userID, id, func(c db.Carta) error {
		switch c.Status {
		case db.EstadoCartaBorrador:
			fiscal := fiscalOf(&c, db.EstadoCartaCancelada)
			if c.Sustituye != nil { // the trip has again the carta that this one would have replaced, which is stamped until then
				fiscal = db.Fiscal{CartaPorteID: c.Sustituye.CartaID, CartaPorteFolio: c.Sustituye.Folio, CartaPorteStatus: db.EstadoCartaTimbrada}
			}
			return errorOf(s.db.CancelarBorrador(ctx, db.CancelarBorradorInput{UserID: userID, CartaID: id, ViajeID: c.ViajeID, Fiscal: fiscal}))
		case db.EstadoCartaEnTimbrado:
			return db.ErrCartaEnTimbrado
		case db.EstadoCartaTimbrada, db.EstadoCartaEnCancelacion:
			return s.cancelStamped(ctx, &c, in.Body.Motivo, in.Body.Sustituye)
		default:
			return db.ErrCartaNoTimbrada
		}
	}, db.ErrCartaNoBorrador) // it was stamped in the meantime
	if err != nil {
		return Carta{}, err
	}
	return s.head(ctx, userID, id)
}

// cancelStamped asks the PAC to cancel a stamped carta. The carta is en_cancelacion from before the PAC is called until its
// response is known, and its trip cannot start in the meantime. If the response is lost, the request is repeated.
func (s *service) cancelStamped(ctx context.Context, c *db.Carta, reason, replacement string) error {
	var bad fields
	bad.addIf(reason == "", "body.motivo", "is required, because the carta is stamped")
	bad.addIf((reason == "01") != (replacement != ""), "body.sustituye", "is required for motivo 01 and allowed only there")
	bad.addIf(strings.EqualFold(replacement, c.Timbrado.UUIDFiscal), "body.sustituye", "is the UUID of this carta")
	if err := bad.problem(); err != nil {
		return err
	}
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: c.UserID, ViajeID: c.ViajeID})
	if err != nil {
		return err
	}
	replaced := v.Fiscal != nil && v.Fiscal.CartaPorteID != c.CartaID
	var by db.Carta
	if replaced {
		if by, err = s.replacing(ctx, c, v.Fiscal.CartaPorteID); err != nil {
			return err
		}
	}
	if by.Status == db.EstadoCartaTimbrada && replacement != "" && !strings.EqualFold(replacement, by.Timbrado.UUIDFiscal) {
		bad.add("body.sustituye", "is not the UUID of the carta that replaces this one")
		return bad.problem()
	}
	if c.Status == db.EstadoCartaTimbrada {
		if replaced {
			err = s.beginReplaced(ctx, c, &by, v.Fiscal.CartaPorteID)
		} else {
			err = errorOf(s.db.EmpezarCancelacion(ctx, db.EmpezarCancelacionInput{
				UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Fiscal: fiscalOf(c, db.EstadoCartaEnCancelacion),
			}))
		}
		if errors.Is(err, db.ErrCartaNoTimbrada) { // another request has called the PAC in the meantime
			return table.ErrConflict
		}
		if err != nil {
			return err
		}
		c.Revision++
	}
	err = s.pac.Cancelar(ctx, cartaporte.Cancelacion{UUID: c.Timbrado.UUIDFiscal, RFCEmisor: c.Emisor.Rfc, Motivo: reason, Sustituye: replacement})
	switch {
	case errors.Is(err, cartaporte.ErrRechazado):
		return s.refusedCancel(ctx, c, replaced, err)
	case err != nil:
		return problem.Unavailable(fmt.Errorf("the PAC: %w", err))
	}
	if replaced {
		return errorOf(s.db.CancelarSustituida(ctx, db.CancelarSustituidaInput{UserID: c.UserID, CartaID: c.CartaID}))
	}
	return errorOf(s.db.CancelarTimbrada(ctx, db.CancelarTimbradaInput{
		UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Fiscal: fiscalOf(c, db.EstadoCartaCancelada),
	}))
}

// replacing returns the carta that replaces another one of its trip, looking back from the trip's current one. It has no id if none
// does, because a carta was created after the one that replaced it had been cancelled.
func (s *service) replacing(ctx context.Context, c *db.Carta, current string) (by db.Carta, err error) {
	for id := current; ; id = by.Sustituye.CartaID {
		if by, err = s.carta(ctx, c.UserID, id); err != nil || by.Sustituye == nil {
			return db.Carta{}, err
		}
		if by.Sustituye.CartaID == c.CartaID {
			return by, nil
		}
	}
}

// beginReplaced marks a carta as being cancelled whose trip has another one. While the one that replaces it is a draft, which can
// be discarded, it must stay stamped.
func (s *service) beginReplaced(ctx context.Context, c, by *db.Carta, current string) error {
	if by.Status == db.EstadoCartaBorrador || by.Status == db.EstadoCartaEnTimbrado {
		return errSustitutaSinTimbrar
	}
	return errorOf(s.db.EmpezarCancelacionSustituida(ctx, db.EmpezarCancelacionSustituidaInput{
		UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Vigente: current,
	}))
}

// refusedCancel returns a carta to the stamped state after the PAC has rejected its cancellation, and returns the rejection.
func (s *service) refusedCancel(ctx context.Context, c *db.Carta, replaced bool, refusal error) error {
	err := again(ctx, func() error {
		if replaced {
			return errorOf(s.db.DejarCancelacionSustituida(ctx, db.DejarCancelacionSustituidaInput{UserID: c.UserID, CartaID: c.CartaID, Visto: c.Revision}))
		}
		return errorOf(s.db.DejarCancelacion(ctx, db.DejarCancelacionInput{
			UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Fiscal: fiscalOf(c, db.EstadoCartaTimbrada),
		}))
	})
	if err != nil && !errors.Is(err, db.ErrCartaNoTimbrada) { // otherwise another request has already received the rejection
		return err
	}
	return &problem.Error{
		Status: http.StatusConflict, Code: "pac_rechaza", Detail: "the PAC rejected the cancellation", Err: errors.Join(errPACRechaza, refusal),
	}
}
