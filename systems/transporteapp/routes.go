package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// caller is the field of access patterns that is the caller's id: the company.
const caller = "UserID"

// routes are the API. What is an access pattern of the design is called as it is; the rest are functions of the domain.
func (s *service) routes(a huma.API) {
	s.companyRoutes(a)
	s.fleetRoutes(a)
	s.tripRoutes(a)
	s.cartaRoutes(a)
}

func (s *service) companyRoutes(a huma.API) {
	perfil := api.Tag(a, "Perfil")
	api.Get[Perfil](perfil, "/perfil", "getPerfil", "Your company's profile", s.profile, api.NotFound)
	api.Put[Perfil](perfil, "/perfil", "putPerfil", "Make or change your company's profile", s.saveProfile)

	office := api.Tag(a, "Back office")
	api.Put[Perfil](office, "/empresas/{userId}/suscripcion", "putSuscripcion", "Change a company's plan", s.changePlan, api.Groups(AdminGroup), api.NotFound)
	api.Create[Abono](office, "/empresas/{userId}/creditos", "createAbono", "Give a company credits that it has bought", s.addCredits, api.Groups(AdminGroup), api.NotFound)

	sesiones := api.Tag(a, "Sesiones")
	api.Create[Sesion](sesiones, "/sesiones", "createSesion", "A device signs in", s.openSession)
	api.List[Sesion](sesiones, "/sesiones", "listSesiones", "Your devices that are signed in", api.Pages[api.PageQuery](s.db.SesionesDeUsuario, caller))
	api.Delete(sesiones, "/sesiones/{id}", "deleteSesion", "A device signs out", api.Do[sesionPath](s.db.CerrarSesion, caller))
}

func (s *service) fleetRoutes(a huma.API) {
	conductores := api.Tag(a, "Conductores")
	api.Create[Conductor](conductores, "/conductores", "createConductor", "Add a driver", s.createDriver, api.At("conductores/{conductorId}"),
		api.About("As many as the plan allows."))
	api.List[ConductorResumen](conductores, "/conductores", "listConductores", "Your drivers, those in a state by name, or those who are free in a period", s.listDrivers,
		api.About("With desde and hasta: those at work whose trips leave that period free, and whose licence is valid up to its last day."))
	api.Get[Conductor](conductores, "/conductores/{id}", "getConductor", "One of your drivers", api.Call[ConductorPath](s.db.ConductorPorID, caller), api.NotFound)
	api.Put[Conductor](conductores, "/conductores/{id}", "putConductor", "Change a driver who is not on a trip", s.saveDriver, api.NotFound, api.Conflict)
	api.Delete(conductores, "/conductores/{id}", "deleteConductor", "Take a driver off the company", s.deleteDriver, api.NotFound, api.Conflict)

	vehiculos := api.Tag(a, "Vehículos")
	api.Create[Vehiculo](vehiculos, "/vehiculos", "createVehiculo", "Add a vehicle", s.createVehicle, api.At("vehiculos/{vehiculoId}"),
		api.About("As many as the plan allows."))
	api.List[UnidadResumen](vehiculos, "/vehiculos", "listVehiculos", "Your vehicles, those in a state by plate, or those that are free in a period", s.listVehicles)
	api.Get[Vehiculo](vehiculos, "/vehiculos/{id}", "getVehiculo", "One of your vehicles", api.Call[VehiculoPath](s.db.VehiculoPorID, caller), api.NotFound)
	api.Put[Vehiculo](vehiculos, "/vehiculos/{id}", "putVehiculo", "Change a vehicle that is not on a trip", s.saveVehicle, api.NotFound, api.Conflict)
	api.Delete(vehiculos, "/vehiculos/{id}", "deleteVehiculo", "Take a vehicle off the company", s.deleteVehicle, api.NotFound, api.Conflict)

	remolques := api.Tag(a, "Remolques")
	api.Create[Remolque](remolques, "/remolques", "createRemolque", "Add a trailer", s.createTrailer, api.At("remolques/{remolqueId}"))
	api.List[UnidadResumen](remolques, "/remolques", "listRemolques", "Your trailers, those in a state by plate, or those that are free in a period", s.listTrailers)
	api.Get[Remolque](remolques, "/remolques/{id}", "getRemolque", "One of your trailers", api.Call[RemolquePath](s.db.RemolquePorID, caller), api.NotFound)
	api.Put[Remolque](remolques, "/remolques/{id}", "putRemolque", "Change a trailer that is not on a trip", s.saveTrailer, api.NotFound, api.Conflict)
	api.Delete(remolques, "/remolques/{id}", "deleteRemolque", "Take a trailer off the company", s.deleteTrailer, api.NotFound, api.Conflict)
}

