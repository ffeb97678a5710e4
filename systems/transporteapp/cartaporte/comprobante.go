package cartaporte

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// The namespaces and schemas of the elements.
const (
	spaceCFDI  = "http://www.sat.gob.mx/cfd/4"
	spaceCarta = "http://www.sat.gob.mx/CartaPorte31"
	spaceTFD   = "http://www.sat.gob.mx/TimbreFiscalDigital"
	spaceXSI   = "http://www.w3.org/2001/XMLSchema-instance"

	schemas = spaceCFDI + " http://www.sat.gob.mx/sitio_internet/cfd/4/cfdv40.xsd " +
		spaceCarta + " http://www.sat.gob.mx/sitio_internet/cfd/CartaPorte/CartaPorte31.xsd"
	schemaTFD = spaceTFD + " http://www.sat.gob.mx/sitio_internet/cfd/TimbreFiscalDigital/TimbreFiscalDigitalv11.xsd"
)

// Values common to all transfers.
const (
	versionCFDI   = "4.0"
	versionCarta  = "3.1"
	versionTFD    = "1.1"
	noCurrency    = "XXX"
	nothing       = "0"
	transfer      = "T"
	notExported   = "01"
	notTaxed      = "01"
	kilograms     = "KGM"
	mexico        = "MEX"
	notInternatio = "No"
	replaces      = "04" // of c_TipoRelacion
)

// Comprobante is the CFDI as XML. Its fields have the order of the schemas; "" omits an optional attribute.
type Comprobante struct {
	XMLName           xml.Name         `xml:"cfdi:Comprobante"`
	SpaceCFDI         string           `xml:"xmlns:cfdi,attr"`
	SpaceCarta        string           `xml:"xmlns:cartaporte31,attr"`
	SpaceXSI          string           `xml:"xmlns:xsi,attr"`
	SchemaLocation    string           `xml:"xsi:schemaLocation,attr"`
	Version           string           `xml:"Version,attr"`
	Serie             string           `xml:"Serie,attr,omitempty"`
	Folio             string           `xml:"Folio,attr"`
	Fecha             string           `xml:"Fecha,attr"`
	Sello             string           `xml:"Sello,attr"`
	NoCertificado     string           `xml:"NoCertificado,attr"`
	Certificado       string           `xml:"Certificado,attr"`
	SubTotal          string           `xml:"SubTotal,attr"`
	Moneda            string           `xml:"Moneda,attr"`
	Total             string           `xml:"Total,attr"`
	TipoDeComprobante string           `xml:"TipoDeComprobante,attr"`
	Exportacion       string           `xml:"Exportacion,attr"`
	LugarExpedicion   string           `xml:"LugarExpedicion,attr"`
	Relacionados      *xmlRelacionados `xml:"cfdi:CfdiRelacionados"`
	Emisor            xmlEmisor        `xml:"cfdi:Emisor"`
	Receptor          xmlReceptor      `xml:"cfdi:Receptor"`
	Conceptos         struct {
		Concepto []xmlConcepto `xml:"cfdi:Concepto"`
	} `xml:"cfdi:Conceptos"`
	Complemento struct {
		CartaPorte xmlCartaPorte `xml:"cartaporte31:CartaPorte"`
		Timbre     *xmlTimbre    `xml:"tfd:TimbreFiscalDigital"`
	} `xml:"cfdi:Complemento"`
}

type xmlRelacionados struct {
	TipoRelacion string `xml:"TipoRelacion,attr"`
	Relacionado  []struct {
		UUID string `xml:"UUID,attr"`
	} `xml:"cfdi:CfdiRelacionado"`
}

type xmlEmisor struct {
	RFC           string `xml:"Rfc,attr"`
	Nombre        string `xml:"Nombre,attr"`
	RegimenFiscal string `xml:"RegimenFiscal,attr"`
}

type xmlReceptor struct {
	RFC             string `xml:"Rfc,attr"`
	Nombre          string `xml:"Nombre,attr"`
	DomicilioFiscal string `xml:"DomicilioFiscalReceptor,attr"`
	RegimenFiscal   string `xml:"RegimenFiscalReceptor,attr"`
	UsoCFDI         string `xml:"UsoCFDI,attr"`
}

type xmlConcepto struct {
	ClaveProdServ string `xml:"ClaveProdServ,attr"`
	Cantidad      string `xml:"Cantidad,attr"`
	ClaveUnidad   string `xml:"ClaveUnidad,attr"`
	Descripcion   string `xml:"Descripcion,attr"`
	ValorUnitario string `xml:"ValorUnitario,attr"`
	Importe       string `xml:"Importe,attr"`
	ObjetoImp     string `xml:"ObjetoImp,attr"`
}

