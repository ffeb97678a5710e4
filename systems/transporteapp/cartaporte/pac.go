package cartaporte

import (
	"context"
	"errors"
	"time"
)

// PAC seals, stamps and cancels documents.
type PAC interface {
	// Timbrar seals and stamps. If a Referencia has been stamped before, it returns that stamp, so that a caller who has lost the
	// response can repeat the request without paying twice.
	Timbrar(context.Context, Solicitud) (Timbre, error)
	// Cancelar cancels a stamped document. It is idempotent.
	Cancelar(context.Context, Cancelacion) error
}

// Solicitud requests a stamp.
type Solicitud struct {
	// Referencia is the caller's name for the document.
	Referencia  string
	Comprobante *Comprobante
}

// Timbre is a stamped document.
type Timbre struct {
	UUID             string
	FechaTimbrado    time.Time
	RfcProvCertif    string
	NoCertificadoSAT string
	// Prueba means that the stamp has no legal value.
	Prueba bool
	XML    []byte
}

// Cancelacion requests the cancellation of a document.
type Cancelacion struct {
	UUID, RFCEmisor string
	// Motivo is a key of MotivoCancelacion. For 01, Sustituye is the UUID of the replacement.
	Motivo, Sustituye string
}

// ErrRechazado means that the PAC does not stamp or cancel the document as it is. All other errors of a PAC may be temporary.
var ErrRechazado = errors.New("the PAC rejected the document")
