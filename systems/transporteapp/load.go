package transporteapp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadItems are what a connection has for its lists: more than a page.
	loadItems = 24
	// loadGoods are the goods of a carta.
	loadGoods = 3
)

// What the plan sends.
const (
	loadAddress = `{"codigoPostal":"06600","estado":"CMX","calle":"Reforma","numeroExterior":"222"}`
	loadProfile = `{"email":"{user}@example.com","fullName":"{user} {n}","timezone":"America/Mexico_City","config":{"rfcEmisor":"EKU9003173C9",` +
		`"razonSocial":"ESCUELA KEMPER URGATE","regimenFiscal":"601","domicilioFiscal":` + loadAddress + `}}`
	loadSubscription = `{"planId":"carga","planName":"Carga","status":"active","expiresAt":"2100-01-01T00:00:00Z",` +
		`"limits":{"conductores":500,"vehiculos":500,"cartasPorteMes":1000000}}`
	loadDriver = `{"nombre":"Pedro López {n}","rfc":"CACX7605101P8","curp":"HEGG560427MVZRRL04",` +
		`"licencia":{"tipo":"E","numero":"ABC123456","vigencia":"2100-06-15"},"compensacion":{"salarioBase":15000,"porcentajeComision":5}}`
	loadVehicle = `{"placa":"{code}","configVehicular":"T3S2","anioModeloVm":2022,"pesoBrutoVehicular":17.5,"permSct":"TPAF01",` +
		`"numPermisoSct":"12345","aseguraRespCivil":"Seguros XYZ","polizaRespCivil":"POL-123456"}`
	loadTrailer  = `{"placa":"{code}","subTipoRem":"CTR007"}`
	loadTripData = `"nombre":"Viaje {n}","local":true,"fechaInicioProgramada":"{time}","fechaFinProgramada":"2099-01-15T18:00:00Z",` +
		`"origen":"Ciudad de México","destino":"Guadalajara","origenCoordenadas":{"lat":19.4326,"lng":-99.1332},"distanciaTotal":540,` +
		`"costos":{"combustibleEstimado":2500,"peajesEstimados":800,"costoTotal":5000,"precioCliente":8000}`
	loadReceiver = `{"rfc":"IIA040805DZ4","nombre":"INDISTRIA ILUMINADORA DE ALMACENES","regimenFiscal":"601","usoCfdi":"S01",` +
		`"domicilioFiscal":{"codigoPostal":"44100","estado":"JAL"}}`
	loadCarta = `{"receptor":{"rfc":"IIA040805DZ4","nombre":"INDISTRIA ILUMINADORA DE ALMACENES","regimenFiscal":"601","usoCfdi":"S01",` +
		`"domicilioFiscal":{"codigoPostal":"44100","estado":"JAL"}}}`
	loadDeclared = `{"permSct":"TPAF01","numPermisoSct":"12345","configVehicular":"T3S2","placaVm":"ABC-123","anioModeloVm":2022,` +
		`"pesoBrutoVehicular":17.5,"aseguraRespCivil":"Seguros XYZ","polizaRespCivil":"POL-123456","subTipoRem":"CTR007","placaRemolque":"REM-123"}`
	loadPlaces = `{"ubicaciones":[{"tipo":"Origen","idUbicacion":"OR000001","rfcRemitenteDestinatario":"EKU9003173C9",` +
		`"fechaHoraSalidaLlegada":"2027-01-15T08:00:00","domicilio":` + loadAddress + `},{"tipo":"Destino","idUbicacion":"DE000001",` +
		`"rfcRemitenteDestinatario":"IIA040805DZ4","fechaHoraSalidaLlegada":"2027-01-15T18:00:00","distanciaRecorrida":540,` +
		`"domicilio":{"codigoPostal":"44100","estado":"JAL"}}]}`
	loadPeople = `{"figuras":[{"tipoFigura":"01","rfcFigura":"CACX7605101P8","nombreFigura":"Pedro López","numLicencia":"ABC123456"}]}`
	loadGood   = `{"claveProdServ":"50161509","claveUnidad":"KGM","descripcion":"Azúcar","cantidad":100,"pesoKg":5000,"valorMercancia":50000}`
	loadPing   = `{"lat":20.1,"lng":-101.2,"at":"{time}","distanciaRecorrida":325}`
)

