package transporteapp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

const (
	// pieceBytes is how much of a packed document an item has; an item holds 400 KB, a transaction 4 MB.
	pieceBytes = 300_000
	maxPieces  = 10
	// sealGood is how long after its date a document can be stamped.
	sealGood = 72 * time.Hour
	// mostFaults is how many faults an answer names.
	mostFaults = 50
	localTime  = "2006-01-02T15:04:05"
)

// seal closes a draft that the tax office would take: its counts are what it lists, and nothing is listed any more.
func (s *service) seal(ctx context.Context, userID, id string) (Carta, error) {
	var sealed db.Carta
	err := again(ctx, func() error {
		c, err := s.carta(ctx, userID, id)
		if err != nil {
			return err
		}
		switch {
		case c.Status != db.EstadoCartaBorrador:
			return db.ErrCartaNoBorrador
		case c.Sellada:
			return db.ErrCartaSellada
		}
		d, err := s.document(ctx, &c)
		if err != nil {
			return err
		}
		if err := refuse(d.Validar()); err != nil {
			return err
		}
		done, err := s.db.SellarCarta(ctx, db.SellarCartaInput{UserID: userID, CartaID: id, Visto: c.Revision})
		sealed = done.Carta
		return err
	}, db.ErrCartaCambio)
	return cartaOf(&sealed), err
}

// refuse is the error of what the tax office would refuse, nil for nothing.
func refuse(faults []cartaporte.Falta) error {
	if len(faults) == 0 {
		return nil
	}
	list := each(faults[:min(len(faults), mostFaults)], func(f cartaporte.Falta) problem.Field {
		return problem.Field{Field: f.Campo, Message: f.Mensaje}
	})
	return &problem.Error{
		Status: http.StatusConflict, Code: "carta_incompleta", Err: errCartaIncompleta, Fields: list,
		Detail: fmt.Sprintf("the tax office would refuse %d parts of the carta", len(faults)),
	}
}

// open lets a sealed draft be changed again.
func (s *service) open(ctx context.Context, userID, id string) (Carta, error) {
	done, err := s.db.AbrirCarta(ctx, db.AbrirCartaInput{UserID: userID, CartaID: id})
	return cartaOf(&done.Carta), err
}

// stamp stamps a sealed draft. The PAC stamps first; where it fails, the draft stays one. Its stamp, the document, the trip's
// summary and the credit are then one transaction: where that is lost, the same reference gets the same stamp again.
func (s *service) stamp(ctx context.Context, userID, id, key string) (Carta, bool, error) {
	r := newRequest(userID, key, "timbrar "+id, nil)
	return once(ctx, s, r, func() (Carta, bool, error) {
		c, err := s.carta(ctx, userID, id)
		if err != nil {
			return Carta{}, false, err
		}
		switch {
		case c.Status != db.EstadoCartaBorrador:
			return Carta{}, false, db.ErrCartaNoBorrador
		case !c.Sellada:
			return Carta{}, false, db.ErrCartaNoSellada
		case s.now().Sub(c.UpdatedAt) > sealGood:
			return Carta{}, false, errCartaVencida
		}
		stamp, err := s.certify(ctx, &c)
		if err != nil {
			return Carta{}, false, err
		}
		return s.keepStamp(ctx, r, c, &stamp)
	})
}

// certify lets the PAC stamp a carta. The document's date is when the carta was sealed, so that it is the same each time.
func (s *service) certify(ctx context.Context, c *db.Carta) (cartaporte.Timbre, error) {
	u, err := s.db.Perfil(ctx, db.PerfilInput{UserID: c.UserID})
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	place, err := time.LoadLocation(u.Timezone)
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	d, err := s.document(ctx, c)
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	d.Fecha = c.UpdatedAt.In(place).Format(localTime)
	stamp, err := s.pac.Timbrar(ctx, cartaporte.Solicitud{
		Referencia: fmt.Sprintf("%s/%d", c.CartaID, c.Revision), Comprobante: d.Comprobante(),
	})
	switch {
	case errors.Is(err, cartaporte.ErrRechazado):
		return cartaporte.Timbre{}, &problem.Error{Status: http.StatusConflict, Code: "pac_rechaza", Detail: "the PAC does not stamp the document as it is", Err: errors.Join(errPACRechaza, err)}
	case err != nil:
		return cartaporte.Timbre{}, problem.Unavailable(fmt.Errorf("the PAC: %w", err))
	}
	return stamp, nil
}

