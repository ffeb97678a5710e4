package cartaporte

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/boombuler/barcode/qr"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

// The tax office's verification page.
const (
	verifyCFDI  = "https://verificacfdi.facturaelectronica.sat.gob.mx/default.aspx"
	verifyCarta = "https://verificacfdi.facturaelectronica.sat.gob.mx/verificaccp/default.aspx"
)

// The sheet, in millimetres.
const (
	margin   = 12.0
	width    = 215.9 - 2*margin
	bottom   = 279.4 - 14
	rowInset = 1.4
	qrSize   = 31.0
)

// Font sizes, in points, and line heights.
const (
	sizeTitle, sizeName, sizeText, sizeLabel, sizeSeal = 15, 11, 8, 6.5, 5.6
	lineText, lineLabel, lineSeal                      = 3.5, 2.9, 2.4
)

type colour [3]int

var (
	ink    = colour{24, 32, 44}
	pale   = colour{96, 106, 120}
	rule   = colour{203, 210, 219}
	shade  = colour{238, 242, 247}
	accent = colour{20, 62, 122}
	alarm  = colour{176, 32, 32}
)

// Imprimir renders a stamped document as a PDF, the copy that travels with the freight. It reads everything from the stamped XML,
// and the same XML always yields the same PDF. Only what has happened to the document since, such as its cancellation, is not in
// the XML: it is printed across each sheet, or "" for nothing.
func Imprimir(document []byte, since string) ([]byte, error) {
	c, err := Leer(document)
	if err != nil {
		return nil, err
	}
	p := &printer{Fpdf: fpdf.New("P", "mm", "Letter", ""), c: c, since: since}
	p.begin()
	p.head()
	p.parties()
	p.places()
	p.goods()
	p.transport()
	p.people()
	if err := p.seals(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("print the document: %w", err)
	}
	return out.Bytes(), nil
}

// printer prints a document.
type printer struct {
	*fpdf.Fpdf
	c     *Comprobante
	since string
}

// printable replaces characters beyond U+FFFF, such as emojis, which the tax office accepts: fpdf cannot print them.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r > '\uffff' {
			return '\ufffd'
		}
		return r
	}, text)
}

// CellFormat, MultiCell and SplitText are those of fpdf, for any text.
func (p *printer) CellFormat(w, h float64, text, border string, ln int, align string, fill bool, link int, address string) {
	p.Fpdf.CellFormat(w, h, printable(text), border, ln, align, fill, link, address)
}

func (p *printer) MultiCell(w, h float64, text, border, align string, fill bool) {
	p.Fpdf.MultiCell(w, h, printable(text), border, align, fill)
}

func (p *printer) SplitText(text string, w float64) []string {
	return p.Fpdf.SplitText(printable(text), w)
}

func (p *printer) folio() string {
	if p.c.Serie == "" {
		return p.c.Folio
	}
	return p.c.Serie + "-" + p.c.Folio
}

func (p *printer) stamp() xmlTimbre {
	if p.c.Complemento.Timbre == nil {
		return xmlTimbre{}
	}
	return *p.c.Complemento.Timbre
}

func (p *printer) begin() {
	p.SetMargins(margin, margin, margin)
	p.SetAutoPageBreak(false, 0)
	p.AddUTF8FontFromBytes("go", "", goregular.TTF)
	p.AddUTF8FontFromBytes("go", "B", gobold.TTF)
	p.SetTitle("Carta Porte "+p.folio(), true)
	p.SetAuthor(p.c.Emisor.Nombre, true)
	p.SetLang("es-MX")
	p.SetCatalogSort(true)
	at, err := time.Parse(layout, cmp.Or(p.stamp().FechaTimbrado, p.c.Fecha))
	if err != nil {
		at = time.Unix(0, 0)
	}
	p.SetCreationDate(at)
	p.SetModificationDate(at)
	p.AliasNbPages("{pages}")
	p.SetFooterFunc(func() {
		p.SetY(bottom + 3)
		p.font("", sizeLabel, pale)
		p.CellFormat(width/2, lineText, "Este documento es una representación impresa de un CFDI con complemento Carta Porte "+p.c.Complemento.CartaPorte.Version, "", 0, "L", false, 0, "")
		p.CellFormat(width/2, lineText, fmt.Sprintf("%s · página %d de {pages}", p.folio(), p.PageNo()), "", 0, "R", false, 0, "")
	})
	p.SetHeaderFunc(p.across)
	p.AddPage()
}

