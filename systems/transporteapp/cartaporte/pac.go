package cartaporte

import (
	"context"
	"errors"
	"time"
)

// PAC seals, stamps and cancels documents.
type PAC interface {
	// Timbrar seals and stamps. A Solicitud with a Referencia that was stamped is answered with that stamp, so that whoever has
	// lost the answer asks again and does not pay twice.
	Timbrar(context.Context, Solicitud) (Timbre, error)
	// Cancelar cancels a stamped document; one that is cancelled stays so.
	Cancelar(context.Context, Cancelacion) error
}

// Solicitud asks for a stamp.
type Solicitud struct {
	// Referencia is the caller's own name of the document.
	Referencia  string
	Comprobante *Comprobante
}

// Timbre is a stamped document.
type Timbre struct {
	UUID             string
	FechaTimbrado    time.Time
	RfcProvCertif    string
	NoCertificadoSAT string
	// Prueba says that the stamp is worth nothing.
	Prueba bool
	XML    []byte
}

// Cancelacion asks for the end of a document.
type Cancelacion struct {
	UUID, RFCEmisor string
	// Motivo is a key of MotivoCancelacion; 01 names the UUID of the document that replaces it.
	Motivo, Sustituye string
}

// ErrRechazado is for a document that the PAC does not stamp, or cancel, as it is. All other errors of a PAC may go by
// themselves.
var ErrRechazado = errors.New("the PAC refuses the document")