// loadPlan measures every operation. A connection is a company, which the back office has given a plan and credits beyond what a
// run uses up. What a call uses up, a trip that leaves say, is made before it; where it takes something from a pool, a driver
// say, what the call before took is given back first.
func loadPlan() load.Plan {
	return load.Plan{
		Without: map[string]string{
			"watchViajes":  "its answer does not end",
			"listEmpresas": "members are changed a few times a year", "acceptInvitacion": "members are changed a few times a year",
			"listMiembros": "members are changed a few times a year", "putMiembro": "members are changed a few times a year",
			"deleteMiembro": "members are changed a few times a year", "createInvitacion": "members are changed a few times a year",
			"listInvitaciones": "members are changed a few times a year", "deleteInvitacion": "members are changed a few times a year",
		},
		Setup: slices.Concat(loadCompany(), loadLists(), loadTrips(), loadCartas()),
		Routes: slices.Concat(
			loadProfileRoutes(), loadDriverRoutes(), loadFleetRoutes(), loadTripRoutes(), loadTrackingRoutes(), loadCartaRoutes(), loadContentRoutes(),
			loadSessionRoutes(),
		),
	}
}

func loadGet(path string) load.Route {
	return load.Route{Call: load.Call{Method: http.MethodGet, Path: path}}
}

func loadPut(path, body string) load.Call {
	return load.Call{Method: http.MethodPut, Path: path, Body: body}
}

// loadPost is a POST without a key.
func loadPost(path, body string) load.Call {
	return load.Call{Method: http.MethodPost, Path: path, Body: body}
}

// loadMake is a POST with a key; what it makes is kept under a name, by where the answer has its id.
func loadMake(path, body, name, at string) load.Call {
	c := load.Call{Method: http.MethodPost, Path: path, Body: body, Header: map[string]string{"Idempotency-Key": "load-{n}"}}
	if name != "" {
		c.Keep = map[string]string{name: at}
	}
	return c
}

func loadMakeDriver(name string) load.Call {
	return loadMake("/conductores", loadDriver, name, "conductorId")
}

func loadMakeVehicle(name string) load.Call {
	return loadMake("/vehiculos", loadVehicle, name, "vehiculoId")
}

func loadMakeTrailer(name string) load.Call {
	return loadMake("/remolques", loadTrailer, name, "remolqueId")
}

// loadMakeTrip makes a trip without a carta.
func loadMakeTrip(name string) load.Call {
	return loadMake("/viajes", "{"+loadTripData+"}", name, "viajeId")
}

// loadMakeCarta makes a trip with a carta, and keeps the carta's id; the trip's is kept under name and "Trip".
func loadMakeCarta(name string) load.Call {
	c := loadMake("/viajes", "{"+loadTripData+`,"carta":`+loadCarta+"}", name, "carta/cartaId")
	c.Keep[name+"Trip"], c.Keep[name+"Folio"] = "viajeId", "carta/folio"
	return c
}

func loadBack(method, path, body string) load.Call {
	return load.Call{Method: method, Path: path, Body: body, As: "office", Groups: []string{AdminGroup}}
}

func loadCredits() load.Call {
	c := loadBack(http.MethodPost, "/empresas/{company}/creditos", `{"creditos":1000000}`)
	c.Header = map[string]string{"Idempotency-Key": "load-{n}"}
	return c
}

func loadCompany() []load.Call {
	made := loadPut("/perfil", loadProfile)
	made.Keep = map[string]string{"company": "userId"}
	return []load.Call{made, loadBack(http.MethodPut, "/empresas/{company}/suscripcion", loadSubscription), loadCredits()}
}

// loadLists are drivers, vehicles, trailers, trips with cartas and sessions for lists; the last of each is what is asked for.
func loadLists() []load.Call {
	return slices.Concat(
		slices.Repeat([]load.Call{
			loadMakeDriver("driver"), loadMakeVehicle("vehicle"), loadMakeTrailer("trailer"), loadMakeTrip("planned"), loadMakeCarta("carta"),
			loadMake("/sesiones", `{"dispositivo":"tractor {n}"}`, "", ""),
		}, loadItems),
		[]load.Call{loadMakeDriver("hired"), loadMakeVehicle("bought")},
	)
}

// loadAssign gives a trip, by the name it is kept under, a driver, a vehicle and a trailer of its own.
func loadAssign(trip string) load.Call {
	return loadPut("/viajes/{"+trip+"}/recursos", fmt.Sprintf(`{"conductorId":"{%[1]sDriver}","vehiculoId":"{%[1]sVehicle}","remolqueId":"{%[1]sTrailer}"}`, trip))
}