// across prints what has happened to the document, below the text of a sheet.
func (p *printer) across() {
	const tall, size, angle = 24, 60, 50
	p.font("B", size, colour{246, 205, 205})
	p.TransformBegin()
	p.TransformRotate(angle, margin+width/2, bottom/2)
	p.SetXY(margin, (bottom-tall)/2)
	p.CellFormat(width, tall, p.since, "", 0, "C", false, 0, "")
	p.TransformEnd()
	p.SetXY(margin, margin)
}

func (p *printer) font(style string, size float64, c colour) {
	p.SetFont("go", style, size)
	p.SetTextColor(c[0], c[1], c[2])
}

// head prints the band with the document's name.
func (p *printer) head() {
	t := p.stamp()
	const right = 76.0
	top := p.GetY()
	for _, notice := range []string{p.since, t.Leyenda} {
		if notice == "" {
			continue
		}
		p.SetFillColor(alarm[0], alarm[1], alarm[2])
		p.font("B", sizeText, colour{255, 255, 255})
		p.CellFormat(width, 5.4, notice, "", 1, "C", true, 0, "")
		p.Ln(2.5)
		top = p.GetY()
	}
	p.font("B", sizeName+2, ink)
	p.MultiCell(width-right-5, 5.6, p.c.Emisor.Nombre, "", "L", false)
	p.font("", sizeText, pale)
	p.MultiCell(width-right-5, lineText+0.4, fmt.Sprintf("RFC %s\nRégimen fiscal %s %s\nLugar de expedición: C.P. %s",
		p.c.Emisor.RFC, p.c.Emisor.RegimenFiscal, RegimenFiscal.Descripcion(p.c.Emisor.RegimenFiscal), p.c.LugarExpedicion), "", "L", false)
	left := p.GetY()

	x := margin + width - right
	p.SetFillColor(accent[0], accent[1], accent[2])
	p.Rect(x, top, right, 15, "F")
	p.SetXY(x+4, top+2)
	p.font("", sizeText, colour{214, 226, 243})
	p.CellFormat(right-8, 4, "CARTA PORTE · CFDI de traslado (T)", "", 2, "L", false, 0, "")
	p.font("B", sizeTitle, colour{255, 255, 255})
	p.CellFormat(right-8, 7, p.folio(), "", 2, "L", false, 0, "")
	p.SetXY(x, top+17)
	p.pair(x, right, "Folio fiscal (UUID)", strings.ToUpper(t.UUID))
	p.pair(x, right, "IdCCP", p.c.Complemento.CartaPorte.IDCCP)
	p.SetY(max(left, p.GetY()) + 2.5)
	p.facts(4,
		"Fecha de emisión", dateTime(p.c.Fecha), "Fecha de certificación", dateTime(t.FechaTimbrado),
		"Certificado del emisor", p.c.NoCertificado, "Certificado del SAT", t.NoCertificadoSAT,
		"Distancia total", grouped(p.c.Complemento.CartaPorte.TotalDistRec)+" km",
		"Peso bruto total", grouped(p.c.Complemento.CartaPorte.Mercancias.PesoBrutoTotal)+" kg",
		"Total de mercancías", p.c.Complemento.CartaPorte.Mercancias.NumTotalMercancias,
		"Transporte internacional", p.c.Complemento.CartaPorte.TranspInternac)
}

