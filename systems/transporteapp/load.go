package transporteapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadItems is the length of each connection's lists, which exceeds a page.
	loadItems = 24
	// loadGoods is the number of goods in a carta.
	loadGoods = 3
)

// The bodies of the plan's requests.
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
	loadPeople  = `{"figuras":[{"tipoFigura":"01","rfcFigura":"CACX7605101P8","nombreFigura":"Pedro López","numLicencia":"ABC123456"}]}`
	loadGood    = `{"claveProdServ":"50161509","claveUnidad":"KGM","descripcion":"Azúcar","cantidad":100,"pesoKg":5000,"valorMercancia":50000}`
	loadCredits = `{"creditos":1000000}`
	loadPing    = `{"lat":20.1,"lng":-101.2,"at":"{time}","distanciaRecorrida":325}`
)

// loadPlan measures every operation. A connection is a company whose plan and credits exceed the needs of a run. Whatever a call
// uses up, such as a trip that starts, is created before the call. Whatever it takes from a pool, such as a driver, is first
// returned from the previous call.
func loadPlan() load.Plan {
	return load.Plan{
		Without: map[string]string{
			"watchViajes":  "its response does not end",
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

// The id of a created item is stored under a name, if one is given.

func loadMakeDriver(name string) load.Call {
	return load.Create("/conductores", loadDriver).Keeping(name, "conductorId")
}

func loadMakeVehicle(name string) load.Call {
	return load.Create("/vehiculos", loadVehicle).Keeping(name, "vehiculoId").Keeping(name+"Plate", "placa")
}

func loadMakeTrailer(name string) load.Call {
	return load.Create("/remolques", loadTrailer).Keeping(name, "remolqueId").Keeping(name+"Plate", "placa")
}

// loadSame is the body of a vehicle or trailer that keeps its plate.
func loadSame(body, name string) string { return strings.Replace(body, "{code}", "{"+name+"Plate}", 1) }

// loadMakeTrip creates a trip without a carta.
func loadMakeTrip(name string) load.Call {
	return load.Create("/viajes", "{"+loadTripData+"}").Keeping(name, "viajeId")
}

// loadMakeCarta creates a trip with a carta. It stores the carta's id under name, and the trip's under name plus "Trip".
func loadMakeCarta(name string) load.Call {
	return load.Create("/viajes", "{"+loadTripData+`,"carta":`+loadCarta+"}").
		Keeping(name, "carta/cartaId").Keeping(name+"Trip", "viajeId").Keeping(name+"Folio", "carta/folio")
}

// loadBack makes a call on behalf of the back office.
func loadBack(c load.Call) load.Call { return c.By("office").In(AdminGroup) }

func loadCompany() []load.Call {
	return []load.Call{
		load.Put("/perfil", loadProfile).Keeping("company", "userId"),
		loadBack(load.Put("/empresas/{company}/suscripcion", loadSubscription)),
		loadBack(load.Create("/empresas/{company}/creditos", loadCredits)),
	}
}

// loadLists creates drivers, vehicles, trailers, trips with cartas, and sessions to list. Single reads use the last of each.
func loadLists() []load.Call {
	return slices.Concat(
		slices.Repeat([]load.Call{
			loadMakeDriver("driver"), loadMakeVehicle("vehicle"), loadMakeTrailer("trailer"), loadMakeTrip("planned"), loadMakeCarta("carta"),
			load.Create("/sesiones", `{"dispositivo":"tractor {n}"}`),
		}, loadItems),
		[]load.Call{loadMakeDriver("hired"), loadMakeVehicle("bought")},
	)
}

// loadAssign gives a trip its own driver, vehicle and trailer.
func loadAssign(trip string) load.Call {
	return load.Put("/viajes/{"+trip+"}/recursos", fmt.Sprintf(`{"conductorId":"{%[1]sDriver}","vehiculoId":"{%[1]sVehicle}","remolqueId":"{%[1]sTrailer}"}`, trip))
}

func loadTrip(trip, what string) load.Call { return load.Post("/viajes/{"+trip+"}/"+what, "") }

// loadTrips creates trips to be driven, each with its own driver, vehicle and trailer.
func loadTrips() []load.Call {
	var calls []load.Call
	for _, trip := range []string{"assigned", "begun", "arrived", "off", "moving"} {
		calls = append(calls, loadMakeDriver(trip+"Driver"), loadMakeVehicle(trip+"Vehicle"), loadMakeTrailer(trip+"Trailer"), loadMakeTrip(trip))
	}
	calls = append(calls, loadAssign("assigned"), loadAssign("begun"), loadTrip("begun", "iniciar"), loadAssign("moving"), loadTrip("moving", "iniciar"))
	return append(calls, slices.Repeat([]load.Call{load.Post("/viajes/{moving}/posiciones", loadPing)}, loadItems)...)
}

func loadAddGoods(carta string) load.Call {
	list := strings.Join(slices.Repeat([]string{loadGood}, loadGoods), ",")
	return load.Create("/cartas/{"+carta+"}/mercancias", `{"mercancias":[`+list+"]}")
}

// loadFill creates a complete carta.
func loadFill(carta string) []load.Call {
	at := "/cartas/{" + carta + "}"
	return []load.Call{
		loadMakeCarta(carta), load.Put(at+"/autotransporte", loadDeclared), load.Put(at+"/ubicaciones", loadPlaces), load.Put(at+"/figuras", loadPeople),
		loadAddGoods(carta),
	}
}

func loadSeal(carta string) load.Call { return load.Post("/cartas/{"+carta+"}/sellar", "") }

func loadOpen(carta string) load.Call { return load.Post("/cartas/{"+carta+"}/abrir", "") }

func loadStamp(carta string) load.Call { return load.Create("/cartas/{"+carta+"}/timbrado", "") }

// loadCartas creates cartas: one to read, one to write, one closed, one open and one stamped.
func loadCartas() []load.Call {
	return slices.Concat(
		loadFill("filled"), slices.Repeat([]load.Call{loadAddGoods("filled")}, loadItems/loadGoods),
		loadFill("draft"), loadFill("closed"), []load.Call{loadSeal("closed")}, loadFill("opened"),
		loadFill("stamped"), []load.Call{loadSeal("stamped"), loadStamp("stamped")},
	)
}

func loadProfileRoutes() []load.Call {
	return []load.Call{
		load.Get("/perfil"),
		load.Put("/perfil", loadProfile),
		loadBack(load.Put("/empresas/{company}/suscripcion", loadSubscription)),
		loadBack(load.Get("/acts?day=2026-02-11")),
		loadBack(load.Create("/empresas/{company}/creditos", loadCredits)),
	}
}

func loadDriverRoutes() []load.Call {
	return []load.Call{
		loadMakeDriver("hired").After(load.Delete("/conductores/{hired}")),
		load.Get("/conductores"), load.Get("/conductores?estado=disponible"),
		load.Get("/conductores?desde=2099-02-01T00:00:00Z&hasta=2099-02-02T00:00:00Z"), load.Get("/conductores/{driver}"),
		load.Put("/conductores/{driver}", loadDriver),
		load.Delete("/conductores/{fired}").After(loadMakeDriver("fired")),
	}
}

func loadFleetRoutes() []load.Call {
	return []load.Call{
		loadMakeVehicle("bought").After(load.Delete("/vehiculos/{bought}")),
		load.Get("/vehiculos"), load.Get("/vehiculos?estado=disponible"), load.Get("/vehiculos/{vehicle}"),
		load.Put("/vehiculos/{vehicle}", loadSame(loadVehicle, "vehicle")),
		load.Delete("/vehiculos/{sold}").After(loadMakeVehicle("sold")),
		loadMakeTrailer(""),
		load.Get("/remolques"), load.Get("/remolques?estado=disponible"), load.Get("/remolques/{trailer}"),
		load.Put("/remolques/{trailer}", loadSame(loadTrailer, "trailer")),
		load.Delete("/remolques/{soldTrailer}").After(loadMakeTrailer("soldTrailer")),
		load.Post("/recursos/consulta", `{"conductores":["{driver}"],"vehiculos":["{vehicle}"],"remolques":["{trailer}"]}`),
	}
}

func loadTripRoutes() []load.Call {
	draft := load.Create("/viajes", `{"estado":"borrador",`+loadTripData+"}").Keeping("sketched", "viajeId")
	return []load.Call{
		loadMakeTrip(""),
		loadMakeCarta("made"),
		load.Get("/viajes"), load.Get("/viajes?estado=programado"), load.Get("/viajes?desde=2027-01-01T00:00:00Z&hasta=2027-02-01T00:00:00Z"),
		load.Get("/viajes/{cartaTrip}"), load.Get("/vencimientos"), load.Get("/conductores/{driver}/viajes"),
		load.Put("/viajes/{planned}", "{"+loadTripData+"}"),
		loadTrip("sketched", "programar").After(draft),
		loadAssign("assigned").After(loadTrip("assigned", "cancelar"), loadMakeTrip("assigned")),
		load.Delete("/viajes/{assigned}/recursos").After(loadAssign("assigned")),
		loadTrip("begun", "iniciar").After(loadTrip("begun", "cancelar"), loadMakeTrip("begun"), loadAssign("begun")),
		load.Post("/viajes/{arrived}/completar", `{"calificacion":5}`).After(loadMakeTrip("arrived"), loadAssign("arrived"), loadTrip("arrived", "iniciar")),
		loadTrip("off", "cancelar").After(loadMakeTrip("off"), loadAssign("off")),
	}
}

func loadTrackingRoutes() []load.Call {
	return []load.Call{
		load.Post("/viajes/{moving}/posiciones", loadPing),
		load.Get("/viajes/{moving}/posicion"), load.Get("/viajes/{moving}/posiciones"),
	}
}

func loadCartaRoutes() []load.Call {
	return []load.Call{
		load.Create("/viajes/{bare}/cartas", loadCarta).After(loadMakeTrip("bare")),
		load.Get("/viajes/{cartaTrip}/cartas"), load.Get("/cartas"), load.Get("/cartas?status=borrador"), load.Get("/cartas/{carta}"),
		load.Get("/folios/{cartaFolio}"),
		loadSeal("closed").After(loadOpen("closed")),
		loadOpen("opened").After(loadSeal("opened")),
		loadStamp("next").After(append(loadFill("next"), loadSeal("next"))...),
		load.Get("/cartas/{stamped}/xml"), load.Get("/cartas/{stamped}/pdf"),
		load.Post("/cartas/{given}/cancelacion", "{}").After(loadMakeCarta("given")),
	}
}

func loadContentRoutes() []load.Call {
	return []load.Call{
		load.Put("/cartas/{draft}/autotransporte", loadDeclared),
		load.Put("/cartas/{draft}/ubicaciones", loadPlaces),
		load.Put("/cartas/{draft}/figuras", loadPeople),
		loadAddGoods("draft"),
		load.Put("/cartas/{draft}/receptor", loadReceiver),
		load.Put("/cartas/{draft}/mercancias/1", loadGood).After(loadAddGoods("draft")),
		load.Delete("/cartas/{draft}/mercancias/1").After(loadAddGoods("draft")),
		load.Post("/cartas/{draft}/revision", loadPeople),
		load.Get("/catalogos/clave_unidad?q=caja"), load.Get("/cartas/{filled}/contenido"), load.Get("/cartas/{filled}/mercancias"),
	}
}

func loadSessionRoutes() []load.Call {
	session := load.Create("/sesiones", `{"dispositivo":"tractor {n}"}`).Keeping("session", "sessionId")
	return []load.Call{
		session,
		load.Get("/sesiones"),
		load.Delete("/sesiones/{session}").After(session),
	}
}