func (s *service) tripRoutes(a huma.API) {
	viajes := api.Tag(a, "Viajes")
	api.Create[ViajeConCarta](viajes, "/viajes", "createViaje", "Plan a trip, with its Carta Porte or without", s.createTrip, api.At("viajes/{viajeId}"),
		api.About("With carta, the trip, its carta, the folio, the month's counter and the credit are one transaction."))
	api.List[ViajeResumen](viajes, "/viajes", "listViajes", "Your trips, newest first", s.listTrips,
		api.About("With estado, those in that state by when they begin; with desde or hasta, those that begin then."))
	api.Get[ViajeConCarta](viajes, "/viajes/{id}", "getViaje", "One of your trips with its carta, and where it is", ofTrip(s.trip), api.NotFound)
	api.Put[Viaje](viajes, "/viajes/{id}", "putViaje", "Change a trip that nobody drives yet", s.saveTrip, api.NotFound, api.Conflict)
	api.Post[Viaje](viajes, "/viajes/{id}/programar", "programarViaje", "A draft is to be made", ofTrip(s.schedule), api.NotFound, api.Conflict)
	api.Put[Viaje](viajes, "/viajes/{id}/recursos", "putRecursos", "Assign driver, vehicle and trailer, or others in their place", s.assign, api.NotFound, api.Conflict,
		api.About("None of them has another trip in the trip's period, or nothing changes. One trip may begin when another ends."))
	api.Remove[Viaje](viajes, "/viajes/{id}/recursos", "deleteRecursos", "Take back who and what was to make the trip", ofTrip(s.unassign), api.NotFound, api.Conflict,
		api.About("It has not left; a trip that has nobody stays as it is."))
	api.Post[Viaje](viajes, "/viajes/{id}/iniciar", "iniciarViaje", "The trip leaves", ofTrip(s.begin), api.NotFound, api.Conflict,
		api.About("Its carta is stamped, unless it is local, and it is planned to begin within a day."))
	api.Post[Viaje](viajes, "/viajes/{id}/completar", "completarViaje", "The trip has arrived", s.complete, api.NotFound, api.Conflict,
		api.About("Who and what made it are free, and what they have driven is counted."))
	api.Post[Viaje](viajes, "/viajes/{id}/cancelar", "cancelarViaje", "The trip is off", ofTrip(s.cancel), api.NotFound, api.Conflict)
	api.Post[RecursosHallados](viajes, "/recursos/consulta", "findRecursos", "Drivers, vehicles and trailers by their ids, at once", s.findResources,
		api.About("What is not yours is left out."))

	rastreo := api.Tag(a, "Rastreo")
	api.Post[Rastreo](rastreo, "/viajes/{id}/posiciones", "createPosicion", "Say where a trip is", s.ping, api.NotFound, api.Conflict,
		api.About("It needs no Idempotency-Key: its time is its key."))
	api.Get[Rastreo](rastreo, "/viajes/{id}/posicion", "getPosicion", "Where a trip is now, and how far", s.position, api.NotFound)
	api.List[Posicion](rastreo, "/viajes/{id}/posiciones", "listPosiciones", "Where a trip has been", s.route, api.NotFound)
}