// dateTime formats a local time for people.
func dateTime(text string) string {
	at, err := time.Parse(layout, text)
	if err != nil {
		return text
	}
	return at.Format("02/01/2006 15:04:05")
}

// grouped formats a number with thousands separators, as in Mexico.
func grouped(number string) string {
	whole, places, found := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		return whole + "." + places
	}
	return whole
}

// pair prints a label above its value, in one line.
func (p *printer) pair(x, w float64, label, text string) {
	p.SetX(x)
	p.font("", sizeLabel, pale)
	p.CellFormat(w, lineLabel, label, "", 2, "L", false, 0, "")
	p.font("", sizeText, ink)
	p.CellFormat(w, lineText+0.3, text, "", 2, "L", false, 0, "")
}

// facts prints labels with their values, in columns.
func (p *printer) facts(columns int, list ...string) {
	w := width / float64(columns)
	for len(list) > 0 {
		n := min(columns, len(list)/2)
		heights := 1
		for i := range n {
			p.font("", sizeText, ink)
			heights = max(heights, len(p.SplitText(cmp.Or(list[2*i+1], "–"), w-3)))
		}
		p.room(lineLabel + float64(heights)*lineText + 2)
		y := p.GetY()
		for i := range n {
			x := margin + float64(i)*w
			p.SetXY(x, y)
			p.font("", sizeLabel, pale)
			p.CellFormat(w, lineLabel, list[2*i], "", 2, "L", false, 0, "")
			p.font("", sizeText, ink)
			p.SetX(x)
			p.lines(x, w-3, cmp.Or(list[2*i+1], "–"), lineText, "L")
		}
		p.SetY(y + lineLabel + float64(heights)*lineText + 1.6)
		list = list[2*n:]
	}
}

// lines breaks a text into as many lines as it needs.
func (p *printer) lines(x, w float64, text string, height float64, align string) {
	for _, line := range p.SplitText(text, w) {
		p.SetX(x)
		p.CellFormat(w, height, line, "", 2, align, false, 0, "")
	}
}

// room begins a new sheet if the current one is full.
func (p *printer) room(height float64) bool {
	if p.GetY()+height <= bottom {
		return false
	}
	p.AddPage()
	p.SetY(margin)
	return true
}

// section prints a heading.
func (p *printer) section(title string) {
	p.room(20)
	p.Ln(1.6)
	p.SetFillColor(shade[0], shade[1], shade[2])
	p.font("B", sizeText, accent)
	p.CellFormat(width, 5.2, " "+title, "", 1, "L", true, 0, "")
	p.Ln(1.2)
}

func (p *printer) parties() {
	p.section("Receptor")
	r := p.c.Receptor
	p.facts(4,
		"Nombre", r.Nombre, "RFC", r.RFC,
		"Régimen fiscal", r.RegimenFiscal+" "+RegimenFiscal.Descripcion(r.RegimenFiscal), "Uso del CFDI", r.UsoCFDI+" "+UsoCFDI.Descripcion(r.UsoCFDI))
}

type column struct {
	title string
	width float64
	align string
}

// table prints a table and repeats its header on each sheet.
func (p *printer) table(columns []column, rows [][]string) {
	head := func() {
		p.font("B", sizeLabel, pale)
		for _, c := range columns {
			p.CellFormat(c.width, 4.2, c.title, "", 0, c.align, false, 0, "")
		}
		p.Ln(4.2)
		p.line()
	}
	head()
	for _, row := range rows {
		p.font("", sizeText-0.5, ink)
		tall := 1
		for i, c := range columns {
			tall = max(tall, len(p.SplitText(row[i], c.width-2)))
		}
		height := float64(tall)*lineText + 2*rowInset
		if p.room(height) {
			head()
		}
		p.font("", sizeText-0.5, ink)
		x, y := margin, p.GetY()
		for i, c := range columns {
			p.SetXY(x, y+rowInset)
			p.lines(x, c.width, row[i], lineText, c.align)
			x += c.width
		}
		p.SetXY(margin, y+height)
		p.line()
	}
	p.Ln(1)
}

