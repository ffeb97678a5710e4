package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// carrier calls TransporteApp as a company.
type carrier struct {
	t     *testing.T
	web   string
	token string
	calls int
}

func newCarrier(t *testing.T, web, sub string) *carrier {
	t.Helper()
	token := systemtest.Call(t, http.MethodPost, web+"/token", "system=transporteapp&sub="+sub, "Content-Type", "application/x-www-form-urlencoded")
	return &carrier{t: t, web: web, token: strings.TrimSpace(token.Body)}
}

// do makes a request and returns a text of its response.
func (c *carrier) do(method, path string, body any, field string) string {
	c.t.Helper()
	c.calls++
	sent, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	got := systemtest.Call(c.t, method, c.web+"/transporteapp"+path, string(sent),
		"Authorization", "Bearer "+c.token, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("page-", c.calls))
	if got.Status >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(got.Body), &out); err != nil {
		c.t.Fatal(err)
	}
	text, _ := out[field].(string)
	return text
}

func (c *carrier) driver(name string, licence time.Time) string {
	return c.do(http.MethodPost, "/conductores", map[string]any{
		"nombre": name, "rfc": "CACX7605101P8", "curp": "HEGG560427MVZRRL04",
		"licencia": map[string]any{"tipo": "E", "numero": "ABC123456", "vigencia": licence.Format(time.DateOnly)},
	}, "conductorId")
}

func (c *carrier) vehicle(plate string) string {
	return c.do(http.MethodPost, "/vehiculos", map[string]any{
		"placa": plate, "configVehicular": "T3S2", "anioModeloVm": 2022, "pesoBrutoVehicular": 17, "permSct": "TPAF01",
		"numPermisoSct": "12345", "aseguraRespCivil": "Seguros XYZ", "polizaRespCivil": "POL-123456",
	}, "vehiculoId")
}

// trip makes a local trip, and gives it a driver and a vehicle unless they are "".
func (c *carrier) trip(name string, from time.Time, length time.Duration, driver, vehicle string) string {
	id := c.do(http.MethodPost, "/viajes", map[string]any{
		"nombre": name, "origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 540, "local": true,
		"fechaInicioProgramada": from, "fechaFinProgramada": from.Add(length),
	}, "viajeId")
	if driver != "" {
		c.do(http.MethodPut, "/viajes/"+id+"/recursos", map[string]any{"conductorId": driver, "vehiculoId": vehicle}, "viajeId")
	}
	return id
}

// stamped makes a trip whose carta is stamped.
func (c *carrier) stamped(name string, from time.Time) {
	type object = map[string]any
	mexico, jalisco := object{"codigoPostal": "06600", "estado": "CMX"}, object{"codigoPostal": "44100", "estado": "JAL"}
	c.do(http.MethodPut, "/perfil", object{
		"email": "trafico@bajio.example.com", "fullName": "Transportes del Bajío y Occidente", "timezone": "America/Mexico_City",
		"config": object{"rfcEmisor": "EKU9003173C9", "razonSocial": "ESCUELA KEMPER URGATE", "regimenFiscal": "601", "domicilioFiscal": mexico},
	}, "userId")
	id := c.do(http.MethodPost, "/viajes", object{
		"nombre": name, "origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 540, "fechaInicioProgramada": from, "fechaFinProgramada": from.Add(time.Hour),
	}, "viajeId")
	carta := "/cartas/" + c.do(http.MethodPost, "/viajes/"+id+"/cartas", object{"receptor": object{
		"rfc": "IIA040805DZ4", "nombre": "INDISTRIA ILUMINADORA DE ALMACENES", "regimenFiscal": "601", "usoCfdi": "S01", "domicilioFiscal": jalisco,
	}}, "cartaId")
	c.do(http.MethodPut, carta+"/autotransporte", object{
		"permSct": "TPAF01", "numPermisoSct": "12345", "configVehicular": "C2", "placaVm": "ABC-123", "anioModeloVm": 2022,
		"pesoBrutoVehicular": 17.5, "aseguraRespCivil": "Seguros XYZ", "polizaRespCivil": "POL-123456",
	}, "cartaId")
	at := func(t time.Time) string { return t.Format("2006-01-02T15:04:05") }
	c.do(http.MethodPut, carta+"/ubicaciones", object{"ubicaciones": []object{
		{"tipo": "Origen", "idUbicacion": "OR000001", "rfcRemitenteDestinatario": "EKU9003173C9", "fechaHoraSalidaLlegada": at(from), "domicilio": mexico},
		{
			"tipo": "Destino", "idUbicacion": "DE000001", "rfcRemitenteDestinatario": "IIA040805DZ4", "fechaHoraSalidaLlegada": at(from.Add(time.Hour)),
			"distanciaRecorrida": 540, "domicilio": jalisco,
		},
	}}, "cartaId")
	c.do(http.MethodPut, carta+"/figuras", object{"figuras": []object{
		{"tipoFigura": "01", "rfcFigura": "CACX7605101P8", "nombreFigura": "Pedro López", "numLicencia": "ABC123456"},
	}}, "cartaId")
	c.do(http.MethodPost, carta+"/mercancias", object{"mercancias": []object{
		{"claveProdServ": "50161509", "claveUnidad": "KGM", "descripcion": "Azúcar", "cantidad": 100, "pesoKg": 100}, //nolint:misspell // Spanish
	}}, "cartaId")
	c.do(http.MethodPost, carta+"/sellar", nil, "cartaId")
	c.do(http.MethodPost, carta+"/timbrado", nil, "cartaId")
}

