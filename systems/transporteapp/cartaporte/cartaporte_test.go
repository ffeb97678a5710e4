package cartaporte_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte/cartaportetest"
)

func decimal(tb testing.TB, text string) table.Decimal {
	tb.Helper()
	d, err := table.ParseDecimal(text)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// document returns a document that the tax office would accept.
func document(tb testing.TB) *cartaporte.Documento {
	tb.Helper()
	way, value := decimal(tb, "500.5"), decimal(tb, "50000")
	mexico := cartaporte.Domicilio{Calle: "Reforma", NumeroExterior: "222", Colonia: "0001", Municipio: "014", Estado: "CMX", CodigoPostal: "06600"}
	jalisco := cartaporte.Domicilio{Estado: "JAL", Pais: "MEX", CodigoPostal: "44100"}
	return &cartaporte.Documento{
		Folio: "CP-000015", Fecha: "2024-01-15T07:30:00", IDCCP: "CCC12345-1234-1234-1234-123456789ABC",
		Emisor:         cartaporte.Contribuyente{RFC: "EKU9003173C9", Nombre: "ESCUELA KEMPER URGATE", RegimenFiscal: "601", Domicilio: mexico},
		Receptor:       cartaporte.Contribuyente{RFC: "IIA040805DZ4", Nombre: "CLIENTE & CÍA", RegimenFiscal: "601", UsoCFDI: "S01", Domicilio: jalisco},
		TotalDistancia: way, PesoBrutoTotal: decimal(tb, "5000.125"),
		Ubicaciones: []cartaporte.Ubicacion{
			{Tipo: "Origen", ID: "OR000001", RFC: "EKU9003173C9", Nombre: "ESCUELA KEMPER URGATE", FechaHora: "2024-01-15T08:00:00", Domicilio: mexico},
			{Tipo: "Destino", ID: "DE000001", RFC: "IIA040805DZ4", FechaHora: "2024-01-15T18:00:00", Distancia: &way, Domicilio: jalisco},
		},
		Mercancias: []cartaporte.Mercancia{
			{ClaveProdServ: "50161509", ClaveUnidad: "KGM", Descripcion: `Azúcar "fina"`, Cantidad: decimal(tb, "100"), PesoKg: decimal(tb, "5000"), Valor: &value, Moneda: "MXN"},
			{ClaveProdServ: "01010101", ClaveUnidad: "H87", Descripcion: "Tarima", Cantidad: decimal(tb, "1"), PesoKg: decimal(tb, "0.125")},
		},
		Autotransporte: &cartaporte.Autotransporte{
			PermSCT: "TPAF01", NumPermisoSCT: "12345", ConfigVehicular: "T3S2", PlacaVM: "ABC-123", AnioModeloVM: 2022, PesoBrutoVehicular: decimal(tb, "17.5"),
			AseguraRespCivil: "Seguros XYZ", PolizaRespCivil: "POL-123456", SubTipoRemolque: "CTR007", PlacaRemolque: "REM-123",
		},
		Figuras: []cartaporte.Figura{{Tipo: "01", RFC: "CACX7605101P8", Nombre: "Pedro López", NumLicencia: "ABC123456"}},
	}
}

// TestValidar breaks a valid document in one way after the other.
func TestValidar(t *testing.T) {
	if f := document(t).Validar(); len(f) > 0 {
		t.Fatalf("a good document: %v", f)
	}
	for _, c := range []struct {
		field string
		spoil func(*cartaporte.Documento)
	}{
		{"idCcp", func(d *cartaporte.Documento) { d.IDCCP = "12345678-1234-1234-1234-123456789ABC" }},
		{"emisor.rfc", func(d *cartaporte.Documento) { d.Emisor.RFC = "EKU9003173C8" }},
		{"emisor.regimenFiscal", func(d *cartaporte.Documento) { d.Emisor.RegimenFiscal = "612" }}, // for persons
		{"emisor.domicilioFiscal.codigoPostal", func(d *cartaporte.Documento) { d.Emisor.Domicilio.CodigoPostal = "44100" }},
		{"receptor.domicilioFiscal.estado", func(d *cartaporte.Documento) { d.Receptor.Domicilio.Estado = "DIF" }},
		{"receptor.domicilioFiscal.pais", func(d *cartaporte.Documento) { d.Receptor.Domicilio.Pais = "USA" }},
		{"receptor.usoCfdi", func(d *cartaporte.Documento) { d.Receptor.UsoCFDI = "D01" }},
		{"receptor.nombre", func(d *cartaporte.Documento) { d.Receptor.Nombre = "A|B" }},
		{"ubicaciones", func(d *cartaporte.Documento) { d.Ubicaciones = d.Ubicaciones[:1] }},
		{"ubicaciones[1].tipo ubicaciones", func(d *cartaporte.Documento) { d.Ubicaciones[1].Tipo = "Paso" }},
		{"ubicaciones[1].idUbicacion", func(d *cartaporte.Documento) { d.Ubicaciones[1].ID = "OR000002" }},
		{"ubicaciones[1].distanciaRecorrida totales.distanciaTotal", func(d *cartaporte.Documento) { d.Ubicaciones[1].Distancia = nil }},
		{"ubicaciones[1].fechaHoraSalidaLlegada", func(d *cartaporte.Documento) { d.Ubicaciones[1].FechaHora = "2024-01-15T07:59:59" }},
		{"ubicaciones[0].fechaHoraSalidaLlegada", func(d *cartaporte.Documento) { d.Ubicaciones[0].FechaHora = "2024-01-15 08:00" }},
		{"ubicaciones[0].rfcRemitenteDestinatario", func(d *cartaporte.Documento) { d.Ubicaciones[0].RFC = "" }},
		{"mercancias", func(d *cartaporte.Documento) { d.Mercancias = nil }},
		{"mercancias[0].claveProdServ", func(d *cartaporte.Documento) { d.Mercancias[0].ClaveProdServ = "5016150" }},
		{"mercancias[0].claveUnidad", func(d *cartaporte.Documento) { d.Mercancias[0].ClaveUnidad = "KILO" }},
		{"totales.distanciaTotal", func(d *cartaporte.Documento) { d.TotalDistancia = decimal(t, "500.4") }},
		{"totales.distanciaTotal", func(d *cartaporte.Documento) { // each distance is valid, but the sum is not
			far := d.Ubicaciones[1]
			most := decimal(t, "99999")
			far.ID, far.Distancia = "DE000002", &most
			d.Ubicaciones, d.TotalDistancia = append(d.Ubicaciones, far), decimal(t, "100499.5")
		}},
		{"ubicaciones[0].nombreRemitenteDestinatario", func(d *cartaporte.Documento) { d.Ubicaciones[0].Nombre = "ESCUELA | KEMPER" }},
		{"ubicaciones[0].domicilio.calle", func(d *cartaporte.Documento) { d.Ubicaciones[0].Domicilio.Calle = "Reforma\t222" }},
		{"ubicaciones[1].domicilio.referencia", func(d *cartaporte.Documento) { d.Ubicaciones[1].Domicilio.Referencia = strings.Repeat("ñ", 251) }},
		{"mercancias[0].descripcion", func(d *cartaporte.Documento) { d.Mercancias[0].Descripcion = "Azúcar\x00" }},
		{"mercancias[0].descripcion", func(d *cartaporte.Documento) { d.Mercancias[0].Descripcion = "Az\uFFFDcar" }},
		{"mercancias[0].descripcion", func(d *cartaporte.Documento) { d.Mercancias[0].Descripcion = " Azúcar" }},
		{"totales.pesoBrutoTotal", func(d *cartaporte.Documento) { d.PesoBrutoTotal = decimal(t, "5000") }},
		{"autotransporte.polizaRespCivil", func(d *cartaporte.Documento) { d.Autotransporte.PolizaRespCivil = strings.Repeat("1", 31) }},
		{"mercancias[1].pesoKg totales.pesoBrutoTotal", func(d *cartaporte.Documento) { d.Mercancias[1].PesoKg = decimal(t, "0.0001") }},
		{"mercancias[1].cantidad", func(d *cartaporte.Documento) { d.Mercancias[1].Cantidad = decimal(t, "-1") }},
		{"mercancias[0].moneda", func(d *cartaporte.Documento) { d.Mercancias[0].Moneda = "" }},
		{"autotransporte", func(d *cartaporte.Documento) { d.Autotransporte = nil }},
		{"autotransporte.permSct", func(d *cartaporte.Documento) { d.Autotransporte.PermSCT = "TPTM01" }}, // for ships
		{"autotransporte.configVehicular", func(d *cartaporte.Documento) { d.Autotransporte.ConfigVehicular = "T9" }},
		{"autotransporte.placaVm", func(d *cartaporte.Documento) { d.Autotransporte.PlacaVM = "A-1" }},
		{"autotransporte.anioModeloVm", func(d *cartaporte.Documento) { d.Autotransporte.AnioModeloVM = 22 }},
		{"autotransporte.placaRemolque", func(d *cartaporte.Documento) { d.Autotransporte.PlacaRemolque = "" }},
		{"autotransporte.subTipoRem", func(d *cartaporte.Documento) { d.Autotransporte.SubTipoRemolque = "CTR030" }},
		{"figuras", func(d *cartaporte.Documento) { d.Figuras[0].Tipo = "02" }},
		{"figuras[0].tipoFigura", func(d *cartaporte.Documento) {
			d.Figuras = append([]cartaporte.Figura{{Tipo: "09", RFC: "CACX7605101P8", Nombre: "X"}}, d.Figuras...)
		}},
		{"figuras[0].numLicencia", func(d *cartaporte.Documento) { d.Figuras[0].NumLicencia = "" }},
	} {
		d := document(t)
		c.spoil(d)
		var got []string
		for _, f := range d.Validar() {
			got = append(got, f.Campo)
		}
		if !slices.Equal(got, strings.Fields(c.field)) {
			t.Errorf("corrupted %s, but the faults are %v", c.field, got)
		}
	}
}

// TestCodigoPostal: a code belongs to its state as far as its first digits show.
func TestCodigoPostal(t *testing.T) {
	for _, c := range []struct {
		code, state string
		want        bool
	}{
		{"06600", "CMX", true},
		{"01000", "CMX", true},
		{"16999", "CMX", true},
		{"17000", "CMX", false}, // not used by any state
		{"20928", "AGU", true},
		{"33826", "CHH", true},
		{"44100", "JAL", true},
		{"44100", "CMX", false},
		{"99999", "ZAC", true},
		{"6600", "CMX", false},
		{"0660a", "CMX", false},
		{"06600", "DIF", false},
	} {
		if got := cartaporte.CodigoPostal(c.code, c.state); got != c.want {
			t.Errorf("CodigoPostal(%q, %q) is %v, want %v", c.code, c.state, got, c.want)
		}
	}
}

// published are the generated elements, in the order of the schemas CFDI 4.0, Carta Porte 3.1 and Timbre Fiscal Digital 1.1
// (sat.gob.mx/sitio_internet/cfd), with their attributes in that order; ? marks optional ones.
const published = `
Comprobante Version Serie? Folio? Fecha Sello NoCertificado Certificado SubTotal Moneda Total TipoDeComprobante Exportacion LugarExpedicion
 Emisor Rfc Nombre RegimenFiscal
 Receptor Rfc Nombre DomicilioFiscalReceptor RegimenFiscalReceptor UsoCFDI
 Conceptos
  Concepto ClaveProdServ Cantidad ClaveUnidad Descripcion ValorUnitario Importe ObjetoImp
 Complemento
  CartaPorte Version IdCCP TranspInternac TotalDistRec?
   Ubicaciones
    Ubicacion TipoUbicacion IDUbicacion? RFCRemitenteDestinatario NombreRemitenteDestinatario? FechaHoraSalidaLlegada DistanciaRecorrida?
     Domicilio Calle? NumeroExterior? NumeroInterior? Colonia? Localidad? Referencia? Municipio? Estado Pais CodigoPostal
   Mercancias PesoBrutoTotal UnidadPeso NumTotalMercancias
    Mercancia BienesTransp Descripcion Cantidad ClaveUnidad PesoEnKg ValorMercancia? Moneda?
    Autotransporte PermSCT NumPermisoSCT
     IdentificacionVehicular ConfigVehicular PesoBrutoVehicular PlacaVM AnioModeloVM
     Seguros AseguraRespCivil PolizaRespCivil
     Remolques
      Remolque SubTipoRem Placa
   FiguraTransporte
    TiposFigura TipoFigura RFCFigura? NumLicencia? NombreFigura
  TimbreFiscalDigital Version UUID FechaTimbrado RfcProvCertif Leyenda? SelloCFD NoCertificadoSAT SelloSAT
`

// spaces are the name spaces, each starting at an element.
var spaces = map[string]string{ //nolint:gochecknoglobals // a table of the test
	"Comprobante": "http://www.sat.gob.mx/cfd/4", "CartaPorte": "http://www.sat.gob.mx/CartaPorte31",
	"TimbreFiscalDigital": "http://www.sat.gob.mx/TimbreFiscalDigital",
}

// TestStructure compares the XML with the published structure.
func TestStructure(t *testing.T) {
	order, attributes := map[string]int{}, map[string][]string{}
	for i, line := range strings.Split(strings.TrimSpace(published), "\n") {
		words := strings.Fields(line)
		order[words[0]], attributes[words[0]] = i, words[1:]
	}
	stamp, err := cartaporte.NewLocal(time.Now).Timbrar(t.Context(), cartaporte.Solicitud{Referencia: "r", Comprobante: document(t).Comprobante()})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	decoder := xml.NewDecoder(bytes.NewReader(stamp.XML))
	var path []string
	space, last := "", map[int]int{} // by depth: the position of the previous element
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			seen[name] = true
			if s, ok := spaces[name]; ok {
				space = s
			}
			if token.Name.Space != space {
				t.Errorf("%s is of %s, want %s", name, token.Name.Space, space)
			}
			place, known := order[name]
			if !known || place < last[len(path)] {
				t.Errorf("%s must not occur in %v", name, path)
			}
			last[len(path)], last[len(path)+1] = place, 0
			checkAttributes(t, name, token.Attr, attributes[name])
			path = append(path, name)
		case xml.EndElement:
			if path = path[:len(path)-1]; len(path) == 2 {
				space = spaces["Comprobante"]
			}
		}
	}
	for name := range order {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// checkAttributes checks an element's own attributes: their order, and that no required one is missing.
func checkAttributes(t *testing.T, element string, found []xml.Attr, published []string) {
	t.Helper()
	var own []string
	for _, a := range found {
		if a.Name.Space == "" {
			own = append(own, a.Name.Local)
		}
	}
	for _, p := range published {
		name, may := strings.CutSuffix(p, "?")
		switch {
		case len(own) > 0 && own[0] == name:
			own = own[1:]
		case !may:
			t.Errorf("%s has no %s, or in the wrong place: %v", element, name, own)
		}
	}
	if len(own) > 0 {
		t.Errorf("%s has %v, which is not in its schema, or in the wrong order", element, own)
	}
}

// TestLocal: a document stamped by Local says that it is a test and verifies, but no longer verifies once anything changes.
func TestLocal(t *testing.T) {
	at := time.Date(2024, time.January, 15, 8, 30, 0, 0, time.UTC)
	pac := cartaporte.NewLocal(func() time.Time { return at })
	ask := func(reference string, d *cartaporte.Documento) cartaporte.Timbre {
		stamp, err := pac.Timbrar(t.Context(), cartaporte.Solicitud{Referencia: reference, Comprobante: d.Comprobante()})
		if err != nil {
			t.Fatal(err)
		}
		return stamp
	}
	first := ask("a", document(t))
	if !first.Prueba || !bytes.Contains(first.XML, []byte(`Leyenda="PRUEBA, sin validez fiscal"`)) || !first.FechaTimbrado.Equal(at) {
		t.Errorf("stamped %+v", first)
	}
	if !bytes.Contains(first.XML, []byte(`FechaTimbrado="2024-01-15T02:30:00"`)) {
		t.Errorf("the stamp's time is not Mexico's central time: %s", first.XML)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(first.UUID) {
		t.Errorf("the UUID is %s", first.UUID)
	}
	if err := cartaportetest.Verify(first.XML); err != nil {
		t.Error(err)
	}
	other := document(t)
	other.Mercancias[0].Cantidad = decimal(t, "101")
	if same := ask("a", document(t)); same.UUID != first.UUID {
		t.Error("the same document with the same reference has another stamp")
	}
	if ask("b", document(t)).UUID == first.UUID || ask("a", other).UUID == first.UUID {
		t.Error("another document, or another reference, has the same stamp")
	}
	for _, c := range [][2]string{
		{`Cantidad="100"`, `Cantidad="999"`},
		{`Folio="000015"`, `Folio="000016"`},
		{`PesoEnKg="5000"`, `PesoEnKg="5"`},
		{first.UUID, "00000000-0000-4000-8000-000000000000"},
		{"PRUEBA, sin", "Con"},
	} {
		forged := bytes.Replace(first.XML, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(forged, first.XML) {
			t.Fatalf("the document has no %s", c[0])
		}
		if err := cartaportetest.Verify(forged); !errors.Is(err, cartaportetest.ErrSeal) {
			t.Errorf("with %s the document is verified as %v", c[1], err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pac.Timbrar(gone, cartaporte.Solicitud{Comprobante: document(t).Comprobante()}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the client disconnected: %v", err)
	}
	if err := pac.Cancelar(t.Context(), cartaporte.Cancelacion{Motivo: "09"}); !errors.Is(err, cartaporte.ErrRechazado) {
		t.Errorf("cancelled for no reason: %v", err)
	}
}
