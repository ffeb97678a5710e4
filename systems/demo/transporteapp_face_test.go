package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/web/webtest"
)

// client calls a system as a user.
type client struct {
	t           *testing.T
	base, token string
	calls       int
}

func newClient(t *testing.T, web, system, sub string, admin bool) *client {
	t.Helper()
	form := url.Values{"system": {system}, "sub": {sub}, "admin": {strconv.FormatBool(admin)}}
	token := systemtest.Call(t, http.MethodPost, web+"/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	return &client{t: t, base: web + "/" + system, token: strings.TrimSpace(token.Body)}
}

// carrier calls TransporteApp as a company.
type carrier struct{ *client }

func newCarrier(t *testing.T, web, sub string) carrier {
	t.Helper()
	return carrier{newClient(t, web, "transporteapp", sub, false)}
}

// do sends a request and returns a string from its response.
func (c *client) do(method, path string, body any, field string) string {
	c.t.Helper()
	text, _ := c.response(method, path, body)[field].(string)
	return text
}

// response sends a request and returns its response.
func (c *client) response(method, path string, body any) map[string]any {
	c.t.Helper()
	c.calls++
	sent, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	got := systemtest.Call(c.t, method, c.base+path, string(sent),
		"Authorization", "Bearer "+c.token, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("page-", c.calls))
	if got.Status >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(got.Body), &out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (c carrier) driver(name string, licence time.Time) string {
	return c.do(http.MethodPost, "/conductores", driverNamed(name, licence), "conductorId")
}

func driverNamed(name string, licence time.Time) map[string]any {
	return map[string]any{
		"nombre": name, "rfc": "CACX7605101P8", "curp": "HEGG560427MVZRRL04",
		"licencia": map[string]any{"tipo": "E", "numero": "ABC123456", "vigencia": licence.Format(time.DateOnly)},
	}
}

func (c carrier) vehicle(plate string) string {
	return c.do(http.MethodPost, "/vehiculos", map[string]any{
		"placa": plate, "configVehicular": "T3S2", "anioModeloVm": 2022, "pesoBrutoVehicular": 17, "permSct": "TPAF01",
		"numPermisoSct": "12345", "aseguraRespCivil": "Seguros XYZ", "polizaRespCivil": "POL-123456",
	}, "vehiculoId")
}

// trip creates a local trip, with a driver and a vehicle unless these are "".
func (c carrier) trip(name string, from time.Time, length time.Duration, driver, vehicle string) string {
	id := c.do(http.MethodPost, "/viajes", tripNamed(name, from, length), "viajeId")
	if driver != "" {
		c.do(http.MethodPut, "/viajes/"+id+"/recursos", map[string]any{"conductorId": driver, "vehiculoId": vehicle}, "viajeId")
	}
	return id
}

func tripNamed(name string, from time.Time, length time.Duration) map[string]any {
	return map[string]any{
		"nombre": name, "origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 540, "local": true,
		"fechaInicioProgramada": from, "fechaFinProgramada": from.Add(length),
	}
}

// createTrip creates a trip that needs a carta, with a driver and a vehicle.
func (c carrier) createTrip(name string, from time.Time, driver, vehicle, trailer string) string {
	id := c.do(http.MethodPost, "/viajes", map[string]any{
		"nombre": name, "origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 540, "fechaInicioProgramada": from, "fechaFinProgramada": from.Add(8 * time.Hour),
	}, "viajeId")
	c.do(http.MethodPut, "/viajes/"+id+"/recursos", map[string]any{"conductorId": driver, "vehiculoId": vehicle, "remolqueId": trailer}, "viajeId")
	return id
}

// pick types into a combobox and selects the result.
func pick(p *webtest.Page, name, key string) {
	found := `[...document.querySelectorAll(".combobox-option")].find((e) => e.querySelector("b").textContent === "` + key + `")`
	p.Type("input[name='"+name+"']", key)
	p.Until(found + " !== undefined")
	p.Eval("void " + found + ".click()")
}

// typed types into fields by name.
func typed(p *webtest.Page, fields ...string) {
	for i := 0; i < len(fields); i += 2 {
		p.Type("input[name='"+fields[i]+"']", fields[i+1])
	}
}

// set sets a field or selection that cannot be typed into.
func set(p *webtest.Page, selector, value, event string) {
	p.Wait(selector)
	p.Eval(fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event(%q, { bubbles: true })); })(document.querySelector(%q))`, value, event, selector))
}

// desk is a dispatcher's browser, signed in.
func desk(t *testing.T, r *running, sub string, options ...webtest.Option) *webtest.Page {
	t.Helper()
	p := webtest.Open(t, r.web+"/transporteapp/", append(options, webtest.Language("es-MX"), webtest.Midday)...)
	p.Button("Iniciar sesión")
	signIn(p, sub)
	return p
}

// TestTrucking: a day in the life of a carrier. A company is set up with a fleet. A trip is planned and assigned to an available
// driver, who is invited, starts it, reports positions and delivers on a phone while the board updates itself. A carta is created
// from a trip, filled in, stamped and printed. A removed driver immediately loses access, and so does a phone that its user signs out
// from another device.
func TestTrucking(t *testing.T) {
	t.Parallel()
	const sub = "u-flota"
	r := serveAll(t, registered(), "--memory")
	p := desk(t, r, sub, webtest.Expect("409"), webtest.Expect("status of 412"))
	p.Wait("input[name=fullName]")
	p.Accessible()
	typed(p, "fullName", "Transportes del Bajío y Occidente", "email", "trafico@bajio.example.com")
	p.Button("Registrar empresa")
	p.UntilText("Su flota está vacía")
	p.Shot("trucking-first")

	p.Button("Empresa")
	p.UntilText("Complete los datos fiscales")
	typed(p, "rfcEmisor", "EKU9003173C9", "razonSocial", "ESCUELA KEMPER URGATE", "domicilioFiscal.codigoPostal", "06600")
	pick(p, "regimenFiscal", "601")
	p.Type("input[name='domicilioFiscal.estado']", "ciudad")
	p.Until(`document.querySelector(".combobox-option[aria-selected=true] b").textContent === "CMX"`)
	p.Accessible()
	p.Shot("trucking-company")
	p.Press("\r")
	p.Until(`document.querySelector("input[name='domicilioFiscal.estado']").value === "CMX"`)
	p.Type("input[name='domicilioFiscal.estado']", "\b\b\bjal\r") // Enter before the result arrives
	p.Until(`document.querySelector("input[name='domicilioFiscal.estado']").value === "JAL"`)
	p.Type("input[name='domicilioFiscal.estado']", "\b\b\bciudad\r")
	p.Until(`document.querySelector("input[name='domicilioFiscal.estado']").value === "CMX"`)
	p.Eval(`(() => { // more is typed, and Enter pressed, while the search for the first letter is in progress
		const state = document.querySelector("input[name='domicilioFiscal.estado']"), setTimeout = window.setTimeout;
		const type = (text) => { state.value = text; state.dispatchEvent(new Event("input", { bubbles: true })); };
		window.setTimeout = (search, rest) => {
			window.setTimeout = rest === 0 ? setTimeout : window.setTimeout;
			return setTimeout(() => {
				search();
				if (rest !== 0) return;
				type("jal");
				state.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
			}, rest);
		};
		type("c");
	})()`)
	p.Until(`document.querySelector("input[name='domicilioFiscal.estado']").value === "JAL"`)
	p.Type("input[name='domicilioFiscal.estado']", "\b\b\bciudad\r")
	p.Until(`document.querySelector("input[name='domicilioFiscal.estado']").value === "CMX"`)
	p.Button("Guardar")
	p.Until(`!document.body.innerText.includes("Complete los datos fiscales")`)

	p.Button("Flota")
	p.UntilText("Aún no hay operadores")
	p.Button("Agregar operador")
	p.Wait("dialog[open] input[name=nombre]")
	typed(p, "nombre", "Ximena Ruvalcaba Ortiz", "rfc", "cacx7605101p8", "curp", "HEGG560427MVZRRL04", "licencia.numero", "ABC123456")
	set(p, "input[name='licencia.vigencia']", "2040-06-15", "input")
	p.Accessible()
	p.Shot("trucking-add")
	p.Button("Agregar")
	p.UntilText("Agregado a su flota")

	now := time.Now()
	later := now.AddDate(10, 0, 0)
	c := newCarrier(t, r.web, sub)
	pedro, ana := c.driver("Pedro López Hernández", later), c.driver("Ana María Gutiérrez Santillán de la Fuente", now.AddDate(0, 0, 12))
	luis := c.driver("Luis Núñez", later)
	one, two, three := c.vehicle("ABC-123"), c.vehicle("JAL-9087"), c.vehicle("NLE-445")
	trailer := c.do(http.MethodPost, "/remolques", map[string]any{"placa": "REM-001", "subTipoRem": "CTR007", "seguroVigencia": now.AddDate(0, 0, -2).Format(time.DateOnly)}, "remolqueId")
	c.trip("CDMX – Guadalajara, abarrotes", now.Add(time.Hour), 7*time.Hour, pedro, one)
	c.trip("León – Querétaro", now.Add(2*time.Hour), 3*time.Hour, "", "")
	c.trip("Aguascalientes – Guadalajara", now.Add(24*time.Hour), 9*time.Hour, luis, two)
	c.do(http.MethodPost, "/viajes/"+c.trip("Monterrey – Saltillo", now.Add(-3*time.Hour), 5*time.Hour, ana, three)+"/iniciar", nil, "viajeId")

	p.Button("Tablero")
	p.UntilText("Pedro López Hernández")
	p.UntilText("En vivo")
	p.Button("Nuevo viaje")
	p.Wait("dialog[open] input[name=origen]")
	typed(p, "origen", "Celaya", "destino", "Irapuato", "km", "62.5")
	p.Click("dialog[open] [role=switch]")
	p.Accessible()
	p.Shot("trucking-new")
	p.Button("Programar viaje")
	p.UntilText("Aún nadie")
	p.Button("Editar")
	p.Wait("dialog[open] input[name=nombre]")
	p.Type("input[name=nombre]", ", urgente")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("Celaya – Irapuato, urgente")
	p.Button("Asignar")
	p.Wait("dialog[open] input[name=driver]")
	p.Click(`input[name=driver][value="Pedro López Hernández"]`)
	p.Click(`input[name=vehicle][value="JAL-9087"]`)
	p.UntilText("tiene «CDMX – Guadalajara, abarrotes»")
	p.Until(`document.querySelector("dialog[open] .float-foot .primary").disabled`) // a conflict cannot be saved
	p.Accessible()
	p.Shot("trucking-conflict")
	p.Click(`input[name=driver][value="Luis Núñez"]`)
	p.Button("Asignar")
	p.UntilText("Asignado a Luis Núñez")
	p.UntilText("Iniciar viaje")
	p.Shot("trucking-trip")
	p.Button("Cerrar")
	p.Until(`document.querySelectorAll(".bar").length >= 1`)

	phone := invited(t, r, p)
	p.Button("Tablero")
	p.Wait(".trip-card")
	driven(phone, p)
	issued(p, c.createTrip("Azúcar a Guadalajara", now.Add(48*time.Hour), pedro, one, trailer))
	trip := c.createTrip("Harina a Mérida", now.Add(5*time.Hour), ana, two, trailer)
	draft := c.do(http.MethodPost, "/viajes/"+trip+"/cartas", map[string]any{"receptor": map[string]any{
		"rfc": "IIA040805DZ4", "nombre": "INDISTRIA ILUMINADORA DE ALMACENES", "regimenFiscal": "601", "usoCfdi": "S01",
		"domicilioFiscal": map[string]any{"codigoPostal": "44100", "estado": "JAL"},
	}}, "cartaId")
	spanish, portuguese, english := webtest.Language("es-MX"), webtest.Language("pt-BR"), webtest.Language("en-US")
	for _, options := range [][]webtest.Option{
		{spanish, webtest.Desk, webtest.Dark},
		{spanish, webtest.Tablet, webtest.Dark},
		{spanish, webtest.Phone},
		{portuguese, webtest.Desk},
		{portuguese, webtest.Phone, webtest.Dark},
		{english, webtest.Desk},
		{english, webtest.Phone},
	} {
		looked(t, r, sub, pedro, trip, draft, options)
	}

	p.Button("Miembros")
	p.Button("Acciones de Transportes del Bajío y Occidente")
	p.Button("Dejar la empresa")
	p.Click("dialog[open] .float-foot .danger")
	p.UntilText("La empresa necesita al menos un propietario")
	p.Button("Acciones de Luis Núñez")
	p.Button("Quitar de la empresa")
	p.Click("dialog[open] .float-foot .danger")
	p.UntilText("Luis Núñez ya no actúa por la empresa")
	phone.UntilText("Registre su empresa") // a driver without a company

	other := desk(t, r, "u-luis")
	other.Until(`localStorage.getItem("transporteapp-listed") !== null`)
	other.Button("Cuenta")
	other.Button("Dispositivos")
	other.Until(`document.querySelectorAll("dialog[open] .plain-list li").length === 2`)
	other.Accessible()
	other.Shot("trucking-devices")
	other.Click("dialog[open] .plain-list .button")
	other.UntilText("Se cerró la sesión")
	phone.Do(chromedp.Reload())
	phone.UntilText("Iniciar sesión")
}

// invited makes a driver a member, from the owner's page to the driver's phone.
func invited(t *testing.T, r *running, p *webtest.Page) *webtest.Page {
	t.Helper()
	p.Button("Miembros")
	p.UntilText("No hay invitaciones pendientes")
	p.Accessible()
	p.Button("Invitar")
	p.Wait("dialog[open] select[name=rol]")
	set(p, "dialog[open] select[name=rol]", "conductor", "input")
	p.Wait("dialog[open] select[name=conductorId]")
	p.Eval(`((e) => { e.value = [...e.options].find((o) => o.text === "Luis Núñez").value; e.dispatchEvent(new Event("input", { bubbles: true })); })(document.querySelector("dialog[open] select[name=conductorId]"))`)
	p.Shot("trucking-invite")
	p.Button("Crear invitación")
	p.UntilText("Invitación para Luis Núñez")
	p.Accessible()
	p.Shot("trucking-invited")
	address := p.Text(".invite-address code")
	p.Button("Listo")
	p.UntilText("vale hasta el")
	p.Shot("trucking-members")

	phone := webtest.Open(t, address, webtest.Phone, webtest.Language("es-MX"), webtest.Midday, webtest.Expect("403"), webtest.Expect("401"))
	phone.Button("Iniciar sesión")
	signIn(phone, "u-luis")
	phone.UntilText("Lo invitaron a una empresa")
	phone.Accessible()
	phone.Shot("trucking-join")
	phone.Button("Aceptar invitación")
	phone.UntilText("Irapuato")
	return phone
}

// driven takes a trip to its end on the driver's phone, while the board shows it live.
func driven(phone, board *webtest.Page) {
	phone.Accessible()
	phone.Width()
	phone.Shot("trucking-driver-next")
	phone.Button("Iniciar")
	phone.UntilText("Enviar mi posición")
	card := `[...document.querySelectorAll(".trip-card")].find((e) => e.textContent.includes("Celaya"))`
	board.Until(card + `.closest(".column").querySelector("h2").textContent.startsWith("En curso")`)
	phone.Eval(`navigator.geolocation.getCurrentPosition = (found) => found({ coords: { latitude: 20.52353, longitude: -100.8157 }, timestamp: Date.now() })`)
	phone.Button("Enviar mi posición")
	phone.UntilText("Su oficina ya sabe dónde está")
	board.Until(card + `.querySelector(".trip-progress") !== null`)
	phone.Accessible()
	phone.Shot("trucking-driver-moving")
	board.Accessible()
	board.Shot("trucking-board")
	phone.Button("Entregar")
	phone.UntilText("¿Llegó a Irapuato?")
	phone.Click("dialog[open] .float-foot .primary")
	phone.UntilText("Aguascalientes") // the next trip
	phone.Shot("trucking-driver-after")
	board.Until(card + `.closest(".column").querySelector("h2").textContent.startsWith("Completado")`)
}

// issued takes a carta from the trip to its documents.
func issued(p *webtest.Page, trip string) {
	p.Eval(fmt.Sprintf(`location.hash = "#/?trip=%s"`, trip))
	p.Button("Crear carta porte")
	p.Wait("dialog[open] input[name=rfc]")
	typed(p, "rfc", "IIA040805DZ4", "nombre", "INDISTRIA ILUMINADORA DE ALMACENES", "domicilioFiscal.codigoPostal", "44100")
	pick(p, "regimenFiscal", "601")
	pick(p, "domicilioFiscal.estado", "JAL")
	p.Accessible()
	p.Shot("trucking-receiver")
	p.Button("Crear borrador")
	p.UntilText("Falta para timbrar")
	p.UntilText("falta 1")
	p.Accessible()
	p.Shot("trucking-carta")
	p.Button("Agregar mercancía")
	p.Wait("dialog[open] input[name=claveProdServ]")
	typed(p, "descripcion", "Azúcar refinada", "cantidad", "400", "pesoKg", "20000", "claveProdServ", "99") //nolint:misspell // Spanish
	p.UntilText("no es una clave de c_ClaveProdServCP")
	p.Accessible()
	p.Shot("trucking-good")
	p.Eval(`document.querySelector("dialog[open] input[name=claveProdServ]").select()`)
	p.Type("dialog[open] input[name=claveProdServ]", "50161509")
	p.Until(`!document.body.innerText.includes("no es una clave de c_ClaveProdServCP")`)
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("Lista para timbrar")
	p.Shot("trucking-carta-ready")
	p.Button("Timbrar")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("Timbre de prueba, sin validez fiscal")
	p.Accessible()
	p.Shot("trucking-stamped")
	p.Eval(`((make) => { window.kept = []; URL.createObjectURL = (file) => { void file.text().then((text) => { window.kept.push(text); }); return make(file); }; })(URL.createObjectURL.bind(URL))`)
	p.Button("Descargar XML")
	p.Until(`window.kept.some((text) => text.includes("CartaPorte31"))`)
	p.Button("Descargar PDF")
	p.Until(`window.kept.some((text) => text.startsWith("%PDF-"))`)
}

// looked checks the pages in a window and a language, for an owner with a driver's trip and an unfinished carta.
func looked(t *testing.T, r *running, sub, driver, trip, draft string, options []webtest.Option) {
	t.Helper()
	base := r.web + "/transporteapp/"
	p := openAs(t, base, newCarrier(t, r.web, sub).token, append(options, webtest.Midday)...)
	for _, view := range []struct{ name, hash, shows string }{
		{"board", "#/", ".trip-card"},
		{"trip", "#/?trip=" + trip, "dialog[open] .float-head"},
		{"fleet", "#/fleet", ".table tbody tr"},
		{"ending", "#/fleet?show=ending", ".table tbody tr"},
		{"members", "#/members", ".table tbody tr"},
		{"company", "#/company", "input[name=rfcEmisor]"},
		{"driver", "#/driver/" + driver, ".my-trip"},
		{"carta", "#/cartas/" + cartaOf(t, r, sub), ".carta-aside"},
		{"draft", "#/cartas/" + draft, ".carta-aside"},
	} {
		p.Go(base + view.hash)
		p.Wait(view.shows)
		p.Until(`document.querySelector("[aria-busy=true]") === null`)
		p.Until(`[...document.querySelectorAll("[aria-current=page], [aria-selected=true]")].every((e) => e.getBoundingClientRect().right <= innerWidth)`)
		p.Until(`[...document.querySelectorAll("td .badge")].every((e) => e.getBoundingClientRect().right <= e.closest("td").getBoundingClientRect().right + 1)`)
		p.Accessible()
		p.Width()
		p.Shot("trucking-" + view.name)
	}
	p.Close()
}

// cartaOf returns the id of a company's first carta.
func cartaOf(t *testing.T, r *running, sub string) string {
	t.Helper()
	return newCarrier(t, r.web, sub).do(http.MethodGet, "/folios/CP-000001", nil, "cartaId")
}

// TestReadersDay: a licence is valid until the end of its last day, and a trip is on the day on which it starts, where the reader is,
// although it is another day in UTC.
func TestReadersDay(t *testing.T) {
	t.Parallel()
	r := serveAll(t, registered(), "--memory")
	const sub = "u-zonas"
	c := newCarrier(t, r.web, sub)
	c.do(http.MethodPut, "/perfil", map[string]any{
		"email": "ana@transportes.mx", "fullName": "Transportes", "timezone": "America/Mexico_City", "config": map[string]any{
			"rfcEmisor": "EKU9003173C9", "razonSocial": "ESCUELA KEMPER URGATE", "regimenFiscal": "601", "domicilioFiscal": map[string]any{"codigoPostal": "06600", "estado": "CMX"},
		},
	}, "userId")
	zone, ahead, starts := "Etc/GMT+12", -12*time.Hour, 23*time.Hour // where it is yesterday; the sign is the opposite of the usual one
	if time.Now().UTC().Hour() >= 12 {
		zone, ahead, starts = "Etc/GMT-14", 14*time.Hour, time.Hour // where it is tomorrow
	}
	today := time.Now().UTC().Add(ahead).Truncate(24 * time.Hour)
	c.driver("Hoy", today)
	c.driver("Ayer", today.AddDate(0, 0, -1))
	trip := tripNamed("Azúcar", today.Add(starts-ahead), 8*time.Hour)
	trip["local"], trip["carta"] = false, map[string]any{"receptor": map[string]any{
		"rfc": "IIA040805DZ4", "nombre": "INDISTRIA ILUMINADORA DE ALMACENES", "regimenFiscal": "601", "usoCfdi": "S01",
		"domicilioFiscal": map[string]any{"codigoPostal": "44100", "estado": "JAL"},
	}}
	carta, _ := c.response(http.MethodPost, "/viajes", trip)["carta"].(map[string]any)

	p := webtest.Open(t, r.web+"/transporteapp/#/fleet", webtest.Language("es-MX"), webtest.TimeZone(zone))
	p.Button("Iniciar sesión")
	signIn(p, sub)
	p.UntilText("Hoy")
	for name, says := range map[string]string{"Hoy": "hasta el", "Ayer": "venció el"} {
		p.Until(fmt.Sprintf(`[...document.querySelectorAll("tr")].find((row) => row.textContent.includes(%q)).textContent.includes(%q)`, name, says))
	}
	p.Go(fmt.Sprint(r.web, "/transporteapp/#/cartas/", carta["cartaId"]))
	p.Wait(".carta-head a")
	p.Until(`document.querySelector(".carta-head a").href.includes("day=` + today.Format(time.DateOnly) + `")`)
}
