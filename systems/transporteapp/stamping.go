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
	"slices"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

const (
	// pieceBytes is the size of a compressed document's pieces: an item can have 400 KB, a transaction 4 MB.
	pieceBytes = 300_000
	maxPieces  = 10
	// stampBytes is reserved for what a PAC adds to a document: seals, certificate and stamp.
	stampBytes = 50_000
	// sealGood is how long after its date a document can still be stamped.
	sealGood = 72 * time.Hour
	// mostFaults is the maximum number of faults in a response.
	mostFaults = 50
	localTime  = "2006-01-02T15:04:05"
)

// seal closes a draft if it is valid: its totals match its contents, and nothing can be added afterwards.
func (s *service) seal(ctx context.Context, userID, id string) (Carta, error) {
	var sealed db.Carta
	err := s.withCarta(ctx, userID, id, func(c db.Carta) error {
		switch {
		case c.Status != db.EstadoCartaBorrador:
			return db.ErrCartaNoBorrador
		case c.Sellada:
			return db.ErrCartaSellada
		}
		if err := s.reissue(ctx, &c); err != nil {
			return err
		}
		d, err := s.document(ctx, &c)
		if err != nil {
			return err
		}
		if err := refuse(d.Validar()); err != nil {
			return err
		}
		if err := storable(d); err != nil {
			return err
		}
		done, err := s.db.SellarCarta(ctx, db.SellarCartaInput{UserID: userID, CartaID: id, Visto: c.Revision, Emisor: c.Emisor})
		sealed = done.Carta
		return err
	})
	return cartaOf(&sealed), err
}

// reissue sets the issuer of a draft to the company's current tax details, which may have been corrected since it was created.
func (s *service) reissue(ctx context.Context, c *db.Carta) error {
	u, err := s.db.Perfil(ctx, db.PerfilInput{UserID: c.UserID})
	if err == nil && u.Config != nil {
		c.Emisor = issuer(u.Config)
	}
	return err
}

// refuse returns an error for faults, or nil if there are none.
func refuse(faults []cartaporte.Falta) error {
	if len(faults) == 0 {
		return nil
	}
	list := each(faults[:min(len(faults), mostFaults)], func(f cartaporte.Falta) problem.Field {
		return problem.Field{Field: f.Campo, Message: f.Mensaje}
	})
	return &problem.Error{
		Status: http.StatusConflict, Code: "carta_incompleta", Err: errCartaIncompleta, Fields: list,
		Detail: fmt.Sprintf("the tax office would reject %d parts of the carta", len(faults)),
	}
}

// open reopens a closed draft.
func (s *service) open(ctx context.Context, userID, id string) (Carta, error) {
	var opened db.Carta
	err := again(ctx, func() error {
		done, err := s.db.AbrirCarta(ctx, db.AbrirCartaInput{UserID: userID, CartaID: id})
		opened = done.Carta
		return err
	})
	return cartaOf(&opened), err
}

// stamp stamps a closed draft. The carta is en_timbrado from before the PAC is called until its response is known. Then the
// stamp, the document, the trip's summary and the credit are stored in one transaction. If the transaction fails or the PAC's
// response is lost, the request is repeated, and the same reference gets the same stamp.
func (s *service) stamp(ctx context.Context, who auth.Principal, in keyedCarta) (Carta, bool, error) {
	r := newRequest(who.Sub, in.RequestKey, "timbrar "+in.CartaID, nil)
	return keyed(ctx, s, r, func() (Carta, error) {
		c, err := s.askStamp(ctx, who.Sub, in.CartaID)
		if err != nil {
			return Carta{}, err
		}
		stamp, err := s.certify(ctx, &c)
		if errors.Is(err, cartaporte.ErrRechazado) {
			return Carta{}, s.refusedStamp(ctx, &c, err)
		}
		if err != nil {
			return Carta{}, err
		}
		return s.keepStamp(ctx, r, c, &stamp)
	})
}

// askStamp marks a closed draft as being stamped and returns it. Until the PAC has responded the carta can be neither opened nor
// cancelled, so the stamp always matches it.
func (s *service) askStamp(ctx context.Context, userID, id string) (db.Carta, error) {
	var asked db.Carta
	err := s.withCarta(ctx, userID, id, func(c db.Carta) error {
		asked = c
		switch {
		case c.Status == db.EstadoCartaEnTimbrado: // the PAC's response was lost, or another request is waiting for it
			return nil
		case c.Status != db.EstadoCartaBorrador:
			return db.ErrCartaNoBorrador
		case !c.Sellada:
			return db.ErrCartaNoSellada
		case c.SelladaAt == nil || s.now().Sub(*c.SelladaAt) > sealGood:
			return errCartaVencida
		}
		_, err := s.db.EmpezarTimbrado(ctx, db.EmpezarTimbradoInput{
			UserID: userID, CartaID: id, ViajeID: c.ViajeID, Visto: c.Revision, Fiscal: fiscalOf(&c, db.EstadoCartaEnTimbrado),
		})
		if errors.Is(err, db.ErrCartaNoBorrador) { // another request has called the PAC in the meantime
			return table.ErrConflict
		}
		asked.Revision++ // identifies this attempt, so that a late rejection of another one is ignored
		return err
	})
	return asked, err
}

