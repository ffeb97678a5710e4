package cartaporte

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/monotable/monotable/design/table"
)

// Falta is a fault for which the tax office would reject a document.
type Falta struct {
	// Campo is the path of the field: mercancias[2].claveUnidad.
	Campo, Mensaje string
}

// layout is the schemas' format of a local time.
const layout = "2006-01-02T15:04:05"

var (
	idCCPForm  = regexp.MustCompile(`^C{3}[a-fA-F0-9]{5}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}$`)
	placaForm  = regexp.MustCompile(`^[A-Z0-9]{5,7}$`)
	origenForm = regexp.MustCompile(`^OR[0-9]{6}$`)
	destinoID  = regexp.MustCompile(`^DE[0-9]{6}$`)
)

// Operador is the key of the driver in c_FiguraTransporte.
const Operador = "01"

// The limits of the schemas.
const (
	minYear, maxYear        = 1900, 2099
	maxName                 = 254
	maxDescription          = 1000
	maxPermit               = 50
	maxInsurance            = 50
	maxPolicy               = 30
	maxStreet               = 100
	maxNumber               = 55
	maxPlace                = 120
	maxReference            = 250
	maxDistance             = 99999 // km
	minLicence, maxLicence  = 6, 16
	weightDigits            = 3
	quantityDigits          = 6
	distanceDigits          = 2
	moneyDigits             = 6
	tonsDigits              = 2
	minTextLength           = 3
	leastUbicaciones        = 2
	tipoOrigen, tipoDestino = "Origen", "Destino"
)

// faltas collects faults.
type faltas []Falta

func (f *faltas) want(ok bool, field, format string, args ...any) {
	if !ok {
		*f = append(*f, Falta{field, fmt.Sprintf(format, args...)})
	}
}

// Validar returns everything that the tax office would reject.
func (d *Documento) Validar() []Falta {
	var f faltas
	f.want(idCCPForm.MatchString(d.IDCCP), "idCcp", "is not CCC and 33 characters of a UUID")
	f.contribuyente("emisor", &d.Emisor)
	f.contribuyente("receptor", &d.Receptor)
	receptor, _ := RFC(d.Receptor.RFC)
	f.want(receptor == "" || UsoCFDI.aplica(d.Receptor.UsoCFDI, receptor), "receptor.usoCfdi", "is not a use of c_UsoCFDI for this receiver")
	f.ubicaciones(d)
	f.mercancias(d)
	f.autotransporte(d.Autotransporte)
	f.figuras(d.Figuras)
	return f
}

func (f *faltas) rfc(field, text string) Persona {
	p, err := RFC(text)
	f.want(err == nil, field, "is not an RFC: %v", err)
	return p
}

func (f *faltas) contribuyente(field string, c *Contribuyente) {
	p := f.rfc(field+".rfc", c.RFC)
	f.text(field+".nombre", c.Nombre, 1, maxName)
	f.want(p == "" || RegimenFiscal.aplica(c.RegimenFiscal, p), field+".regimenFiscal", "is not a regime of c_RegimenFiscal for a %s", p)
	f.domicilio(field+".domicilioFiscal", c.Domicilio)
}

func (f *faltas) domicilio(field string, d Domicilio) {
	f.want(estado.Tiene(d.Estado), field+".estado", "is not a state of c_Estado")
	f.want(!estado.Tiene(d.Estado) || CodigoPostal(d.CodigoPostal, d.Estado), field+".codigoPostal", "is not a postal code of the state")
	f.want(d.Pais == "" || d.Pais == "MEX", field+".pais", "is not MEX: only transports within Mexico are supported")
	for _, part := range []struct {
		name, text string
		most       int
	}{
		{"calle", d.Calle, maxStreet},
		{"numeroExterior", d.NumeroExterior, maxNumber},
		{"numeroInterior", d.NumeroInterior, maxNumber},
		{"colonia", d.Colonia, maxPlace},
		{"localidad", d.Localidad, maxPlace},
		{"municipio", d.Municipio, maxPlace},
		{"referencia", d.Referencia, maxReference},
	} {
		f.text(field+"."+part.name, part.text, 0, part.most)
	}
}

