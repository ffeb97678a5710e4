package demo

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/web/webtest"
)

// TestCartaOfTwoDispatchers: two dispatchers fill in one carta. The page shows all its goods, and stores nothing over what the other has
// changed: goods, places. It asks before it discards input. A draft follows its trip when that is moved or reassigned; a
// stamped carta warns, and is replaced by another one.
func TestCartaOfTwoDispatchers(t *testing.T) {
	t.Parallel()
	const what = "descripcion" //nolint:misspell // Spanish
	const described = "dialog[open] [name=" + what + "]"
	const changed, keep, load = "Otra persona modificó esto después de que se abrió", "Conservar la mía", "Cargar la versión actual"
	r := serveAll(t, registered(), "--memory")
	c := newCarrier(t, r.web, "u-cartas")
	c.do(http.MethodPut, "/perfil", map[string]any{
		"email": "ana@transportes.mx", "fullName": "Transportes", "timezone": "America/Mexico_City", "config": map[string]any{
			"rfcEmisor": "EKU9003173C9", "razonSocial": "ESCUELA KEMPER URGATE", "regimenFiscal": "601", "domicilioFiscal": map[string]any{"codigoPostal": "06600", "estado": "CMX"},
		},
	}, "userId")
	now, valid := time.Now(), time.Now().AddDate(10, 0, 0)
	luis := driverNamed("Luis Núñez", valid)
	luis["rfc"] = "FUNK671228PH6"
	first, second := c.driver("Pedro López", valid), c.do(http.MethodPost, "/conductores", luis, "conductorId")
	one, two := c.vehicle("ABC-123"), c.vehicle("JAL-9087")
	trailer := c.do(http.MethodPost, "/remolques", map[string]any{"placa": "REM-001", "subTipoRem": "CTR007"}, "remolqueId")
	trip := c.createTrip("Azúcar a Guadalajara", now.Add(5*time.Hour), first, one, trailer)
	at := "/cartas/" + c.do(http.MethodPost, "/viajes/"+trip+"/cartas", map[string]any{"receptor": map[string]any{
		"rfc": "IIA040805DZ4", "nombre": "INDISTRIA ILUMINADORA DE ALMACENES", "regimenFiscal": "601", "usoCfdi": "S01",
		"domicilioFiscal": map[string]any{"codigoPostal": "44100", "estado": "JAL"},
	}}, "cartaId")
	good := func(name string) map[string]any {
		return map[string]any{"claveProdServ": "50161509", "claveUnidad": "KGM", what: name, "cantidad": 1, "pesoKg": 10}
	}
	var goods []map[string]any
	for n := range 60 {
		goods = append(goods, good(fmt.Sprint("Bulto ", n+1)))
	}
	c.response(http.MethodPost, at+"/mercancias", map[string]any{"mercancias": goods})
	stored := func(orden int) string {
		items, _ := c.response(http.MethodGet, at+"/mercancias?limit=100", nil)["items"].([]any)
		line, _ := items[orden-1].(map[string]any)
		name, _ := line[what].(string)
		return fmt.Sprint(len(items), " ", name)
	}
	wants := func(orden int, want string) {
		t.Helper()
		if got := stored(orden); got != want {
			t.Errorf("the number of goods and the one at %d are %q, want %q", orden, got, want)
		}
	}

	p := openAs(t, c.base+"/", c.token, webtest.Language("es-MX"), webtest.Expect("status of 412"))
	p.Go(c.base + "/#" + at)
	rows := func(n int) {
		p.Until(fmt.Sprintf(`document.querySelectorAll("#part-mercancias tbody tr").length === %d`, n))
	}
	rows(50)
	p.Button("Mostrar más")
	rows(60)

	edit := func(name string) {
		p.Button("Acciones de " + name)
		p.Button("Editar")
		p.Wait(described)
	}
	edit("Bulto 1")
	c.response(http.MethodPut, at+"/mercancias/1", good("Sal"))
	typeOver(p, described, "Harina")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText(changed)
	p.Accessible()
	wants(1, "60 Sal")
	p.Button(keep)
	p.Until(fmt.Sprintf("!document.body.innerText.includes(%q)", changed))
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("Harina")
	p.Until(`document.querySelector("dialog[open]") === null`)
	wants(1, "60 Harina")

	c.response(http.MethodDelete, at+"/mercancias/2", nil) // the last one takes its number
	p.Button("Acciones de Bulto 2")
	p.Button("Quitar")
	p.UntilText("Bulto 60")
	wants(2, "59 Bulto 60")
	edit("Bulto 3")
	c.response(http.MethodDelete, at+"/mercancias/3", nil)
	typeOver(p, described, "Arroz")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("cambió la numeración")
	wants(3, "58 Bulto 59")
	p.Eval(`document.querySelector("dialog[open] .float-foot button").click()`)
	p.UntilText("Bulto 59")

	// The places, which the other has changed, too. Their other changes do not matter.
	const distance, name = `#part-ubicaciones [name=distanciaRecorrida]`, `#part-ubicaciones [name=nombreRemitenteDestinatario]`
	saved := func() {
		p.Until(`((b) => b.disabled && !b.hasAttribute("aria-busy"))([...document.querySelectorAll(".carta-aside button")].find((b) => b.textContent === "Guardar borrador"))`)
	}
	p.Button("Guardar borrador")
	saved()
	c.response(http.MethodPut, at+"/mercancias/1", good("Trigo"))
	set(p, distance, "600", "input")
	p.Button("Guardar borrador")
	saved()
	places, _ := c.response(http.MethodGet, at+"/contenido?limit=100", nil)["ubicaciones"].([]any)
	for _, place := range places {
		if is, _ := place.(map[string]any); is["tipo"] == "Destino" {
			is["distanciaRecorrida"] = 700
		}
	}
	c.response(http.MethodPut, at+"/ubicaciones", map[string]any{"ubicaciones": places})
	typeOver(p, name, "BODEGA")
	p.Button("Guardar borrador")
	p.UntilText(changed)
	p.Shot("carta-conflict")
	p.Button(load)
	p.Until(fmt.Sprintf(`document.querySelector(%q).value === "700"`, distance))
	typeOver(p, name, "BODEGA")
	p.Eval(`location.hash = "#/fleet"`)
	p.Wait("dialog[open]") // asks before the input is discarded
	p.Click("dialog[open] .float-foot button")
	p.Button("Guardar borrador")
	saved()

	assign := func(driver, vehicle string) {
		c.response(http.MethodPut, "/viajes/"+trip+"/recursos", map[string]any{"conductorId": driver, "vehiculoId": vehicle, "remolqueId": trailer})
	}
	c.response(http.MethodDelete, "/viajes/"+trip+"/recursos", nil)
	leaves := now.Add(6 * time.Hour)
	c.response(http.MethodPut, "/viajes/"+trip, map[string]any{
		"nombre": "Azúcar a Guadalajara", "origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 540,
		"fechaInicioProgramada": leaves, "fechaFinProgramada": now.Add(13 * time.Hour),
	})
	mexico, err := time.LoadLocation("America/Mexico_City")
	if err != nil {
		t.Fatal(err)
	}
	p.Until(fmt.Sprintf(`document.querySelector("#part-ubicaciones [name=fechaHoraSalidaLlegada]").value.startsWith(%q)`, leaves.In(mexico).Format("2006-01-02T15:04")))
	assign(second, two)
	p.UntilText("El viaje se reasignó")
	p.Until(`document.querySelector("#part-autotransporte [name=placaVm]").value === "JAL-9087"`)
	p.Until(`document.querySelector("#part-figuras [name=nombreFigura]").value === "Luis Núñez"`)
	p.Accessible()
	p.Shot("carta-reassigned")
	p.UntilText("Lista para timbrar")
	p.Button("Timbrar")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("Timbre de prueba, sin validez fiscal")
	p.Until(`!document.body.innerText.includes("no coincide con el viaje")`)
	assign(first, one)
	p.UntilText("Sustitúyala antes de iniciar")
	p.Shot("carta-differs-stamped")
	p.Button("Sustituir carta")
	p.Wait("dialog[open] input[name=rfc]")
	p.Accessible()
	p.Shot("carta-replace")
	p.Button("Crear borrador")
	p.UntilText("CP-000002")
	p.UntilText("Lista para timbrar")
	p.Accessible()
	p.Shot("carta-replacing")
	p.Button("Timbrar")
	p.Click("dialog[open] .float-foot .primary")
	p.UntilText("que sigue vigente")
	p.Accessible()
	p.Shot("carta-replaces")
	p.Button("Abrir CP-000001")
	p.UntilText("La sustituye CP-000002")
	p.Shot("carta-replaced")
	p.Button("Cancelar carta")
	p.Until(`/^[0-9a-f-]{36}$/.test(document.querySelector("dialog[open] [name=sustituye]").value)`)
	p.Accessible()
	p.Shot("carta-cancel")
	p.Click("dialog[open] .float-foot .danger")
	p.UntilText("La carta quedó cancelada")
	p.Eval(fmt.Sprintf(`((d) => { location.hash = "#/?day=" + [d.getFullYear(), String(d.getMonth() + 1).padStart(2, "0"), String(d.getDate()).padStart(2, "0")].join("-"); })(new Date(%d))`, leaves.UnixMilli()))
	p.Wait(".trip-card")
	assign(second, two)
	p.Until(`[...document.querySelectorAll(".trip-card .badge")].some((e) => e.textContent === "La carta porte no coincide")`)
	p.Shot("carta-board")
	p.Go(c.base + "/docs")
	p.Go(c.base + "/#/?trip=" + trip)
	p.UntilText("La carta porte no coincide con el viaje: operador y vehículo.")
	p.Accessible()
	p.Shot("carta-differs")
}