type xmlCartaPorte struct {
	Version        string `xml:"Version,attr"`
	IDCCP          string `xml:"IdCCP,attr"`
	TranspInternac string `xml:"TranspInternac,attr"`
	TotalDistRec   string `xml:"TotalDistRec,attr"`
	Ubicaciones    struct {
		Ubicacion []xmlUbicacion `xml:"cartaporte31:Ubicacion"`
	} `xml:"cartaporte31:Ubicaciones"`
	Mercancias      xmlMercancias `xml:"cartaporte31:Mercancias"`
	FiguraTransport struct {
		TiposFigura []xmlFigura `xml:"cartaporte31:TiposFigura"`
	} `xml:"cartaporte31:FiguraTransporte"`
}

type xmlUbicacion struct {
	Tipo      string        `xml:"TipoUbicacion,attr"`
	ID        string        `xml:"IDUbicacion,attr"`
	RFC       string        `xml:"RFCRemitenteDestinatario,attr"`
	Nombre    string        `xml:"NombreRemitenteDestinatario,attr,omitempty"`
	FechaHora string        `xml:"FechaHoraSalidaLlegada,attr"`
	Distancia string        `xml:"DistanciaRecorrida,attr,omitempty"`
	Domicilio *xmlDomicilio `xml:"cartaporte31:Domicilio"`
}

type xmlDomicilio struct {
	Calle          string `xml:"Calle,attr,omitempty"`
	NumeroExterior string `xml:"NumeroExterior,attr,omitempty"`
	NumeroInterior string `xml:"NumeroInterior,attr,omitempty"`
	Colonia        string `xml:"Colonia,attr,omitempty"`
	Localidad      string `xml:"Localidad,attr,omitempty"`
	Referencia     string `xml:"Referencia,attr,omitempty"`
	Municipio      string `xml:"Municipio,attr,omitempty"`
	Estado         string `xml:"Estado,attr"`
	Pais           string `xml:"Pais,attr"`
	CodigoPostal   string `xml:"CodigoPostal,attr"`
}

type xmlMercancias struct {
	PesoBrutoTotal     string            `xml:"PesoBrutoTotal,attr"`
	UnidadPeso         string            `xml:"UnidadPeso,attr"`
	NumTotalMercancias string            `xml:"NumTotalMercancias,attr"`
	Mercancia          []xmlMercancia    `xml:"cartaporte31:Mercancia"`
	Autotransporte     xmlAutotransporte `xml:"cartaporte31:Autotransporte"`
}

type xmlMercancia struct {
	BienesTransp   string `xml:"BienesTransp,attr"`
	Descripcion    string `xml:"Descripcion,attr"`
	Cantidad       string `xml:"Cantidad,attr"`
	ClaveUnidad    string `xml:"ClaveUnidad,attr"`
	PesoEnKg       string `xml:"PesoEnKg,attr"`
	ValorMercancia string `xml:"ValorMercancia,attr,omitempty"`
	Moneda         string `xml:"Moneda,attr,omitempty"`
}

type xmlAutotransporte struct {
	PermSCT        string `xml:"PermSCT,attr"`
	NumPermisoSCT  string `xml:"NumPermisoSCT,attr"`
	Identificacion struct {
		ConfigVehicular    string `xml:"ConfigVehicular,attr"`
		PesoBrutoVehicular string `xml:"PesoBrutoVehicular,attr"`
		PlacaVM            string `xml:"PlacaVM,attr"`
		AnioModeloVM       string `xml:"AnioModeloVM,attr"`
	} `xml:"cartaporte31:IdentificacionVehicular"`
	Seguros struct {
		AseguraRespCivil string `xml:"AseguraRespCivil,attr"`
		PolizaRespCivil  string `xml:"PolizaRespCivil,attr"`
	} `xml:"cartaporte31:Seguros"`
	Remolques *xmlRemolques `xml:"cartaporte31:Remolques"`
}

type xmlRemolques struct {
	Remolque []xmlRemolque `xml:"cartaporte31:Remolque"`
}

type xmlRemolque struct {
	SubTipoRem string `xml:"SubTipoRem,attr"`
	Placa      string `xml:"Placa,attr"`
}

type xmlFigura struct {
	Tipo        string `xml:"TipoFigura,attr"`
	RFC         string `xml:"RFCFigura,attr,omitempty"`
	NumLicencia string `xml:"NumLicencia,attr,omitempty"`
	Nombre      string `xml:"NombreFigura,attr"`
}

type xmlTimbre struct {
	SpaceTFD         string `xml:"xmlns:tfd,attr"`
	SchemaLocation   string `xml:"xsi:schemaLocation,attr"`
	Version          string `xml:"Version,attr"`
	UUID             string `xml:"UUID,attr"`
	FechaTimbrado    string `xml:"FechaTimbrado,attr"`
	RfcProvCertif    string `xml:"RfcProvCertif,attr"`
	Leyenda          string `xml:"Leyenda,attr,omitempty"`
	SelloCFD         string `xml:"SelloCFD,attr"`
	NoCertificadoSAT string `xml:"NoCertificadoSAT,attr"`
	SelloSAT         string `xml:"SelloSAT,attr"`
}