func (p *printer) line() {
	p.SetDrawColor(rule[0], rule[1], rule[2])
	p.SetLineWidth(0.2)
	p.Line(margin, p.GetY(), margin+width, p.GetY())
}

func (p *printer) places() {
	p.section("Ubicaciones")
	var rows [][]string
	for _, u := range p.c.Complemento.CartaPorte.Ubicaciones.Ubicacion {
		way := ""
		if u.Distancia != "" {
			way = grouped(u.Distancia) + " km"
		}
		rows = append(rows, []string{
			u.Tipo + "\n" + u.ID, strings.TrimSpace(u.Nombre + "\n" + u.RFC), dateTime(u.FechaHora), addressText(u.Domicilio), way,
		})
	}
	p.table([]column{
		{"Ubicación", 22, "L"}, {"Remitente o destinatario", 52, "L"}, {"Salida o llegada", 31, "L"}, {"Domicilio", width - 125, "L"}, {"Distancia", 20, "R"},
	}, rows)
}

// addressText formats an address in one line.
func addressText(d *xmlDomicilio) string {
	if d == nil {
		return ""
	}
	street := strings.TrimSpace(d.Calle + " " + d.NumeroExterior)
	if d.NumeroInterior != "" {
		street += " int. " + d.NumeroInterior
	}
	var parts []string
	for _, part := range []string{street, d.Colonia, d.Localidad, d.Municipio, "C.P. " + d.CodigoPostal, cmp.Or(estado.Descripcion(d.Estado), d.Estado), d.Pais, d.Referencia} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

func (p *printer) goods() {
	p.section("Mercancías")
	var rows [][]string
	for i, m := range p.c.Complemento.CartaPorte.Mercancias.Mercancia {
		value := ""
		if m.ValorMercancia != "" {
			value = grouped(m.ValorMercancia) + " " + m.Moneda
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), m.BienesTransp, m.Descripcion, grouped(m.Cantidad), strings.TrimSpace(m.ClaveUnidad + " " + ClaveUnidad.Descripcion(m.ClaveUnidad)), grouped(m.PesoEnKg) + " kg", value,
		})
	}
	p.table([]column{
		{"#", 8, "L"}, {"Clave", 17, "L"}, {"Descripción", width - 123, "L"}, {"Cantidad", 20, "R"}, {"  Unidad", 26, "L"}, {"Peso", 24, "R"}, {"Valor", 28, "R"},
	}, rows)
}

func (p *printer) transport() {
	p.section("Autotransporte federal")
	a := p.c.Complemento.CartaPorte.Mercancias.Autotransporte
	list := []string{
		"Permiso SCT", a.PermSCT + " " + TipoPermiso.Descripcion(a.PermSCT), "Número de permiso", a.NumPermisoSCT,
		"Configuración", a.Identificacion.ConfigVehicular + " " + ConfigAutotransporte.Descripcion(a.Identificacion.ConfigVehicular),
		"Placa · año", a.Identificacion.PlacaVM + " · " + a.Identificacion.AnioModeloVM,
		"Peso bruto vehicular", a.Identificacion.PesoBrutoVehicular + " t",
		"Aseguradora de responsabilidad civil", a.Seguros.AseguraRespCivil, "Póliza", a.Seguros.PolizaRespCivil,
	}
	trailers := "Sin remolque"
	if a.Remolques != nil {
		var all []string
		for _, r := range a.Remolques.Remolque {
			all = append(all, fmt.Sprintf("%s · %s %s", r.Placa, r.SubTipoRem, SubTipoRem.Descripcion(r.SubTipoRem)))
		}
		trailers = strings.Join(all, "\n")
	}
	p.facts(4, append(list, "Remolque", trailers)...)
}

