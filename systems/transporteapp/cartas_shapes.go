package transporteapp

import (
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Request and response types of cartas.

// Emisor issues a carta.
type Emisor struct {
	Rfc             string    `json:"rfc"`
	Nombre          string    `json:"nombre"`
	RegimenFiscal   string    `json:"regimenFiscal"`
	DomicilioFiscal Domicilio `json:"domicilioFiscal"`
}

// Receptor receives a carta.
type Receptor struct {
	Rfc             string    `json:"rfc" maxLength:"13"`
	Nombre          string    `json:"nombre" minLength:"1" maxLength:"254"`
	RegimenFiscal   string    `json:"regimenFiscal" maxLength:"3" doc:"Key of c_RegimenFiscal"`
	UsoCfdi         string    `json:"usoCfdi" maxLength:"4" doc:"Key of c_UsoCFDI, as S01"`
	DomicilioFiscal Domicilio `json:"domicilioFiscal"`
}

// NuevaCarta is a new carta; its issuer comes from the profile.
type NuevaCarta struct {
	Receptor Receptor `json:"receptor"`
}

// CartaDeViaje is a new carta of a trip, which may replace the trip's stamped one.
type CartaDeViaje struct {
	NuevaCarta
	Sustituye string `json:"sustituye,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The trip's stamped carta that this one replaces: stamp this one, then cancel that one with motivo 01 and the UUID of this one"`
}

// Sustitucion is the stamped carta that another one replaces.
type Sustitucion struct {
	CartaID    string `json:"cartaId"`
	Folio      string `json:"folio"`
	UUIDFiscal string `json:"uuidFiscal"`
}

// Totales are a carta's totals, updated whenever its contents change.
type Totales struct {
	DistanciaTotal        Decimal `json:"distanciaTotal" doc:"km"`
	PesoBrutoTotal        Decimal `json:"pesoBrutoTotal" doc:"kg"`
	NumeroTotalMercancias int64   `json:"numeroTotalMercancias"`
}

// Timbrado is a carta's stamp.
type Timbrado struct {
	UUIDFiscal       string    `json:"uuidFiscal"`
	FechaTimbrado    time.Time `json:"fechaTimbrado"`
	RfcProvCertif    string    `json:"rfcProvCertif"`
	NoCertificadoSAT string    `json:"noCertificadoSAT"`
	IDCcp            string    `json:"idCcp" from:"-"`
	Prueba           bool      `json:"prueba" doc:"Whether it is a test without fiscal validity"`
	Leyenda          string    `json:"leyenda,omitempty" from:"-" doc:"The notice on tests"`
	Sha256           string    `json:"sha256" doc:"Of the XML, in hexadecimal digits"`
	Bytes            int64     `json:"bytes" doc:"Of the XML"`
}

// Carta is the header of a Carta Porte.
type Carta struct {
	CartaID                 string         `json:"cartaId" doc:"A ULID"`
	ViajeID                 string         `json:"viajeId"`
	Folio                   string         `json:"folio" doc:"Such as CP-000015; a company's have no gaps"`
	VersionCartaPorte       string         `json:"versionCartaPorte"`
	Status                  db.EstadoCarta `json:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
	Sellada                 bool           `json:"sellada" doc:"Closed: its contents no longer change"`
	TransporteInternacional bool           `json:"transporteInternacional"`
	Emisor                  Emisor         `json:"emisor"`
	Receptor                Receptor       `json:"receptor"`
	NumUbicaciones          int64          `json:"numUbicaciones"`
	NumFiguras              int64          `json:"numFiguras"`
	Totales                 Totales        `json:"totales" from:"-"`
	Timbrado                *Timbrado      `json:"timbrado,omitempty"`
	Sustituye               *Sustitucion   `json:"sustituye,omitempty" doc:"The carta that this one replaces"`
	CreatedAt               time.Time      `json:"createdAt"`
	UpdatedAt               time.Time      `json:"updatedAt"`
	Revision                int64          `json:"-"`
}

// Version is a carta's revision, because two changes may have the same time.
func (c Carta) Version() time.Time { return versionOf(c.Revision) }

// versionOf returns a revision in the form of a version, which is never the one of no item.
func versionOf(revision int64) time.Time { return time.UnixMilli(revision + 1).UTC() }

// CartaResumen is a carta in a list.
type CartaResumen struct {
	CartaID   string         `json:"cartaId"`
	ViajeID   string         `json:"viajeId"`
	Folio     string         `json:"folio"`
	Status    db.EstadoCarta `json:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// Autotransporte is the vehicle declared in a carta.
type Autotransporte struct {
	PermSct            string  `json:"permSct" maxLength:"6" doc:"Key of c_TipoPermiso"`
	NumPermisoSct      string  `json:"numPermisoSct" minLength:"1" maxLength:"50"`
	ConfigVehicular    string  `json:"configVehicular" maxLength:"10" doc:"Key of c_ConfigAutotransporte"`
	PlacaVM            string  `json:"placaVm" minLength:"5" maxLength:"10"`
	AnioModeloVM       int64   `json:"anioModeloVm" minimum:"1900" maximum:"2099"`
	PesoBrutoVehicular Decimal `json:"pesoBrutoVehicular" minimum:"0.01" maximum:"999" doc:"Tons"`
	AseguraRespCivil   string  `json:"aseguraRespCivil" minLength:"3" maxLength:"50"`
	PolizaRespCivil    string  `json:"polizaRespCivil" minLength:"3" maxLength:"30"`
	SubTipoRem         string  `json:"subTipoRem,omitempty" maxLength:"6" doc:"Key of c_SubTipoRem, if there is a trailer"`
	PlacaRemolque      string  `json:"placaRemolque,omitempty" maxLength:"10"`
	Revision           int64   `json:"-" from:"-"`
}

// Version is the revision of the carta that declares the vehicle.
func (a Autotransporte) Version() time.Time { return versionOf(a.Revision) }

// Ubicacion is a place in a carta.
type Ubicacion struct {
	Tipo                        db.TipoUbicacion `json:"tipo" enum:"Origen,Destino"`
	Orden                       int64            `json:"orden,omitempty" readOnly:"true" doc:"Its position in the list, from 1"`
	IDUbicacion                 string           `json:"idUbicacion" pattern:"^(OR|DE)[0-9]{6}$" patternDescription:"OR or DE and six digits"`
	RfcRemitenteDestinatario    string           `json:"rfcRemitenteDestinatario" maxLength:"13"`
	NombreRemitenteDestinatario string           `json:"nombreRemitenteDestinatario,omitempty" maxLength:"254"`
	FechaHoraSalidaLlegada      string           `json:"fechaHoraSalidaLlegada" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$" patternDescription:"a local time" doc:"Local, 2024-01-15T08:00:00"`
	DistanciaRecorrida          *Decimal         `json:"distanciaRecorrida,omitempty" minimum:"0.01" maximum:"99999" doc:"km, of a Destino"`
	Domicilio                   Domicilio        `json:"domicilio"`
}

// Mercancia is a line of goods in a carta.
type Mercancia struct {
	Orden          int64    `json:"orden,omitempty" readOnly:"true" doc:"Its position in the list, from 1"`
	ClaveProdServ  string   `json:"claveProdServ" pattern:"^[0-9]{8}$" patternDescription:"eight digits" doc:"Key of c_ClaveProdServCP"`
	ClaveUnidad    string   `json:"claveUnidad" minLength:"1" maxLength:"3" doc:"Key of c_ClaveUnidad"`
	Descripcion    string   `json:"descripcion" minLength:"1" maxLength:"1000"`
	Cantidad       Decimal  `json:"cantidad" exclusiveMinimum:"0" maximum:"999999999"`
	PesoKg         Decimal  `json:"pesoKg" exclusiveMinimum:"0" maximum:"999999999"`
	ValorMercancia *Decimal `json:"valorMercancia,omitempty" minimum:"0" maximum:"999999999999"`
	Moneda         string   `json:"moneda,omitempty" enum:"MXN,USD" doc:"Of valorMercancia; the default is MXN"`
}

// currency is the currency of a good's value.
func (m *Mercancia) currency() string {
	switch {
	case m.ValorMercancia == nil:
		return ""
	case m.Moneda == "":
		return "MXN"
	default:
		return m.Moneda
	}
}

func (m *Mercancia) declared() *cartaporte.Mercancia {
	var valor *table.Decimal
	if m.ValorMercancia != nil {
		valor = &m.ValorMercancia.Decimal
	}
	return &cartaporte.Mercancia{
		ClaveProdServ: m.ClaveProdServ, ClaveUnidad: m.ClaveUnidad, Descripcion: m.Descripcion, Cantidad: m.Cantidad.Decimal,
		PesoKg: m.PesoKg.Decimal, Valor: valor, Moneda: m.currency(),
	}
}

// Figura is a person involved in the transport.
type Figura struct {
	Orden        int64  `json:"orden,omitempty" readOnly:"true" doc:"Its position in the list, from 1"`
	TipoFigura   string `json:"tipoFigura" maxLength:"2" doc:"Key of c_FiguraTransporte: 01 is the driver"`
	RfcFigura    string `json:"rfcFigura" maxLength:"13"`
	NombreFigura string `json:"nombreFigura" minLength:"1" maxLength:"254"`
	NumLicencia  string `json:"numLicencia,omitempty" maxLength:"16"`
}

// Contenido is a page of a carta's contents.
type Contenido struct {
	Autotransporte *Autotransporte `json:"autotransporte,omitempty" from:"-"`
	Figuras        []Figura        `json:"figuras" from:"Figura" nullable:"false"`
	Mercancias     []Mercancia     `json:"mercancias" from:"Mercancia" nullable:"false"`
	Ubicaciones    []Ubicacion     `json:"ubicaciones" from:"Ubicacion" nullable:"false"`
	Next           string          `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
}

// Agregado is the number of goods in a carta.
type Agregado struct {
	NumeroTotalMercancias int64   `json:"numeroTotalMercancias" doc:"The number at that time"`
	PesoBrutoTotal        Decimal `json:"pesoBrutoTotal" doc:"kg"`
}

// Cancelacion is the reason for a cancellation.
type Cancelacion struct {
	Motivo    string `json:"motivo,omitempty" enum:"01,02,03,04" doc:"Of a stamped carta: the SAT's reason"`
	Sustituye string `json:"sustituye,omitempty" format:"uuid" doc:"With 01: the UUID of the replacing carta"`
}

// Ubicaciones are places, as a request body and its response.
type Ubicaciones struct {
	Ubicaciones []Ubicacion `json:"ubicaciones" nullable:"false" minItems:"1" maxItems:"50"`
	Revision    int64       `json:"-" from:"-"`
}

// Version is the revision of the carta that declares the places.
func (u Ubicaciones) Version() time.Time { return versionOf(u.Revision) }

// Figuras are people, as a request body and its response.
type Figuras struct {
	Figuras  []Figura `json:"figuras" nullable:"false" minItems:"1" maxItems:"20"`
	Revision int64    `json:"-" from:"-"`
}

// Version is the revision of the carta that declares the people.
func (f Figuras) Version() time.Time { return versionOf(f.Revision) }

// Mercancias is a request body with goods.
type Mercancias struct {
	Mercancias []Mercancia `json:"mercancias" nullable:"false" minItems:"1" maxItems:"1000"`
}
