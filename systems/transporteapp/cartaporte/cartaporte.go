// Package cartaporte creates fiscal documents for freight: the Mexican CFDI 4.0 with its complement Carta Porte 3.1.
//
// # Model
//
//	Documento ──Validar──▶ []Falta      what the tax office would reject
//	    │ Comprobante
//	    ▼
//	Comprobante ──PAC──▶ Timbre          the XML with seal and stamp
//
// A Documento is a company's declaration in the terms of the complement. Comprobante renders it with the elements and attributes
// of the published schemas, in their order. A PAC (an authorised certification provider) seals and stamps it. Local is a PAC for
// development: it signs with a certificate that it creates itself, and every document says that it is a test.
//
// Validar checks the format and check digits of RFC and CURP, the states' ranges of postal codes, and the catalogues in
// catalogos/, whose files name their sources. It does not ask the tax office whether a taxpayer exists, and knows only the
// segments of the 52,000 product keys: the PAC checks the rest.
//
// Only transfers by road within Mexico are supported: TipoDeComprobante T, TranspInternac No.
//
// The package is safe for concurrent use.
package cartaporte

import (
	"github.com/monotable/monotable/design/table"
)

// Domicilio is an address with catalogue keys; "" means absent.
type Domicilio struct {
	Calle, NumeroExterior, NumeroInterior, Colonia, Localidad, Referencia, Municipio string

	Estado, Pais, CodigoPostal string
}

// Contribuyente is a taxpayer.
type Contribuyente struct {
	RFC, Nombre, RegimenFiscal string
	// UsoCFDI applies to the receiver.
	UsoCFDI   string
	Domicilio Domicilio
}

// Ubicacion is a place of loading or unloading.
type Ubicacion struct {
	// Tipo is Origen or Destino.
	Tipo, ID, RFC, Nombre string
	// FechaHora is a local time: 2024-01-15T08:00:00.
	FechaHora string
	// Distancia is the distance driven to a Destino, in km.
	Distancia *table.Decimal
	Domicilio Domicilio
}

// Mercancia is a line of goods.
type Mercancia struct {
	ClaveProdServ, ClaveUnidad, Descripcion string

	Cantidad, PesoKg table.Decimal
	Valor            *table.Decimal
	Moneda           string
}

// Figura is a person involved in the transport; the driver has TipoFigura 01.
type Figura struct{ Tipo, RFC, Nombre, NumLicencia string }

// Autotransporte is the vehicle with its permit and insurance.
type Autotransporte struct {
	PermSCT, NumPermisoSCT            string
	ConfigVehicular, PlacaVM          string
	AnioModeloVM                      int64
	PesoBrutoVehicular                table.Decimal // tons
	AseguraRespCivil, PolizaRespCivil string
	SubTipoRemolque, PlacaRemolque    string
}

// Documento is the declaration.
type Documento struct {
	// Folio includes its series: CP-000015.
	Folio string
	// Fecha is the local time of issue: 2024-01-15T08:00:00.
	Fecha string
	IDCCP string
	// Sustituye is the UUID of the stamped document that this one replaces, or "".
	Sustituye        string
	Emisor, Receptor Contribuyente
	TotalDistancia   table.Decimal
	PesoBrutoTotal   table.Decimal
	Ubicaciones      []Ubicacion
	Mercancias       []Mercancia
	Autotransporte   *Autotransporte
	Figuras          []Figura
}