// keepStamp stores a stamp.
func (s *service) keepStamp(ctx context.Context, r request, c db.Carta, stamp *cartaporte.Timbre) (answer Carta, replayed bool, err error) {
	pieces, err := pack(stamp.XML)
	if err != nil {
		return Carta{}, false, err
	}
	digest := sha256.Sum256(stamp.XML)
	c.Status, c.UpdatedAt = db.EstadoCartaTimbrada, s.moment()
	c.Timbrado = &db.Timbrado{
		UUIDFiscal: stamp.UUID, FechaTimbrado: stamp.FechaTimbrado, RfcProvCertif: stamp.RfcProvCertif, NoCertificadoSAT: stamp.NoCertificadoSAT,
		Prueba: stamp.Prueba, Sha256: hex.EncodeToString(digest[:]), Bytes: int64(len(stamp.XML)),
	}
	answer = cartaOf(&c)
	err = s.inTurn(ctx, c.UserID, func() error {
		done, err := s.db.TimbrarCarta(ctx, db.TimbrarCartaInput{
			RequestKey: r.key, Operacion: r.operation, Huella: r.fingerprint, Respuesta: encode(answer),
			UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Timbrado: c.Timbrado,
			Fiscal: db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: c.Status}, Lines: pieces,
		})
		replayed = done.Replayed
		return err
	})
	return answer, replayed, err
}

// pack makes lines of a document.
func pack(document []byte) ([]db.TimbrarCartaLine, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(document); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	var lines []db.TimbrarCartaLine
	for rest := packed.Bytes(); len(rest) > 0; {
		n := min(pieceBytes, len(rest))
		lines = append(lines, db.TimbrarCartaLine{Parte: int64(len(lines)), Contenido: rest[:n]})
		rest = rest[n:]
	}
	if len(lines) > maxPieces {
		return nil, problem.Conflict("carta_enorme", "the document is larger than 3 MB packed: make two of it")
	}
	return lines, nil
}

// xml is a stamped carta's document.
func (s *service) xml(ctx context.Context, userID, id string) ([]byte, error) {
	c, err := s.carta(ctx, userID, id)
	if err != nil {
		return nil, err
	}
	if c.Timbrado == nil {
		return nil, db.ErrCartaNoTimbrada
	}
	var packed bytes.Buffer
	for piece, err := range s.db.XMLDeCartaAll(ctx, db.XMLDeCartaInput{UserID: userID, CartaID: id}) {
		if err != nil {
			return nil, err
		}
		packed.Write(piece.Contenido)
	}
	r, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, fmt.Errorf("carta %s: unpack the document: %w", id, err)
	}
	return io.ReadAll(io.LimitReader(r, c.Timbrado.Bytes+1))
}

// cancelCarta cancels a carta: a draft gives its credit back, a stamped one has the PAC cancel it first.
func (s *service) cancelCarta(ctx context.Context, userID, id, reason, replacement string) (Carta, error) {
	err := again(ctx, func() error {
		c, err := s.carta(ctx, userID, id)
		if err != nil {
			return err
		}
		fiscal := db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: db.EstadoCartaCancelada}
		switch c.Status {
		case db.EstadoCartaBorrador:
			_, err = s.db.CancelarBorrador(ctx, db.CancelarBorradorInput{UserID: userID, CartaID: id, ViajeID: c.ViajeID, Fiscal: fiscal})
			if errors.Is(err, db.ErrCartaNoBorrador) { // it was stamped meanwhile
				err = table.ErrConflict
			}
			return err
		case db.EstadoCartaTimbrada:
			return s.cancelStamped(ctx, &c, fiscal, reason, replacement)
		default:
			return db.ErrCartaNoTimbrada
		}
	})
	if err != nil {
		return Carta{}, err
	}
	c, err := s.carta(ctx, userID, id)
	return cartaOf(&c), err
}

func (s *service) cancelStamped(ctx context.Context, c *db.Carta, fiscal db.Fiscal, reason, replacement string) error {
	var bad fields
	bad.addIf(reason == "", "body.motivo", "is missing: the carta is stamped")
	bad.addIf((reason == "01") != (replacement != ""), "body.sustituye", "belongs to motivo 01, and to it alone")
	if err := bad.problem(); err != nil {
		return err
	}
	v, err := s.db.ViajePorID(ctx, db.ViajePorIDInput{UserID: c.UserID, ViajeID: c.ViajeID})
	if err != nil {
		return err
	}
	if v.Estado == db.EstadoViajeEnCurso { // asked before the PAC is, and again in the write
		return db.ErrViajeEnMarcha
	}
	err = s.pac.Cancelar(ctx, cartaporte.Cancelacion{UUID: c.Timbrado.UUIDFiscal, RFCEmisor: c.Emisor.Rfc, Motivo: reason, Sustituye: replacement})
	switch {
	case errors.Is(err, cartaporte.ErrRechazado):
		return &problem.Error{Status: http.StatusConflict, Code: "pac_rechaza", Detail: "the PAC does not cancel the document", Err: errors.Join(errPACRechaza, err)}
	case err != nil:
		return problem.Unavailable(fmt.Errorf("the PAC: %w", err))
	}
	_, err = s.db.CancelarTimbrada(ctx, db.CancelarTimbradaInput{UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Fiscal: fiscal})
	return err
}