// refusedStamp turns a carta that the PAC rejected back into a draft, and returns the rejection.
func (s *service) refusedStamp(ctx context.Context, c *db.Carta, refusal error) error {
	err := again(ctx, func() error {
		return errorOf(s.db.DejarTimbrado(ctx, db.DejarTimbradoInput{
			UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Fiscal: fiscalOf(c, db.EstadoCartaBorrador),
		}))
	})
	if err != nil && !errors.Is(err, db.ErrCartaNoBorrador) { // otherwise another request has already received the rejection
		return err
	}
	return refusal
}

// fiscalOf returns a trip's summary of a carta in a state.
func fiscalOf(c *db.Carta, status db.EstadoCarta) db.Fiscal {
	return db.Fiscal{CartaPorteID: c.CartaID, CartaPorteFolio: c.Folio, CartaPorteStatus: status}
}

// certify asks the PAC to stamp a carta. The document's date is when the carta was closed, so that every attempt sends the same
// document.
func (s *service) certify(ctx context.Context, c *db.Carta) (cartaporte.Timbre, error) {
	var (
		u db.User
		d *cartaporte.Documento
	)
	err := firstError(
		func() (err error) {
			u, err = s.db.Perfil(ctx, db.PerfilInput{UserID: c.UserID})
			return err
		},
		func() (err error) {
			d, err = s.document(ctx, c)
			return err
		},
	)
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	place, err := time.LoadLocation(u.Timezone)
	if err != nil {
		return cartaporte.Timbre{}, err
	}
	if c.SelladaAt == nil {
		return cartaporte.Timbre{}, errCartaVencida
	}
	d.Fecha = c.SelladaAt.In(place).Format(localTime)
	stamp, err := s.pac.Timbrar(ctx, cartaporte.Solicitud{
		Referencia: fmt.Sprintf("%s/%d", c.CartaID, c.Revision), Comprobante: d.Comprobante(),
	})
	switch {
	case errors.Is(err, cartaporte.ErrRechazado):
		return cartaporte.Timbre{}, &problem.Error{Status: http.StatusConflict, Code: "pac_rechaza", Detail: "the PAC rejects the document in this form", Err: errors.Join(errPACRechaza, err)}
	case err != nil:
		return cartaporte.Timbre{}, problem.Unavailable(fmt.Errorf("the PAC: %w", err))
	}
	return stamp, nil
}

// keepStamp stores a stamp.
func (s *service) keepStamp(ctx context.Context, r request, c db.Carta, stamp *cartaporte.Timbre) (Carta, error) {
	packed, err := pack(stamp.XML)
	if err != nil {
		return Carta{}, err
	}
	digest := sha256.Sum256(stamp.XML)
	c.Status, c.UpdatedAt = db.EstadoCartaTimbrada, s.moment()
	c.Timbrado = &db.Timbrado{
		UUIDFiscal: stamp.UUID, FechaTimbrado: stamp.FechaTimbrado, RfcProvCertif: stamp.RfcProvCertif, NoCertificadoSAT: stamp.NoCertificadoSAT,
		Prueba: stamp.Prueba, Sha256: hex.EncodeToString(digest[:]), Bytes: int64(len(stamp.XML)),
	}
	response := cartaOf(&c)
	return response, s.inTurn(ctx, c.UserID, func() error {
		r := r.withResponse(response)
		done, err := s.db.TimbrarCarta(ctx, db.TimbrarCartaInput{
			RequestKey: r.RequestKey, Operacion: r.Operacion, Huella: r.Huella, Respuesta: r.Respuesta,
			UserID: c.UserID, CartaID: c.CartaID, ViajeID: c.ViajeID, Visto: c.Revision, Timbrado: c.Timbrado,
			Fiscal: fiscalOf(&c, c.Status), Lines: pieces(packed),
		})
		return overtaken(done.Replayed, err)
	})
}

var errCartaEnorme = problem.Conflict("carta_enorme", "the compressed document is larger than 3 MB: split it into two cartas")

// storable rejects a document that would not fit into the transaction that stores its stamp, because it must not be stamped at
// all.
func storable(d *cartaporte.Documento) error {
	document, err := d.Comprobante().XML()
	if err != nil {
		return err
	}
	packed, err := pack(document)
	if err != nil {
		return err
	}
	if len(packed) > maxPieces*pieceBytes-stampBytes {
		return errCartaEnorme
	}
	return nil
}

func pack(document []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(document); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// pieces splits a compressed document into items.
func pieces(packed []byte) []db.TimbrarCartaLine {
	var lines []db.TimbrarCartaLine
	for piece := range slices.Chunk(packed, pieceBytes) {
		lines = append(lines, db.TimbrarCartaLine{Parte: int64(len(lines)), Contenido: piece})
	}
	return lines
}

// xml returns a stamped carta's document, and its state, which may have changed since.
func (s *service) xml(ctx context.Context, userID, id string) (db.EstadoCarta, []byte, error) {
	c, err := s.carta(ctx, userID, id)
	if err != nil {
		return "", nil, err
	}
	if c.Timbrado == nil {
		return "", nil, db.ErrCartaNoTimbrada
	}
	var packed bytes.Buffer
	for piece, err := range s.db.XMLDeCartaAll(ctx, db.XMLDeCartaInput{UserID: userID, CartaID: id}) {
		if err != nil {
			return "", nil, err
		}
		packed.Write(piece.Contenido)
	}
	r, err := gzip.NewReader(&packed)
	if err != nil {
		return "", nil, fmt.Errorf("carta %s: unpack the document: %w", id, err)
	}
	document, err := io.ReadAll(io.LimitReader(r, c.Timbrado.Bytes+1))
	return c.Status, document, err
}
