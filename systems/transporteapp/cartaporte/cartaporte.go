// Package cartaporte makes fiscal documents of freight: the Mexican CFDI 4.0 with its complement Carta Porte 3.1.
//
// # Model
//
//	Documento ──Validar──▶ []Falta      what the tax office would refuse
//	    │ Comprobante
//	    ▼
//	Comprobante ──PAC──▶ Timbre          the XML with seal and stamp
//
// A Documento is what a company declares, in the words of the complement. Comprobante gives it the elements and attributes
// of the published schemas, in their order. A PAC (an authorised certification provider) seals and stamps it. Local is a PAC
// for development: it signs with a certificate that it makes itself, and says in every document that it is a test.
//
// Validar knows structure and check digits of RFC and CURP, the ranges of postal codes of the states, and the catalogues
// under catalogos/, whose files name their sources. It does not ask the tax office whether a taxpayer exists, and knows the
// segments of the 52,000 keys of products, not each of them: those are the PAC's to refuse.
//
// Only transfers by road within Mexico are made: TipoDeComprobante T, TranspInternac No.
//
// All of the package may be used from any number of goroutines.
package cartaporte

import (
	"github.com/monotable/monotable/design/table"
)

// Domicilio is an address with the catalogues' keys; "" is absent.
type Domicilio struct {
	Calle, NumeroExterior, NumeroInterior, Colonia, Localidad, Referencia, Municipio string

	Estado, Pais, CodigoPostal string
}

// Contribuyente is a taxpayer.
type Contribuyente struct {
	RFC, Nombre, RegimenFiscal string
	// UsoCFDI is the receiver's.
	UsoCFDI   string
	Domicilio Domicilio
}

// Ubicacion is where goods are loaded or unloaded.
type Ubicacion struct {
	// Tipo is Origen or Destino.
	Tipo, ID, RFC, Nombre string
	// FechaHora is local, 2024-01-15T08:00:00.
	FechaHora string
	// Distancia is what is driven to a Destino, in km.
	Distancia *table.Decimal
	Domicilio Domicilio
}

// Mercancia is a good.
type Mercancia struct {
	ClaveProdServ, ClaveUnidad, Descripcion string

	Cantidad, PesoKg table.Decimal
	Valor            *table.Decimal
	Moneda           string
}

// Figura is a person of the transport: the driver is TipoFigura 01.
type Figura struct{ Tipo, RFC, Nombre, NumLicencia string }

// Autotransporte is the vehicle with its permit and its insurance.
type Autotransporte struct {
	PermSCT, NumPermisoSCT            string
	ConfigVehicular, PlacaVM          string
	AnioModeloVM                      int64
	PesoBrutoVehicular                table.Decimal // tons
	AseguraRespCivil, PolizaRespCivil string
	SubTipoRemolque, PlacaRemolque    string
}

// Documento is what is declared.
type Documento struct {
	// Folio has its series in front: CP-000015.
	Folio string
	// Fecha is when it is issued, local, 2024-01-15T08:00:00.
	Fecha            string
	IDCCP            string
	Emisor, Receptor Contribuyente
	TotalDistancia   table.Decimal
	PesoBrutoTotal   table.Decimal
	Ubicaciones      []Ubicacion
	Mercancias       []Mercancia
	Autotransporte   *Autotransporte
	Figuras          []Figura
}