func (s *service) cartaRoutes(a huma.API) {
	cartas := api.Tag(a, "Cartas")
	api.Create[Carta](cartas, "/viajes/{id}/cartas", "createCarta", "A carta for a trip that has none", s.addCarta, api.NotFound, api.At("cartas/{cartaId}"))
	api.List[CartaResumen](cartas, "/viajes/{id}/cartas", "listCartasDeViaje", "The cartas of a trip, those that were cancelled too", s.cartasOfTrip, api.NotFound)
	api.List[CartaResumen](cartas, "/cartas", "listCartas", "Your cartas, newest first, or those in a state, oldest first",
		api.Either[CartaResumen, cartaQuery](s.db.CartasPorEstado, s.db.CartasDeUsuario, caller))
	api.Get[Carta](cartas, "/cartas/{id}", "getCarta", "The head of a carta", ofCarta(s.head), api.NotFound)
	api.Get[Carta](cartas, "/folios/{folio}", "getCartaPorFolio", "A carta by its folio", s.byFolio, api.NotFound)
	api.Post[Carta](cartas, "/cartas/{id}/sellar", "sellarCarta", "A carta is complete", ofCarta(s.seal), api.NotFound, api.Conflict,
		api.About("It is read back whole and held to what the tax office asks."))
	api.Post[Carta](cartas, "/cartas/{id}/abrir", "abrirCarta", "A complete carta is to be changed again", ofCarta(s.open), api.NotFound, api.Conflict)
	api.Create[Carta](cartas, "/cartas/{id}/timbrado", "timbrarCarta", "Stamp a complete carta", s.stamp, api.NotFound, api.At("cartas/{cartaId}/xml"),
		api.About("Without a PAC of the deployment's own, the stamp is a test: PRUEBA, sin validez fiscal."))
	huma.Register(a, huma.Operation{
		OperationID: "getXml", Method: http.MethodGet, Path: "/cartas/{id}/xml", Tags: []string{"Cartas"},
		Summary: "The XML of a stamped carta", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.getXML)
	api.Post[Carta](cartas, "/cartas/{id}/cancelacion", "cancelarCarta", "Cancel a carta", s.cancelCarta, api.NotFound, api.Conflict,
		api.About("A draft gives its credit back."))
	api.Get[Contenido](cartas, "/cartas/{id}/contenido", "getContenido", "All that a carta lists, a page at a time", s.contents, api.NotFound)
	api.Put[Autotransporte](cartas, "/cartas/{id}/autotransporte", "putAutotransporte", "Declare a draft's vehicle", s.declareVehicle, api.NotFound, api.Conflict)
	api.Put[Ubicaciones](cartas, "/cartas/{id}/ubicaciones", "putUbicaciones", "Declare a draft's places, instead of those it had", s.declarePlaces, api.NotFound, api.Conflict)
	api.Put[Figuras](cartas, "/cartas/{id}/figuras", "putFiguras", "Declare a draft's people, instead of those it had", s.declarePeople, api.NotFound, api.Conflict)
	api.Create[Agregado](cartas, "/cartas/{id}/mercancias", "addMercancias", "Add goods to a draft", s.addGoods, api.NotFound,
		api.About("At most 1,000 at once; thousands are sent in several requests, each with a key of its own."))
	api.List[Mercancia](cartas, "/cartas/{id}/mercancias", "listMercancias", "The goods of a carta", s.goods, api.NotFound)
}

// ofTrip makes a function of one of a company's trips one of the caller's.
func ofTrip[Out any](do func(ctx context.Context, userID, id string) (Out, error)) func(context.Context, auth.Principal, ViajePath) (Out, error) {
	return func(ctx context.Context, who auth.Principal, in ViajePath) (Out, error) {
		return do(ctx, who.Sub, in.ViajeID)
	}
}

// ofCarta makes a function of one of a company's cartas one of the caller's.
func ofCarta[Out any](do func(ctx context.Context, userID, id string) (Out, error)) func(context.Context, auth.Principal, CartaPath) (Out, error) {
	return func(ctx context.Context, who auth.Principal, in CartaPath) (Out, error) {
		return do(ctx, who.Sub, in.CartaID)
	}
}

// document is a response that is no JSON.
type document struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *service) getXML(ctx context.Context, in *CartaPath) (*document, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	text, err := s.xml(ctx, who.Sub, in.CartaID)
	return &document{"application/xml; charset=utf-8", text}, err
}

// EmpresaPath leads to a company, in operations of the back office. Paths have capitals because huma passes other embedded
// structs over.
type EmpresaPath struct {
	UserID string `path:"userId" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"a sub" doc:"The company"`
}

