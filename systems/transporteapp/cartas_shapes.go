package transporteapp

import (
	"time"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

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

func (r Receptor) stored() db.Receptor {
	return db.Receptor{
		Rfc: r.Rfc, Nombre: r.Nombre, RegimenFiscal: r.RegimenFiscal, UsoCfdi: r.UsoCfdi, DomicilioFiscal: r.DomicilioFiscal.stored(),
	}
}

// NuevaCarta is what is said of a carta when it is made; who issues it stands in the profile.
type NuevaCarta struct {
	Receptor Receptor `json:"receptor"`
}

// Totales are counted as a carta is filled.
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
	IDCcp            string    `json:"idCcp"`
	Prueba           bool      `json:"prueba" doc:"Whether it is a test without fiscal validity"`
	Leyenda          string    `json:"leyenda,omitempty" doc:"What a test says of itself"`
	Sha256           string    `json:"sha256" doc:"Of the XML, in hexadecimal digits"`
	Bytes            int64     `json:"bytes" doc:"Of the XML"`
}

// Carta is the head of a Carta Porte.
type Carta struct {
	CartaID                 string         `json:"cartaId" doc:"A ULID"`
	ViajeID                 string         `json:"viajeId"`
	Folio                   string         `json:"folio" doc:"As CP-000015; a company's have no gaps"`
	VersionCartaPorte       string         `json:"versionCartaPorte"`
	Status                  db.EstadoCarta `json:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
	Sellada                 bool           `json:"sellada" doc:"Complete: what it lists does not change"`
	TransporteInternacional bool           `json:"transporteInternacional"`
	Emisor                  Emisor         `json:"emisor"`
	Receptor                Receptor       `json:"receptor"`
	NumUbicaciones          int64          `json:"numUbicaciones"`
	NumFiguras              int64          `json:"numFiguras"`
	Totales                 Totales        `json:"totales"`
	Timbrado                *Timbrado      `json:"timbrado,omitempty"`
	CreatedAt               time.Time      `json:"createdAt"`
	UpdatedAt               time.Time      `json:"updatedAt"`
}

func cartaOf(c *db.Carta) Carta {
	out := Carta{
		CartaID: c.CartaID, ViajeID: c.ViajeID, Folio: c.Folio, VersionCartaPorte: c.VersionCartaPorte, Status: c.Status, Sellada: c.Sellada,
		TransporteInternacional: c.TransporteInternacional,
		Emisor: Emisor{
			Rfc: c.Emisor.Rfc, Nombre: c.Emisor.Nombre, RegimenFiscal: c.Emisor.RegimenFiscal, DomicilioFiscal: domicilioOf(c.Emisor.DomicilioFiscal),
		},
		Receptor: Receptor{
			Rfc: c.Receptor.Rfc, Nombre: c.Receptor.Nombre, RegimenFiscal: c.Receptor.RegimenFiscal, UsoCfdi: c.Receptor.UsoCfdi,
			DomicilioFiscal: domicilioOf(c.Receptor.DomicilioFiscal),
		},
		NumUbicaciones: c.NumUbicaciones, NumFiguras: c.NumFiguras,
		Totales: Totales{
			DistanciaTotal: Decimal{c.DistanciaTotal}, PesoBrutoTotal: Decimal{c.PesoBrutoTotal}, NumeroTotalMercancias: c.NumeroTotalMercancias,
		},
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
	if t := c.Timbrado; t != nil {
		out.Timbrado = &Timbrado{
			UUIDFiscal: t.UUIDFiscal, FechaTimbrado: t.FechaTimbrado, RfcProvCertif: t.RfcProvCertif, NoCertificadoSAT: t.NoCertificadoSAT,
			IDCcp: c.IDCcp, Prueba: t.Prueba, Sha256: t.Sha256, Bytes: t.Bytes,
		}
		if t.Prueba {
			out.Timbrado.Leyenda = cartaporte.Leyenda
		}
	}
	return out
}

// CartaResumen is a carta in a list.
type CartaResumen struct {
	CartaID   string         `json:"cartaId"`
	ViajeID   string         `json:"viajeId"`
	Folio     string         `json:"folio"`
	Status    db.EstadoCarta `json:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada"`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// Autotransporte is the vehicle as a carta declares it.
type Autotransporte struct {
	PermSct            string  `json:"permSct" maxLength:"6" doc:"Key of c_TipoPermiso"`
	NumPermisoSct      string  `json:"numPermisoSct" minLength:"1" maxLength:"50"`
	ConfigVehicular    string  `json:"configVehicular" maxLength:"10" doc:"Key of c_ConfigAutotransporte"`
	PlacaVM            string  `json:"placaVm" minLength:"5" maxLength:"10"`
	AnioModeloVM       int64   `json:"anioModeloVm" minimum:"1900" maximum:"2099"`
	PesoBrutoVehicular Decimal `json:"pesoBrutoVehicular" minimum:"0.01" maximum:"999" doc:"Tons"`
	AseguraRespCivil   string  `json:"aseguraRespCivil" minLength:"3" maxLength:"50"`
	PolizaRespCivil    string  `json:"polizaRespCivil" minLength:"3" maxLength:"30"`
	SubTipoRem         string  `json:"subTipoRem,omitempty" maxLength:"6" doc:"Key of c_SubTipoRem, where there is a trailer"`
	PlacaRemolque      string  `json:"placaRemolque,omitempty" maxLength:"10"`
}

func autotransporteOf(a db.Autotransporte) Autotransporte {
	return Autotransporte{
		PermSct: a.PermSct, NumPermisoSct: a.NumPermisoSct, ConfigVehicular: a.ConfigVehicular, PlacaVM: a.PlacaVM, AnioModeloVM: a.AnioModeloVM,
		PesoBrutoVehicular: Decimal{a.PesoBrutoVehicular}, AseguraRespCivil: a.AseguraRespCivil, PolizaRespCivil: a.PolizaRespCivil,
		SubTipoRem: text(a.SubTipoRem), PlacaRemolque: text(a.PlacaRemolque),
	}
}

// Ubicacion is a place of a carta.
type Ubicacion struct {
	Tipo                        db.TipoUbicacion `json:"tipo" enum:"Origen,Destino"`
	Orden                       int64            `json:"orden,omitempty" readOnly:"true" doc:"Its place in the list, from 1 on"`
	IDUbicacion                 string           `json:"idUbicacion" pattern:"^(OR|DE)[0-9]{6}$" patternDescription:"OR or DE and six digits"`
	RfcRemitenteDestinatario    string           `json:"rfcRemitenteDestinatario" maxLength:"13"`
	NombreRemitenteDestinatario string           `json:"nombreRemitenteDestinatario,omitempty" maxLength:"254"`
	FechaHoraSalidaLlegada      string           `json:"fechaHoraSalidaLlegada" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$" patternDescription:"a local time" doc:"Local, 2024-01-15T08:00:00"`
	DistanciaRecorrida          *Decimal         `json:"distanciaRecorrida,omitempty" minimum:"0.01" maximum:"99999" doc:"km, of a Destino"`
	Domicilio                   Domicilio        `json:"domicilio"`
}

func ubicacionOf(u db.Ubicacion) Ubicacion {
	return Ubicacion{
		Tipo: u.Tipo, Orden: u.Orden, IDUbicacion: u.IDUbicacion, RfcRemitenteDestinatario: u.RfcRemitenteDestinatario,
		NombreRemitenteDestinatario: text(u.NombreRemitenteDestinatario), FechaHoraSalidaLlegada: u.FechaHoraSalidaLlegada,
		DistanciaRecorrida: optional(u.DistanciaRecorrida), Domicilio: domicilioOf(u.Domicilio),
	}
}

// Mercancia is a good of a carta.
type Mercancia struct {
	Orden          int64    `json:"orden,omitempty" readOnly:"true" doc:"Its place in the list, from 1 on"`
	ClaveProdServ  string   `json:"claveProdServ" pattern:"^[0-9]{8}$" patternDescription:"eight digits" doc:"Key of c_ClaveProdServCP"`
	ClaveUnidad    string   `json:"claveUnidad" minLength:"1" maxLength:"3" doc:"Key of c_ClaveUnidad"`
	Descripcion    string   `json:"descripcion" minLength:"1" maxLength:"1000"`
	Cantidad       Decimal  `json:"cantidad" exclusiveMinimum:"0" maximum:"999999999"`
	PesoKg         Decimal  `json:"pesoKg" exclusiveMinimum:"0" maximum:"999999999"`
	ValorMercancia *Decimal `json:"valorMercancia,omitempty" minimum:"0" maximum:"999999999999"`
	Moneda         string   `json:"moneda,omitempty" enum:"MXN,USD" doc:"Of valorMercancia; MXN if nothing is said"`
}

func mercanciaOf(m db.Mercancia) Mercancia {
	return Mercancia{
		Orden: m.Orden, ClaveProdServ: m.ClaveProdServ, ClaveUnidad: m.ClaveUnidad, Descripcion: m.Descripcion, Cantidad: Decimal{m.Cantidad},
		PesoKg: Decimal{m.PesoKg}, ValorMercancia: optional(m.ValorMercancia), Moneda: text(m.Moneda),
	}
}

// currency is that of a good's value.
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
	return &cartaporte.Mercancia{
		ClaveProdServ: m.ClaveProdServ, ClaveUnidad: m.ClaveUnidad, Descripcion: m.Descripcion, Cantidad: m.Cantidad.Decimal,
		PesoKg: m.PesoKg.Decimal, Valor: plain(m.ValorMercancia), Moneda: m.currency(),
	}
}

