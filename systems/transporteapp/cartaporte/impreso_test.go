package cartaporte_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte/cartaportetest"
)

// stamped returns a stamped document with a number of goods.
func stamped(tb testing.TB, goods int) []byte {
	tb.Helper()
	d := document(tb)
	for i := len(d.Mercancias); i < goods; i++ {
		d.Mercancias = append(d.Mercancias, cartaporte.Mercancia{
			ClaveProdServ: "50161509", ClaveUnidad: "XBX", Descripcion: fmt.Sprintf("Azúcar estándar en costal de %d kg, paletizada y emplayada, para consumo humano", i),
			Cantidad: table.DecimalOf(int64(i)), PesoKg: table.DecimalOf(int64(i) * 10),
		})
	}
	pac := cartaporte.NewLocal(func() time.Time { return time.Date(2024, time.January, 15, 14, 0, 0, 0, time.UTC) })
	stamp, err := pac.Timbrar(tb.Context(), cartaporte.Solicitud{Referencia: "one", Comprobante: d.Comprobante()})
	if err != nil {
		tb.Fatal(err)
	}
	return stamp.XML
}

// TestLeer: reading and writing a stamped document round-trips.
func TestLeer(t *testing.T) {
	t.Parallel()
	text := stamped(t, 3)
	c, err := cartaporte.Leer(text)
	if err != nil {
		t.Fatal(err)
	}
	if c.Complemento.Timbre == nil || c.Complemento.Timbre.SelloSAT == "" || c.Sello != c.Complemento.Timbre.SelloCFD {
		t.Errorf("the stamp is %+v", c.Complemento.Timbre)
	}
	again, err := c.XML()
	if err != nil {
		t.Fatal(err)
	}
	want, errWant := cartaporte.Original(text)
	got, errGot := cartaporte.Original(again)
	if errWant != nil || errGot != nil || got != want {
		t.Errorf("read %s\nwant %s (%v, %v)", got, want, errGot, errWant)
	}
	if _, err := cartaporte.Leer([]byte("<cfdi:Comprobante")); err == nil {
		t.Error("invalid XML is accepted")
	}
}

// TestImprimir: the same document yields the same PDF, with as many sheets as it needs. PDF=dir keeps the files for review.
func TestImprimir(t *testing.T) {
	t.Parallel()
	for _, goods := range []int{2, 120} {
		text := stamped(t, goods)
		first, err := cartaporte.Imprimir(text, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := cartaporte.Imprimir(text, "")
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("%d goods: two results differ: %v", goods, err)
		}
		if sheets := bytes.Count(first, []byte("/Type /Page\n")); (goods > 100) != (sheets > 2) || sheets == 0 {
			t.Errorf("%d goods on %d sheets", goods, sheets)
		}
		if dir := os.Getenv("PDF"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("carta-%d.pdf", goods)), first, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestImprimirCancelled: each sheet of a cancelled document says so.
func TestImprimirCancelled(t *testing.T) {
	t.Parallel()
	document := stamped(t, 120)
	for _, since := range []string{"CANCELADA", "CANCELACIÓN EN PROCESO"} {
		printed, err := cartaporte.Imprimir(document, since)
		if err != nil {
			t.Fatal(err)
		}
		sheets := bytes.Count(printed, []byte("/Type /Page\n"))
		if n := cartaportetest.Printed(printed, since); n != sheets+1 { // and at the top of the first
			t.Errorf("%s is printed %d times on %d sheets", since, n, sheets)
		}
		valid, err := cartaporte.Imprimir(document, "")
		if err != nil || cartaportetest.Printed(valid, since) != 0 || bytes.Count(valid, []byte("/Type /Page\n")) != sheets {
			t.Errorf("a valid document says %s: %v", since, err)
		}
	}
}

// TestImprimirAnyText: whatever texts a document has, it can be printed, because a stamped one cannot be changed any more.
func TestImprimirAnyText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"😀", strings.Repeat("😀", 254), "𝕏", "日本語", "مرحبا", "e\u0301", "\u200b", "\ufffd", strings.Repeat("W", 254)} {
		d := document(t)
		d.Emisor.Nombre, d.Receptor.Nombre, d.Autotransporte.NumPermisoSCT = text, text, text
		d.Mercancias[0].Descripcion, d.Figuras[0].Nombre, d.Ubicaciones[0].Domicilio.Calle = text, text, text
		pac := cartaporte.NewLocal(time.Now)
		stamp, err := pac.Timbrar(t.Context(), cartaporte.Solicitud{Referencia: "one", Comprobante: d.Comprobante()})
		if err != nil {
			t.Fatal(err)
		}
		if printed, err := cartaporte.Imprimir(stamp.XML, ""); err != nil || !bytes.HasPrefix(printed, []byte("%PDF-")) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestBuscar finds keys by prefix, then by words.
func TestBuscar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   cartaporte.Catalogo
		text string
		want string
	}{
		{cartaporte.ClaveUnidad, "kg", "KGM"},
		{cartaporte.ClaveUnidad, "kilogr", "KGM"},
		{cartaporte.ClaveUnidad, "metro CUBICO", "MTQ"},
		{cartaporte.TipoPermiso, "tpaf0", "TPAF01"},
		{cartaporte.ConfigAutotransporte, "tractocamion", "T2S1"},
		{cartaporte.ClaveUnidad, "no existe", ""},
	} {
		found := c.in.Buscar(c.text, 20)
		at := slices.IndexFunc(found, func(l cartaporte.Linea) bool { return l.Clave == c.want })
		if (c.want == "") != (len(found) == 0) || c.want != "" && at < 0 {
			t.Errorf("%s %q: %v", c.in, c.text, found)
		}
		for _, l := range found {
			if strings.TrimSpace(l.Descripcion) == "" {
				t.Errorf("%s %s has no description", c.in, l.Clave)
			}
		}
	}
	if got := len(cartaporte.Catalogo("estado").Buscar("", 5)); got != 5 {
		t.Errorf("%d states, want 5", got)
	}
}