func loadTrip(trip, what string) load.Call { return loadPost("/viajes/{"+trip+"}/"+what, "") }

// loadTrips are trips that are driven, each with a driver, a vehicle and a trailer of its own.
func loadTrips() []load.Call {
	var calls []load.Call
	for _, trip := range []string{"assigned", "begun", "arrived", "off", "moving"} {
		calls = append(calls, loadMakeDriver(trip+"Driver"), loadMakeVehicle(trip+"Vehicle"), loadMakeTrailer(trip+"Trailer"), loadMakeTrip(trip))
	}
	calls = append(calls, loadAssign("assigned"), loadAssign("begun"), loadTrip("begun", "iniciar"), loadAssign("moving"), loadTrip("moving", "iniciar"))
	return append(calls, slices.Repeat([]load.Call{loadPost("/viajes/{moving}/posiciones", loadPing)}, loadItems)...)
}

func loadAddGoods(carta string) load.Call {
	list := strings.Join(slices.Repeat([]string{loadGood}, loadGoods), ",")
	return loadMake("/cartas/{"+carta+"}/mercancias", `{"mercancias":[`+list+"]}", "", "")
}

// loadFill makes a carta with all that it lists.
func loadFill(carta string) []load.Call {
	at := "/cartas/{" + carta + "}"
	return []load.Call{
		loadMakeCarta(carta), loadPut(at+"/autotransporte", loadDeclared), loadPut(at+"/ubicaciones", loadPlaces), loadPut(at+"/figuras", loadPeople),
		loadAddGoods(carta),
	}
}

func loadSeal(carta string) load.Call { return loadPost("/cartas/{"+carta+"}/sellar", "") }

func loadOpen(carta string) load.Call { return loadPost("/cartas/{"+carta+"}/abrir", "") }

func loadStamp(carta string) load.Call { return loadMake("/cartas/{"+carta+"}/timbrado", "", "", "") }

// loadCartas are cartas: one that is read, one that is written, one that is sealed and one that is not, and one with a stamp.
func loadCartas() []load.Call {
	return slices.Concat(
		loadFill("filled"), slices.Repeat([]load.Call{loadAddGoods("filled")}, loadItems/loadGoods),
		loadFill("draft"), loadFill("closed"), []load.Call{loadSeal("closed")}, loadFill("opened"),
		loadFill("stamped"), []load.Call{loadSeal("stamped"), loadStamp("stamped")},
	)
}

func loadProfileRoutes() []load.Route {
	return []load.Route{
		loadGet("/perfil"),
		{Call: loadPut("/perfil", loadProfile)},
		{Call: loadBack(http.MethodPut, "/empresas/{company}/suscripcion", loadSubscription)},
		{Call: loadBack(http.MethodGet, "/acts?day=2026-02-11", "")},
		{Call: loadCredits()},
	}
}

func loadDelete(path string) load.Call { return load.Call{Method: http.MethodDelete, Path: path} }

func loadDriverRoutes() []load.Route {
	return []load.Route{
		{Before: []load.Call{loadDelete("/conductores/{hired}")}, Call: loadMakeDriver("hired")},
		loadGet("/conductores"),
		loadGet("/conductores?estado=disponible"),
		loadGet("/conductores?desde=2099-02-01T00:00:00Z&hasta=2099-02-02T00:00:00Z"),
		loadGet("/conductores/{driver}"),
		{Call: loadPut("/conductores/{driver}", loadDriver)},
		{Before: []load.Call{loadMakeDriver("fired")}, Call: loadDelete("/conductores/{fired}")},
	}
}

func loadFleetRoutes() []load.Route {
	return []load.Route{
		{Before: []load.Call{loadDelete("/vehiculos/{bought}")}, Call: loadMakeVehicle("bought")},
		loadGet("/vehiculos"),
		loadGet("/vehiculos?estado=disponible"),
		loadGet("/vehiculos/{vehicle}"),
		{Call: loadPut("/vehiculos/{vehicle}", loadVehicle)},
		{Before: []load.Call{loadMakeVehicle("sold")}, Call: loadDelete("/vehiculos/{sold}")},
		{Call: loadMakeTrailer("")},
		loadGet("/remolques"),
		loadGet("/remolques?estado=disponible"),
		loadGet("/remolques/{trailer}"),
		{Call: loadPut("/remolques/{trailer}", loadTrailer)},
		{Before: []load.Call{loadMakeTrailer("soldTrailer")}, Call: loadDelete("/remolques/{soldTrailer}")},
		{Call: loadPost("/recursos/consulta", `{"conductores":["{driver}"],"vehiculos":["{vehicle}"],"remolques":["{trailer}"]}`)},
	}
}