// Figura is a person of the transport.
type Figura struct {
	Orden        int64  `json:"orden,omitempty" readOnly:"true" doc:"Its place in the list, from 1 on"`
	TipoFigura   string `json:"tipoFigura" maxLength:"2" doc:"Key of c_FiguraTransporte: 01 is the driver"`
	RfcFigura    string `json:"rfcFigura" maxLength:"13"`
	NombreFigura string `json:"nombreFigura" minLength:"1" maxLength:"254"`
	NumLicencia  string `json:"numLicencia,omitempty" maxLength:"16"`
}

func figuraOf(f db.Figura) Figura {
	return Figura{Orden: f.Orden, TipoFigura: f.TipoFigura, RfcFigura: f.RfcFigura, NombreFigura: f.NombreFigura, NumLicencia: text(f.NumLicencia)}
}

// Contenido is a page of what a carta lists.
type Contenido struct {
	Autotransporte *Autotransporte `json:"autotransporte,omitempty"`
	Figuras        []Figura        `json:"figuras" nullable:"false"`
	Mercancias     []Mercancia     `json:"mercancias" nullable:"false"`
	Ubicaciones    []Ubicacion     `json:"ubicaciones" nullable:"false"`
	Next           string          `json:"next,omitempty" doc:"The cursor of the page behind; absent on the last"`
}

// Agregado is how many goods a carta has.
type Agregado struct {
	NumeroTotalMercancias int64   `json:"numeroTotalMercancias" doc:"How many there were then"`
	PesoBrutoTotal        Decimal `json:"pesoBrutoTotal" doc:"kg"`
}