// TestTrucking: a day of a carrier. A company is set up and gets a fleet, a trip is planned and assigned to who is free, its
// driver starts it, says where it is and delivers it, and the board follows.
func TestTrucking(t *testing.T) {
	t.Parallel()
	const sub = "u-flota"
	r := serveAll(t, registered(), "--memory")
	desk := webtest.Open(t, r.web+"/transporteapp/", webtest.Language("es-MX"), webtest.Expect("404"))
	desk.Button("Iniciar sesión")
	signIn(desk, sub)
	desk.Wait("input[name=fullName]")
	desk.Accessible()
	desk.Type("input[name=fullName]", "Transportes del Bajío y Occidente")
	desk.Type("input[name=email]", "trafico@bajio.example.com")
	desk.Button("Registrar empresa")
	desk.UntilText("Su flota está vacía")
	desk.Shot("trucking-first")

	desk.Eval(`location.hash = "#/fleet"`)
	desk.UntilText("Aún no hay operadores")
	desk.Button("Agregar operador")
	desk.Wait("dialog[open] input[name=nombre]")
	for name, text := range map[string]string{"nombre": "Ximena Ruvalcaba Ortiz", "rfc": "cacx7605101p8", "curp": "HEGG560427MVZRRL04", "licencia.numero": "ABC123456"} {
		desk.Type("input[name='"+name+"']", text)
	}
	desk.Eval(`((e) => { e.value = "2040-06-15"; e.dispatchEvent(new Event("input", { bubbles: true })); })(document.querySelector("input[name='licencia.vigencia']"))`)
	desk.Shot("trucking-add")
	desk.Button("Agregar")
	desk.UntilText("Agregado a su flota")

	now := time.Now()
	later := now.AddDate(10, 0, 0)
	c := newCarrier(t, r.web, sub)
	pedro, ana := c.driver("Pedro López Hernández", later), c.driver("Ana María Gutiérrez Santillán de la Fuente", now.AddDate(0, 0, 12))
	luis := c.driver("Luis Núñez", later)
	one, two, three := c.vehicle("ABC-123"), c.vehicle("JAL-9087"), c.vehicle("NLE-445")
	c.do(http.MethodPost, "/remolques", map[string]any{"placa": "REM-001", "subTipoRem": "CTR007"}, "remolqueId")
	c.trip("CDMX – Guadalajara, abarrotes", now.Add(time.Hour), 7*time.Hour, pedro, one)
	c.trip("León – Querétaro", now.Add(2*time.Hour), 3*time.Hour, "", "")
	c.trip("Aguascalientes – Guadalajara", now.Add(24*time.Hour), 9*time.Hour, luis, two)
	c.do(http.MethodPost, "/viajes/"+c.trip("Monterrey – Saltillo", now.Add(-3*time.Hour), 5*time.Hour, ana, three)+"/iniciar", nil, "viajeId")

	c.stamped("Azúcar a Guadalajara", now.Add(time.Minute))

	desk.Eval(`location.hash = "#/"`)
	desk.UntilText("Pedro López Hernández")
	desk.Button("Nuevo viaje")
	desk.Wait("dialog[open] input[name=origen]")
	desk.Type("input[name=origen]", "Celaya")
	desk.Type("input[name=destino]", "Irapuato")
	desk.Type("input[name=km]", "62.5")
	desk.Click("dialog[open] [role=switch]")
	desk.Accessible()
	desk.Shot("trucking-new")
	desk.Button("Programar viaje")
	desk.UntilText("Aún nadie")
	desk.Button("Asignar")
	desk.Wait("dialog[open] input[name=driver]")
	desk.Click(`input[name=driver][value="Pedro López Hernández"]`)
	desk.Click(`input[name=vehicle][value="JAL-9087"]`)
	desk.UntilText("tiene «CDMX – Guadalajara, abarrotes»")
	desk.Until(`document.querySelector("dialog[open] .float-foot .primary").disabled`) // a conflict cannot be saved
	desk.Accessible()
	desk.Shot("trucking-conflict")
	desk.Click(`input[name=driver][value="Luis Núñez"]`)
	desk.Button("Asignar")
	desk.UntilText("Asignado a Luis Núñez")
	desk.UntilText("Iniciar viaje")
	desk.Shot("trucking-trip")
	desk.Button("Cerrar")
	desk.Until(`document.querySelectorAll(".bar").length >= 1`)
	desk.Accessible()
	desk.Shot("trucking-board")

	desk.Eval(`[...document.querySelectorAll(".trip-card")].find((e) => e.textContent.includes("Azúcar")).click()`)
	desk.UntilText("CP-000001 · timbrada")
	desk.Eval(`((make) => { URL.createObjectURL = (file) => { void file.text().then((text) => { window.downloaded = text; }); return make(file); }; })(URL.createObjectURL.bind(URL))`)
	desk.Button("Descargar XML")
	desk.Until(`(window.downloaded ?? "").includes("CartaPorte31")`)
	desk.Shot("trucking-stamped")

	phone := webtest.Open(t, r.web+"/transporteapp/#/driver", webtest.Phone, webtest.Language("es-MX"))
	phone.Button("Iniciar sesión")
	signIn(phone, sub)
	phone.Button("LNLuis Núñez")
	phone.UntilText("Irapuato")
	phone.Accessible()
	phone.Width()
	phone.Shot("trucking-driver-next")
	phone.Button("Iniciar")
	phone.UntilText("Enviar mi posición")
	phone.Eval(`navigator.geolocation.getCurrentPosition = (found) => found({ coords: { latitude: 20.52353, longitude: -100.8157 }, timestamp: Date.now() })`)
	phone.Button("Enviar mi posición")
	phone.UntilText("Su oficina ya sabe dónde está")
	phone.Accessible()
	phone.Shot("trucking-driver-moving")
	phone.Button("Entregar")
	phone.UntilText("¿Llegó a Irapuato?")
	phone.Click("dialog[open] .float-foot .primary")
	phone.UntilText("Aguascalientes") // the next one
	phone.Shot("trucking-driver-after")

	for _, look := range []struct {
		options []webtest.Option
		says    string
	}{
		{[]webtest.Option{webtest.Desk, webtest.Dark, webtest.Language("es-MX")}, "Por asignar"},
		{[]webtest.Option{webtest.Tablet, webtest.Language("es-MX"), webtest.Dark}, "Por asignar"},
		{[]webtest.Option{webtest.Phone, webtest.Language("es-MX"), webtest.Dark}, "Por asignar"},
	} {
		p := webtest.Open(t, r.web+"/transporteapp/", look.options...)
		p.Button("Iniciar sesión")
		signIn(p, sub)
		p.UntilText(look.says)
		p.Accessible()
		p.Width()
		p.Shot("trucking-board")
		p.Eval(`location.hash = "#/fleet"`)
		p.UntilText("1 licencia vence pronto")
		p.Accessible()
		p.Width()
		p.Shot("trucking-fleet")
	}
	r.end(t)
}