func loadTripRoutes() []load.Route {
	draft := loadMake("/viajes", `{"estado":"borrador",`+loadTripData+"}", "sketched", "viajeId")
	return []load.Route{
		{Call: loadMakeTrip("")},
		{Call: loadMakeCarta("made")},
		loadGet("/viajes"),
		loadGet("/viajes?estado=programado"),
		loadGet("/viajes?desde=2027-01-01T00:00:00Z&hasta=2027-02-01T00:00:00Z"),
		loadGet("/viajes/{cartaTrip}"),
		loadGet("/vencimientos"),
		loadGet("/conductores/{driver}/viajes"),
		{Call: loadPut("/viajes/{planned}", "{"+loadTripData+"}")},
		{Before: []load.Call{draft}, Call: loadTrip("sketched", "programar")},
		{Before: []load.Call{loadTrip("assigned", "cancelar"), loadMakeTrip("assigned")}, Call: loadAssign("assigned")},
		{Before: []load.Call{loadAssign("assigned")}, Call: loadDelete("/viajes/{assigned}/recursos")},
		{
			Before: []load.Call{loadTrip("begun", "cancelar"), loadMakeTrip("begun"), loadAssign("begun")},
			Call:   loadTrip("begun", "iniciar"),
		},
		{
			Before: []load.Call{loadMakeTrip("arrived"), loadAssign("arrived"), loadTrip("arrived", "iniciar")},
			Call:   loadPost("/viajes/{arrived}/completar", `{"calificacion":5}`),
		},
		{Before: []load.Call{loadMakeTrip("off"), loadAssign("off")}, Call: loadTrip("off", "cancelar")},
	}
}

func loadTrackingRoutes() []load.Route {
	return []load.Route{
		{Call: loadPost("/viajes/{moving}/posiciones", loadPing)},
		loadGet("/viajes/{moving}/posicion"),
		loadGet("/viajes/{moving}/posiciones"),
	}
}

func loadCartaRoutes() []load.Route {
	return []load.Route{
		{Before: []load.Call{loadMakeTrip("bare")}, Call: loadMake("/viajes/{bare}/cartas", loadCarta, "", "")},
		loadGet("/viajes/{cartaTrip}/cartas"),
		loadGet("/cartas"),
		loadGet("/cartas?status=borrador"),
		loadGet("/cartas/{carta}"),
		loadGet("/folios/{cartaFolio}"),
		{Before: []load.Call{loadOpen("closed")}, Call: loadSeal("closed")},
		{Before: []load.Call{loadSeal("opened")}, Call: loadOpen("opened")},
		{Before: append(loadFill("next"), loadSeal("next")), Call: loadStamp("next")},
		loadGet("/cartas/{stamped}/xml"),
		loadGet("/cartas/{stamped}/pdf"),
		{Before: []load.Call{loadMakeCarta("given")}, Call: loadPost("/cartas/{given}/cancelacion", "{}")},
	}
}

func loadContentRoutes() []load.Route {
	return []load.Route{
		{Call: loadPut("/cartas/{draft}/autotransporte", loadDeclared)},
		{Call: loadPut("/cartas/{draft}/ubicaciones", loadPlaces)},
		{Call: loadPut("/cartas/{draft}/figuras", loadPeople)},
		{Call: loadAddGoods("draft")},
		{Call: loadPut("/cartas/{draft}/receptor", loadReceiver)},
		{Before: []load.Call{loadAddGoods("draft")}, Call: loadPut("/cartas/{draft}/mercancias/1", loadGood)},
		{Before: []load.Call{loadAddGoods("draft")}, Call: loadDelete("/cartas/{draft}/mercancias/1")},
		{Call: loadPost("/cartas/{draft}/revision", loadPeople)},
		loadGet("/catalogos/clave_unidad?q=caja"),
		loadGet("/cartas/{filled}/contenido"),
		loadGet("/cartas/{filled}/mercancias"),
	}
}

func loadSessionRoutes() []load.Route {
	session := loadMake("/sesiones", `{"dispositivo":"tractor {n}"}`, "session", "sessionId")
	return []load.Route{
		{Call: session},
		loadGet("/sesiones"),
		{Before: []load.Call{session}, Call: loadDelete("/sesiones/{session}")},
	}
}