func (p *printer) people() {
	p.section("Figuras de transporte")
	var rows [][]string
	for _, f := range p.c.Complemento.CartaPorte.FiguraTransport.TiposFigura {
		rows = append(rows, []string{f.Tipo + " " + FiguraTransporte.Descripcion(f.Tipo), f.Nombre, f.RFC, cmp.Or(f.NumLicencia, "–")})
	}
	p.table([]column{{"Figura", 40, "L"}, {"Nombre", width - 120, "L"}, {"RFC", 40, "L"}, {"Licencia", 40, "L"}}, rows)
}

// seals prints the verification code and the texts that it encodes.
func (p *printer) seals() error {
	t := p.stamp()
	const gap = 5.0
	p.font("", sizeSeal, ink)
	w := width - 2*(qrSize+gap)
	texts := []string{
		"Cadena original del complemento de certificación digital del SAT", t.original(),
		"Sello digital del CFDI", p.c.Sello, "Sello digital del SAT", t.SelloSAT,
	}
	height := 0.0
	for i := 0; i < len(texts); i += 2 {
		height += lineLabel + float64(len(p.SplitText(texts[i+1], w)))*lineSeal + 1.4
	}
	height = max(height, qrSize+5)
	p.room(height + 6)
	p.Ln(2)
	p.line()
	p.Ln(2.4)
	y := p.GetY()
	for i, code := range []struct{ label, text string }{
		{"Carta Porte", verifyCarta + "?" + query("IdCCP", p.c.Complemento.CartaPorte.IDCCP, "FechaOrig", p.departs(), "FechaTimb", t.FechaTimbrado)},
		{"CFDI", verifyCFDI + "?" + query("id", t.UUID, "re", p.c.Emisor.RFC, "rr", p.c.Receptor.RFC, "tt", p.c.Total, "fe", p.c.Sello[max(0, len(p.c.Sello)-8):])},
	} {
		x := margin + 1 + float64(i)*(qrSize+gap)
		if err := p.code(x, y, code.text); err != nil {
			return err
		}
		p.SetXY(x, y+qrSize+0.6)
		p.font("", sizeLabel, pale)
		p.CellFormat(qrSize, lineLabel, "Verificación: "+code.label, "", 0, "C", false, 0, "")
	}
	x := margin + 2*(qrSize+gap)
	p.SetXY(x, y)
	for i := 0; i < len(texts); i += 2 {
		p.SetX(x)
		p.font("B", sizeLabel, pale)
		p.CellFormat(w, lineLabel, texts[i], "", 2, "L", false, 0, "")
		p.font("", sizeSeal, ink)
		p.lines(x, w, texts[i+1], lineSeal, "L")
		p.Ln(1.2)
	}
	return p.Error()
}

// departs returns the time of departure.
func (p *printer) departs() string {
	for _, u := range p.c.Complemento.CartaPorte.Ubicaciones.Ubicacion {
		if u.Tipo == tipoOrigen {
			return u.FechaHora
		}
	}
	return ""
}

// query builds a query with its parameters in the tax office's order.
func query(list ...string) string {
	var parts []string
	for i := 0; i < len(list); i += 2 {
		parts = append(parts, list[i]+"="+strings.ReplaceAll(url.QueryEscape(list[i+1]), "%3A", ":"))
	}
	return strings.Join(parts, "&")
}

// code draws a QR code as rectangles, which are sharp at any size.
func (p *printer) code(x, y float64, text string) error {
	symbol, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return fmt.Errorf("make the code: %w", err)
	}
	n := symbol.Bounds().Dx()
	unit := qrSize / float64(n)
	p.SetFillColor(0, 0, 0)
	for row := range n {
		for from := 0; from < n; {
			if r, _, _, _ := symbol.At(from, row).RGBA(); r != 0 {
				from++
				continue
			}
			to := from + 1
			for to < n {
				if r, _, _, _ := symbol.At(to, row).RGBA(); r != 0 {
					break
				}
				to++
			}
			p.Rect(x+float64(from)*unit, y+float64(row)*unit, float64(to-from)*unit, unit, "F")
			from = to
		}
	}
	return nil
}