func (f *faltas) ubicaciones(d *Documento) {
	f.want(len(d.Ubicaciones) >= leastUbicaciones, "ubicaciones", "has %d places: it needs an Origen and a Destino", len(d.Ubicaciones))
	kinds, ids := map[string]int{}, map[string]bool{}
	previous := ""
	var ways []table.Decimal
	for i := range d.Ubicaciones {
		u := &d.Ubicaciones[i]
		if u.Distancia != nil {
			ways = append(ways, *u.Distancia)
		}
		field := fmt.Sprintf("ubicaciones[%d]", i)
		kinds[u.Tipo]++
		f.want(!ids[u.ID], field+".idUbicacion", "belongs to another place")
		ids[u.ID] = true
		f.ubicacion(field, u)
		f.want(u.FechaHora >= previous, field+".fechaHoraSalidaLlegada", "is before that of the previous place")
		previous = u.FechaHora
	}
	if len(d.Ubicaciones) < leastUbicaciones {
		return
	}
	f.want(kinds[tipoOrigen] > 0, "ubicaciones", "has no Origen")
	f.want(kinds[tipoDestino] > 0, "ubicaciones", "has no Destino")
	f.number("totales.distanciaTotal", d.TotalDistancia, distanceDigits)
	f.want(d.TotalDistancia.Compare(table.DecimalOf(maxDistance)) <= 0, "totales.distanciaTotal", "is more than %d", maxDistance)
	f.want(isSum(d.TotalDistancia, ways), "totales.distanciaTotal", "is not the sum of the distances to each Destino")
}

func (f *faltas) ubicacion(field string, u *Ubicacion) {
	f.rfc(field+".rfcRemitenteDestinatario", u.RFC)
	f.text(field+".nombreRemitenteDestinatario", u.Nombre, 0, maxName)
	_, err := time.Parse(layout, u.FechaHora)
	f.want(err == nil, field+".fechaHoraSalidaLlegada", "is not a time such as 2024-01-15T08:00:00")
	f.domicilio(field+".domicilio", u.Domicilio)
	switch u.Tipo {
	case tipoOrigen:
		f.want(origenForm.MatchString(u.ID), field+".idUbicacion", "is not OR and six digits")
		f.want(u.Distancia == nil, field+".distanciaRecorrida", "is allowed only for a Destino")
	case tipoDestino:
		f.want(destinoID.MatchString(u.ID), field+".idUbicacion", "is not DE and six digits")
		f.want(u.Distancia != nil, field+".distanciaRecorrida", "is missing")
		if u.Distancia != nil {
			f.number(field+".distanciaRecorrida", *u.Distancia, distanceDigits)
		}
	default:
		f.want(false, field+".tipo", "is neither Origen nor Destino")
	}
}

func (f *faltas) mercancias(d *Documento) {
	f.want(len(d.Mercancias) > 0, "mercancias", "is empty")
	weights := make([]table.Decimal, len(d.Mercancias))
	for i := range d.Mercancias {
		m := &d.Mercancias[i]
		weights[i] = m.PesoKg
		f.mercancia(fmt.Sprintf("mercancias[%d]", i), m)
	}
	if len(d.Mercancias) > 0 {
		f.number("totales.pesoBrutoTotal", d.PesoBrutoTotal, weightDigits)
		f.want(isSum(d.PesoBrutoTotal, weights), "totales.pesoBrutoTotal", "is not the sum of the goods' weights")
	}
}

// mercancia checks a line of goods.
func (f *faltas) mercancia(field string, m *Mercancia) {
	f.want(ClaveProdServ(m.ClaveProdServ), field+".claveProdServ", "is not a key of c_ClaveProdServCP")
	f.want(ClaveUnidad.Tiene(m.ClaveUnidad), field+".claveUnidad", "is not a key of c_ClaveUnidad")
	f.text(field+".descripcion", m.Descripcion, 1, maxDescription)
	f.number(field+".cantidad", m.Cantidad, quantityDigits)
	f.number(field+".pesoKg", m.PesoKg, weightDigits)
	if m.Valor != nil {
		f.want(places(*m.Valor) <= moneyDigits && m.Valor.Compare(table.Decimal{}) >= 0, field+".valorMercancia", "is not an amount")
		f.want(m.Moneda == "MXN" || m.Moneda == "USD", field+".moneda", "is not MXN or USD")
	}
}