// ConductorPath leads to a driver.
type ConductorPath struct {
	ConductorID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// VehiculoPath leads to a vehicle.
type VehiculoPath struct {
	VehiculoID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// RemolquePath leads to a trailer.
type RemolquePath struct {
	RemolqueID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// ViajePath leads to a trip.
type ViajePath struct {
	ViajeID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// CartaPath leads to a carta.
type CartaPath struct {
	CartaID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

type sesionPath struct {
	SessionID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

type folioPath struct {
	Folio string `path:"folio" pattern:"^CP-[0-9]{6,12}$" patternDescription:"CP- and digits" doc:"As CP-000015"`
}

type planChange struct {
	EmpresaPath
	Body Suscripcion
}

type newAbono struct {
	EmpresaPath
	api.Keyed
	Body NuevoAbono
}

// NuevoAbono is how many credits were bought.
type NuevoAbono struct {
	Creditos int64 `json:"creditos" minimum:"1" maximum:"1000000" doc:"How many"`
}

type newSession struct {
	api.Keyed
	Body NuevaSesion
}

// NuevaSesion is a device that signs in.
type NuevaSesion struct {
	Dispositivo string `json:"dispositivo" minLength:"1" maxLength:"200" doc:"What the device calls itself"`
}

type newDriver struct {
	api.Keyed
	Body NuevoConductor
}

type changedDriver struct {
	ConductorPath
	Body NuevoConductor
}

type driverQuery struct {
	api.PageQuery
	Libres
	Estado db.EstadoRecurso `query:"estado" enum:"disponible,en_viaje,inactivo" doc:"Only those in this state, by name"`
}

type newVehicle struct {
	api.Keyed
	Body NuevoVehiculo
}

type changedVehicle struct {
	VehiculoPath
	Body NuevoVehiculo
}

type newTrailer struct {
	api.Keyed
	Body NuevoRemolque
}

type changedTrailer struct {
	RemolquePath
	Body NuevoRemolque
}

type unitQuery struct {
	api.PageQuery
	Libres
	Estado db.EstadoRecurso `query:"estado" enum:"disponible,en_viaje,inactivo,taller" doc:"Only those in this state, by plate"`
}

type newTrip struct {
	api.Keyed
	Body NuevoViaje
}

type tripQuery struct {
	api.PageQuery
	Estado db.EstadoViaje `query:"estado" enum:"borrador,programado,en_curso,completado,cancelado" doc:"Only those in this state"`
	Desde  time.Time      `query:"desde" doc:"The earliest time at which they begin"`
	Hasta  time.Time      `query:"hasta" doc:"The latest time at which they begin"`
}

type changedTrip struct {
	ViajePath
	Body DatosViaje
}

type chosenResources struct {
	ViajePath
	Body RecursosElegidos
}

type arrival struct {
	ViajePath
	Body *Llegada
}

type newPing struct {
	ViajePath
	Body Ping
}

type routeQuery struct {
	ViajePath
	api.PageQuery
	Desde time.Time `query:"desde" doc:"The earliest time"`
	Hasta time.Time `query:"hasta" doc:"The latest time"`
}

type newCartaOfTrip struct {
	ViajePath
	api.Keyed
	Body NuevaCarta
}

type tripPage struct {
	ViajePath
	api.PageQuery
}

type cartaPage struct {
	CartaPath
	api.PageQuery
}

type cartaQuery struct {
	api.PageQuery
	Status db.EstadoCarta `query:"status" enum:"borrador,en_timbrado,timbrada,en_cancelacion,cancelada" doc:"Only those in this state"`
}

type keyedCarta struct {
	CartaPath
	api.Keyed
}

type cancelledCarta struct {
	CartaPath
	Body Cancelacion
}

type declaredVehicle struct {
	CartaPath
	Body Autotransporte
}

type declaredPlaces struct {
	CartaPath
	Body Ubicaciones
}

type declaredPeople struct {
	CartaPath
	Body Figuras
}

type addedGoods struct {
	CartaPath
	api.Keyed
	Body Mercancias
}