// Comprobante returns the document without seal and stamp. A transfer has no value: each line of goods is a Concepto with the
// amount 0.
func (d *Documento) Comprobante() *Comprobante {
	serie, folio, found := strings.Cut(d.Folio, "-")
	if !found {
		serie, folio = "", d.Folio
	}
	c := &Comprobante{
		SpaceCFDI: spaceCFDI, SpaceCarta: spaceCarta, SpaceXSI: spaceXSI, SchemaLocation: schemas,
		Version: versionCFDI, Serie: serie, Folio: folio, Fecha: d.Fecha, SubTotal: nothing, Moneda: noCurrency, Total: nothing,
		TipoDeComprobante: transfer, Exportacion: notExported, LugarExpedicion: d.Emisor.Domicilio.CodigoPostal,
		Emisor: xmlEmisor{RFC: d.Emisor.RFC, Nombre: d.Emisor.Nombre, RegimenFiscal: d.Emisor.RegimenFiscal},
		Receptor: xmlReceptor{
			RFC: d.Receptor.RFC, Nombre: d.Receptor.Nombre, DomicilioFiscal: d.Receptor.Domicilio.CodigoPostal,
			RegimenFiscal: d.Receptor.RegimenFiscal, UsoCFDI: d.Receptor.UsoCFDI,
		},
	}
	if d.Sustituye != "" {
		c.Relacionados = &xmlRelacionados{TipoRelacion: replaces, Relacionado: []struct {
			UUID string `xml:"UUID,attr"`
		}{{d.Sustituye}}}
	}
	for i := range d.Mercancias {
		m := &d.Mercancias[i]
		c.Conceptos.Concepto = append(c.Conceptos.Concepto, xmlConcepto{
			ClaveProdServ: m.ClaveProdServ, Cantidad: m.Cantidad.String(), ClaveUnidad: m.ClaveUnidad, Descripcion: m.Descripcion,
			ValorUnitario: nothing, Importe: nothing, ObjetoImp: notTaxed,
		})
	}
	c.Complemento.CartaPorte = d.carta()
	return c
}

func (d *Documento) carta() xmlCartaPorte {
	x := xmlCartaPorte{Version: versionCarta, IDCCP: d.IDCCP, TranspInternac: notInternatio, TotalDistRec: d.TotalDistancia.String()}
	for i := range d.Ubicaciones {
		u := &d.Ubicaciones[i]
		place := xmlUbicacion{Tipo: u.Tipo, ID: u.ID, RFC: u.RFC, Nombre: u.Nombre, FechaHora: u.FechaHora, Domicilio: addressOf(u.Domicilio)}
		if u.Distancia != nil {
			place.Distancia = u.Distancia.String()
		}
		x.Ubicaciones.Ubicacion = append(x.Ubicaciones.Ubicacion, place)
	}
	x.Mercancias = d.goods()
	for _, f := range d.Figuras {
		x.FiguraTransport.TiposFigura = append(x.FiguraTransport.TiposFigura, xmlFigura{
			Tipo: f.Tipo, RFC: f.RFC, NumLicencia: f.NumLicencia, Nombre: f.Nombre,
		})
	}
	return x
}

func (d *Documento) goods() xmlMercancias {
	x := xmlMercancias{
		PesoBrutoTotal: d.PesoBrutoTotal.String(), UnidadPeso: kilograms, NumTotalMercancias: strconv.Itoa(len(d.Mercancias)),
	}
	for i := range d.Mercancias {
		m := &d.Mercancias[i]
		good := xmlMercancia{
			BienesTransp: m.ClaveProdServ, Descripcion: m.Descripcion, Cantidad: m.Cantidad.String(), ClaveUnidad: m.ClaveUnidad,
			PesoEnKg: m.PesoKg.String(),
		}
		if m.Valor != nil {
			good.ValorMercancia, good.Moneda = m.Valor.String(), m.Moneda
		}
		x.Mercancia = append(x.Mercancia, good)
	}
	if a := d.Autotransporte; a != nil {
		x.Autotransporte = a.xml()
	}
	return x
}

func (a *Autotransporte) xml() xmlAutotransporte {
	x := xmlAutotransporte{PermSCT: a.PermSCT, NumPermisoSCT: a.NumPermisoSCT}
	x.Identificacion.ConfigVehicular, x.Identificacion.PesoBrutoVehicular = a.ConfigVehicular, a.PesoBrutoVehicular.String()
	x.Identificacion.PlacaVM, x.Identificacion.AnioModeloVM = Placa(a.PlacaVM), strconv.FormatInt(a.AnioModeloVM, 10)
	x.Seguros.AseguraRespCivil, x.Seguros.PolizaRespCivil = a.AseguraRespCivil, a.PolizaRespCivil
	if a.PlacaRemolque != "" {
		x.Remolques = &xmlRemolques{[]xmlRemolque{{SubTipoRem: a.SubTipoRemolque, Placa: Placa(a.PlacaRemolque)}}}
	}
	return x
}

func addressOf(d Domicilio) *xmlDomicilio {
	x := xmlDomicilio(d)
	if x.Pais == "" {
		x.Pais = mexico
	}
	return &x
}

// XML encodes the document.
func (c *Comprobante) XML() ([]byte, error) {
	body, err := xml.Marshal(c)
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), body...), nil
}