// ValidarMercancia returns the faults of a line of goods.
func ValidarMercancia(field string, m *Mercancia) []Falta {
	var f faltas
	f.mercancia(field, m)
	return f
}

func (f *faltas) autotransporte(a *Autotransporte) {
	if a == nil {
		f.want(false, "autotransporte", "is missing")
		return
	}
	f.want(TipoPermiso.Tiene(a.PermSCT), "autotransporte.permSct", "is not a permit of c_TipoPermiso")
	f.text("autotransporte.numPermisoSct", a.NumPermisoSCT, 1, maxPermit)
	f.want(ConfigAutotransporte.Tiene(a.ConfigVehicular), "autotransporte.configVehicular", "is not a key of c_ConfigAutotransporte")
	f.want(placaForm.MatchString(Placa(a.PlacaVM)), "autotransporte.placaVm", "is not a plate of 5 to 7 letters and digits")
	f.want(a.AnioModeloVM >= minYear && a.AnioModeloVM <= maxYear, "autotransporte.anioModeloVm", "is not a year")
	f.number("autotransporte.pesoBrutoVehicular", a.PesoBrutoVehicular, tonsDigits)
	f.text("autotransporte.aseguraRespCivil", a.AseguraRespCivil, minTextLength, maxInsurance)
	f.text("autotransporte.polizaRespCivil", a.PolizaRespCivil, minTextLength, maxPolicy)
	f.want(!ConRemolque(a.ConfigVehicular) || a.PlacaRemolque != "", "autotransporte.placaRemolque", "is required, because the configuration has a trailer")
	if a.PlacaRemolque != "" {
		f.want(SubTipoRem.Tiene(a.SubTipoRemolque), "autotransporte.subTipoRem", "is not a key of c_SubTipoRem")
		f.want(placaForm.MatchString(Placa(a.PlacaRemolque)), "autotransporte.placaRemolque", "is not a plate of 5 to 7 letters and digits")
	}
}

func (f *faltas) figuras(list []Figura) {
	drivers := 0
	for i, figura := range list {
		field := fmt.Sprintf("figuras[%d]", i)
		f.want(FiguraTransporte.Tiene(figura.Tipo), field+".tipoFigura", "is not a key of c_FiguraTransporte")
		f.rfc(field+".rfcFigura", figura.RFC)
		f.text(field+".nombreFigura", figura.Nombre, 1, maxName)
		if figura.Tipo == Operador {
			drivers++
			f.text(field+".numLicencia", figura.NumLicencia, minLicence, maxLicence)
		}
	}
	f.want(drivers > 0, "figuras", "has no Operador (01)")
}

// text checks a text's length and characters against the limits of the schemas and XML.
func (f *faltas) text(field, text string, least, most int) {
	n := len([]rune(text))
	f.want(n >= least && n <= most && !strings.ContainsFunc(text, forbidden) && strings.TrimSpace(text) == text,
		field, "is not a text of %d to %d characters without |, control characters and surrounding spaces", least, most)
}

// forbidden reports characters that a document must not contain: the separator of original strings, and characters that an XML
// attribute does not preserve, which are control characters, the replacement character and the last two of the basic plane.
func forbidden(r rune) bool {
	return r == '|' || unicode.IsControl(r) || r == utf8.RuneError || r == '\uFFFE' || r == '\uFFFF'
}

// isSum reports whether a number is the exact sum of others.
func isSum(total table.Decimal, parts []table.Decimal) bool {
	sum := new(big.Rat)
	for _, d := range parts {
		sum.Add(sum, rational(d))
	}
	return sum.Cmp(rational(total)) == 0
}

func rational(d table.Decimal) *big.Rat {
	n, ok := new(big.Rat).SetString(d.String())
	if !ok {
		return new(big.Rat) // a Decimal is always a number
	}
	return n
}

// number checks that a number is positive and has at most a given number of decimals.
func (f *faltas) number(field string, d table.Decimal, most int) {
	f.want(d.Compare(table.Decimal{}) > 0 && places(d) <= most, field, "is not a positive number of at most %d decimals", most)
}

// places returns the number of decimals.
func places(d table.Decimal) int {
	_, behind, _ := strings.Cut(d.String(), ".")
	return len(behind)
}

// Placa returns a plate in the complement's form: without hyphens and blanks.
func Placa(text string) string {
	return strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(text))
}
