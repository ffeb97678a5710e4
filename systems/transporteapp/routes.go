package transporteapp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// caller is the field of access patterns that is set to the caller's id, which is the company's.
const caller = "UserID"

// routes registers the API. Routes named after an access pattern of the design call it directly; the others call domain
// functions.
func (s *service) routes(a huma.API) {
	s.companyRoutes(a)
	s.memberRoutes(a)
	s.fleetRoutes(a)
	s.tripRoutes(a)
	s.cartaRoutes(a)
}

// tag begins the routes of a tag. Dispatchers and owners can call them, unless a line says otherwise.
func (s *service) tag(a huma.API, name string) api.Routes {
	return api.Tag(a, name).With(s.inCompany()...)
}

func (s *service) companyRoutes(a huma.API) {
	perfil := s.tag(a, "Perfil")
	api.Get[Perfil](perfil, "/perfil", "getPerfil", "Your company's profile", s.profile, api.NotFound)
	api.Put[Perfil](perfil, "/perfil", "putPerfil", "Create or change your company's profile", s.saveProfile, forOwners)

	office := api.Tag(a, "Back office")
	api.Put[Perfil](office, "/empresas/{userId}/suscripcion", "putSuscripcion", "Change a company's plan", s.changePlan, api.Groups(AdminGroup), api.NotFound)
	api.Create[Abono](office, "/empresas/{userId}/creditos", "createAbono", "Add purchased credits to a company", s.addCredits, api.Groups(AdminGroup), api.NotFound)

	api.ListActs(office, s.db.ActsOfDay, api.Groups(AdminGroup))

	sesiones := api.Tag(a, "Sesiones")
	api.Create[Sesion](sesiones, "/sesiones", "createSesion", "Register a device", s.openSession,
		api.About("The session is the log-in of your token, so its id is the token's origin_jti. A repeated request returns it."))
	api.List[Sesion](sesiones, "/sesiones", "listSesiones", "Your signed-in devices", api.Pages[api.PageQuery](s.db.SesionesDeUsuario, caller))
	api.Delete(sesiones, "/sesiones/{id}", "deleteSesion", "Sign a device out", s.closeSession,
		api.About("All tokens of its log-in, including those refreshed later, are refused from the next request on (401)."))
}

func (s *service) memberRoutes(a huma.API) {
	own := api.Tag(a, "Miembros")
	api.List[Empresa](own, "/empresas", "listEmpresas", "Your companies and your roles", s.companies)
	api.Put[Miembro](own, "/empresas/{userId}/miembros/yo", "acceptInvitacion", "Accept an invitation", s.accept,
		api.Refuses(errInvitacion),
		api.About("It creates one membership; a repeated request returns it."))
	miembros := s.tag(a, "Miembros")
	api.List[Miembro](miembros, "/miembros", "listMiembros", "Your company's members", api.Pages[api.PageQuery](s.db.MiembrosDeEmpresa, caller), forOwners)
	api.Put[Miembro](miembros, "/miembros/{id}", "putMiembro", "Change a member's role", s.changeRole, forOwners, api.NotFound,
		api.Refuses(db.ErrMiembroCambio, db.ErrUltimoPropietario),
		api.About("It takes effect with the next request. A company needs at least one owner."))
	api.Delete(miembros, "/miembros/{id}", "deleteMiembro", "Remove a member, or leave the company", s.removeMember, forAll, api.NotFound,
		api.Refuses(db.ErrMiembroCambio, db.ErrUltimoPropietario))
	api.Post[InvitacionHecha](miembros, "/invitaciones", "createInvitacion", "Invite a user", s.invite, forOwners,
		api.About("The code is shown only once; it can be accepted once, within seven days."))
	api.List[Invitacion](miembros, "/invitaciones", "listInvitaciones", "Open invitations", api.Pages[api.PageQuery](s.db.InvitacionesDeEmpresa, caller), forOwners)
	api.Delete(miembros, "/invitaciones/{id}", "deleteInvitacion", "Revoke an invitation", api.Do[invitationPath](s.db.RetirarInvitacion, caller), forOwners)
}

func (s *service) fleetRoutes(a huma.API) {
	conductores := s.tag(a, "Conductores")
	api.Create[Conductor](conductores, "/conductores", "createConductor", "Add a driver", s.createDriver, api.At("conductores/{conductorId}"),
		api.Refuses(db.ErrSuscripcionInactiva, db.ErrLimiteConductores),
		api.About("The plan limits their number."))
	api.List[ConductorResumen](conductores, "/conductores", "listConductores", "Your drivers; by state, or available in a period", s.listDrivers,
		api.About("With desde and hasta: active drivers without trips in that period, whose licence is valid until its last day."))
	api.Get[Conductor](conductores, "/conductores/{id}", "getConductor", "One of your drivers", api.Call[ConductorPath](s.db.ConductorPorID, caller), api.NotFound, forDrivers)
	api.Put[Conductor](conductores, "/conductores/{id}", "putConductor", "Change a driver who is not on a trip", s.saveDriver, api.NotFound,
		api.Refuses(db.ErrConductorEnViaje))
	api.Delete(conductores, "/conductores/{id}", "deleteConductor", "Delete a driver", s.deleteDriver, api.NotFound,
		api.Refuses(db.ErrConductorEnViaje, db.ErrConductorAsignado))

	api.Get[ViajesDeConductor](conductores, "/conductores/{id}/viajes", "listViajesDeConductor", "A driver's current and planned trips", s.driverTrips, forDrivers, api.NotFound)

	vehiculos := s.tag(a, "Vehículos")
	api.Create[Vehiculo](vehiculos, "/vehiculos", "createVehiculo", "Add a vehicle", s.createVehicle, api.At("vehiculos/{vehiculoId}"),
		api.Refuses(db.ErrSuscripcionInactiva, db.ErrLimiteVehiculos, db.ErrVehiculoPlacaTaken),
		api.About("The plan limits their number."))
	api.List[UnidadResumen](vehiculos, "/vehiculos", "listVehiculos", "Your vehicles; by state, or available in a period", s.listVehicles)
	api.Get[Vehiculo](vehiculos, "/vehiculos/{id}", "getVehiculo", "One of your vehicles", api.Call[VehiculoPath](s.db.VehiculoPorID, caller), api.NotFound)
	api.Put[Vehiculo](vehiculos, "/vehiculos/{id}", "putVehiculo", "Change a vehicle that is not on a trip", s.saveVehicle, api.NotFound,
		api.Refuses(db.ErrVehiculoEnViaje, db.ErrVehiculoPlacaTaken))
	api.Delete(vehiculos, "/vehiculos/{id}", "deleteVehiculo", "Delete a vehicle", s.deleteVehicle, api.NotFound,
		api.Refuses(db.ErrVehiculoEnViaje, db.ErrVehiculoAsignado))

	remolques := s.tag(a, "Remolques")
	api.Create[Remolque](remolques, "/remolques", "createRemolque", "Add a trailer", s.createTrailer, api.At("remolques/{remolqueId}"),
		api.Refuses(db.ErrSuscripcionInactiva, db.ErrRemolquePlacaTaken))
	api.List[UnidadResumen](remolques, "/remolques", "listRemolques", "Your trailers; by state, or available in a period", s.listTrailers)
	api.Get[Remolque](remolques, "/remolques/{id}", "getRemolque", "One of your trailers", api.Call[RemolquePath](s.db.RemolquePorID, caller), api.NotFound)
	api.Put[Remolque](remolques, "/remolques/{id}", "putRemolque", "Change a trailer that is not on a trip", s.saveTrailer, api.NotFound,
		api.Refuses(db.ErrRemolqueEnViaje, db.ErrRemolquePlacaTaken))
	api.Delete(remolques, "/remolques/{id}", "deleteRemolque", "Delete a trailer", s.deleteTrailer, api.NotFound,
		api.Refuses(db.ErrRemolqueEnViaje, db.ErrRemolqueAsignado))

	api.Get[Vencimientos](conductores, "/vencimientos", "listVencimientos", "Licences, permits and insurance policies that expire soon or have expired", s.expiring, api.NotFound)
}

func (s *service) tripRoutes(a huma.API) {
	viajes := s.tag(a, "Viajes")
	api.Create[ViajeConCarta](viajes, "/viajes", "createViaje", "Plan a trip, with or without a Carta Porte", s.createTrip, api.At("viajes/{viajeId}"),
		api.NotFound, api.Refuses(errSinConfig, db.ErrSuscripcionInactiva, db.ErrLimiteMensual, db.ErrSinCreditos),
		api.About("With carta, the trip, its carta, the folio, the month's counter and the credit are one transaction."))
	api.List[ViajeResumen](viajes, "/viajes", "listViajes", "Your trips, newest first", s.listTrips,
		api.About("With estado, trips in that state by start time; with desde or hasta, trips that start then."))
	api.Get[ViajeConCarta](viajes, "/viajes/{id}", "getViaje", "One of your trips with its carta and position", ofTrip(s.trip), api.NotFound, forDrivers)
	api.Put[Viaje](viajes, "/viajes/{id}", "putViaje", "Change a trip without a driver", s.saveTrip, api.NotFound,
		api.Refuses(db.ErrViajeNoProgramado, db.ErrViajeAsignado))
	api.Post[Viaje](viajes, "/viajes/{id}/programar", "programarViaje", "Plan a draft trip", ofTrip(s.schedule), api.NotFound,
		api.Refuses(db.ErrViajeNoBorrador))
	api.Put[Viaje](viajes, "/viajes/{id}/recursos", "putRecursos", "Assign or reassign driver, vehicle and trailer", s.assign, api.NotFound,
		api.Refuses(db.ErrViajeNoProgramado, db.ErrRecursoCambio, errAgendaLlena, errLicenciaVencida, errConductorOcupado, errVehiculoOcupado, errRemolqueOcupado, db.ErrConductorNoDisponible, db.ErrVehiculoNoDisponible, db.ErrRemolqueNoDisponible),
		api.About("If one of them has another trip in the period, nothing changes. A trip can start when another ends."))
	api.Remove[Viaje](viajes, "/viajes/{id}/recursos", "deleteRecursos", "Unassign driver, vehicle and trailer", s.unassign, api.NotFound,
		api.Refuses(db.ErrViajeNoProgramado, db.ErrRecursoCambio),
		api.About("Possible until the trip starts; a trip without them does not change."))
	api.Post[Viaje](viajes, "/viajes/{id}/iniciar", "iniciarViaje", "Start a trip", ofTrip(s.begin), forDrivers, api.NotFound,
		api.Refuses(db.ErrViajeNoProgramado, db.ErrRecursoCambio, db.ErrViajeSinRecursos, db.ErrViajeAnticipado, db.ErrCartaSinTimbrar, db.ErrConductorEnViaje, db.ErrConductorNoDisponible, db.ErrVehiculoEnViaje, db.ErrVehiculoNoDisponible, db.ErrRemolqueEnViaje, db.ErrRemolqueNoDisponible),
		api.About("Its carta must be stamped, unless it is local, and its planned start must be within a day."))
	api.Post[Viaje](viajes, "/viajes/{id}/completar", "completarViaje", "Complete a trip", s.complete, forDrivers, api.NotFound,
		api.Refuses(db.ErrViajeNoEnCurso, db.ErrRecursoCambio),
		api.About("Driver, vehicle and trailer become available, and their distance is counted."))
	api.Post[Viaje](viajes, "/viajes/{id}/cancelar", "cancelarViaje", "Cancel a trip", ofTrip(s.cancel), api.NotFound,
		api.Refuses(db.ErrViajeTerminado, db.ErrCartaVigente, errSustituidaVigente, db.ErrRecursoCambio))
	api.Post[RecursosHallados](viajes, "/recursos/consulta", "findRecursos", "Several drivers, vehicles and trailers by id", s.findResources,
		api.About("Ids that are not yours are left out."))

	op, events := boardEvents()
	live.Register(a, s.hub, op, events, s.watch, append(s.inCompany(), forAll)...)

	rastreo := s.tag(a, "Rastreo")
	api.Post[Rastreo](rastreo, "/viajes/{id}/posiciones", "createPosicion", "Report a trip's position", s.ping, api.NotFound,
		api.Refuses(db.ErrViajeNoEnCurso),
		api.About("It needs no Idempotency-Key: the position's time is its key."), forDrivers)
	api.Get[Rastreo](rastreo, "/viajes/{id}/posicion", "getPosicion", "A trip's position and progress", s.position, api.NotFound, forDrivers)
	api.List[Posicion](rastreo, "/viajes/{id}/posiciones", "listPosiciones", "A trip's positions", s.route, api.NotFound, forDrivers)
}

func (s *service) cartaRoutes(a huma.API) {
	cartas := s.tag(a, "Cartas")
	ofDraft := api.Refuses(db.ErrCartaNoBorrador, db.ErrCartaSellada, db.ErrCartaCambio)
	api.Create[Carta](cartas, "/viajes/{id}/cartas", "createCarta", "Create a carta for a trip without one", s.addCarta, api.NotFound, api.At("cartas/{cartaId}"),
		api.Refuses(errSinConfig, db.ErrSuscripcionInactiva, db.ErrLimiteMensual, db.ErrSinCreditos, db.ErrViajeTieneCarta, db.ErrViajeNoProgramado, db.ErrCartaNoTimbrada),
		api.About("With sustituye, it replaces the trip's stamped carta and has its goods: stamp it, then cancel the other one with motivo 01."))
	api.List[CartaResumen](cartas, "/viajes/{id}/cartas", "listCartasDeViaje", "A trip's cartas, including cancelled ones", s.cartasOfTrip, api.NotFound)
	api.List[CartaResumen](cartas, "/cartas", "listCartas", "Your cartas, newest first; by state, oldest first",
		api.Either[CartaResumen, cartaQuery](s.db.CartasPorEstado, s.db.CartasDeUsuario, caller))
	api.Get[Carta](cartas, "/cartas/{id}", "getCarta", "A carta's header", ofCarta(s.head), api.NotFound, forDrivers)
	api.Get[Carta](cartas, "/folios/{folio}", "getCartaPorFolio", "A carta by its folio", s.byFolio, api.NotFound)
	api.Post[Carta](cartas, "/cartas/{id}/sellar", "sellarCarta", "Validate and close a carta", ofCarta(s.seal), api.NotFound, ofDraft, api.Refuses(errCartaIncompleta, errCartaEnorme),
		api.About("The whole carta is checked against the rules of the tax office."))
	api.Post[Carta](cartas, "/cartas/{id}/abrir", "abrirCarta", "Reopen a closed carta", ofCarta(s.open), api.NotFound,
		api.Refuses(db.ErrCartaEnTimbrado, db.ErrCartaNoBorrador, db.ErrCartaNoSellada))
	api.Create[Carta](cartas, "/cartas/{id}/timbrado", "timbrarCarta", "Stamp a closed carta", s.stamp, api.NotFound, api.At("cartas/{cartaId}/xml"),
		api.Refuses(db.ErrCartaNoBorrador, db.ErrCartaNoSellada, db.ErrCartaCambio, db.ErrCartaDeOtroViaje, errCartaIncompleta, errCartaVencida, errCartaEnorme, errPACRechaza),
		api.About("If the deployment has no PAC, the stamp is a test stamp: PRUEBA, sin validez fiscal."))
	stamped := api.Refuses(table.ErrNotFound, db.ErrCartaNoTimbrada)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getXml", Method: http.MethodGet, Path: "/cartas/{id}/xml", Tags: []string{"Cartas"},
		Summary: "The XML of a stamped carta",
	}, append(s.inCompany(), forDrivers, stamped)...), s.getXML)
	huma.Register(a, api.Operation(huma.Operation{
		OperationID: "getPdf", Method: http.MethodGet, Path: "/cartas/{id}/pdf", Tags: []string{"Cartas"},
		Summary:   "A stamped carta as a PDF",
		Responses: map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/pdf": {}}}},
	}, append(s.inCompany(), forDrivers, stamped)...), s.getPDF)
	api.Post[Carta](cartas, "/cartas/{id}/cancelacion", "cancelarCarta", "Cancel a carta", s.cancelCarta, api.NotFound,
		api.Refuses(db.ErrCartaEnTimbrado, db.ErrCartaNoTimbrada, db.ErrCartaNoBorrador, db.ErrViajeEnMarcha, db.ErrCartaDeOtroViaje, errPACRechaza, errSustitutaSinTimbrar),
		api.About("The credit of a draft is returned. If it replaces a stamped carta, the trip has that one again."))
	api.Get[Contenido](cartas, "/cartas/{id}/contenido", "getContenido", "A carta's contents, in pages", s.contents, api.NotFound)
	api.Put[Autotransporte](cartas, "/cartas/{id}/autotransporte", "putAutotransporte", "Set a draft's vehicle", s.declareVehicle, api.NotFound, ofDraft)
	api.Put[Ubicaciones](cartas, "/cartas/{id}/ubicaciones", "putUbicaciones", "Set a draft's places", s.declarePlaces, api.NotFound, ofDraft)
	api.Put[Figuras](cartas, "/cartas/{id}/figuras", "putFiguras", "Set a draft's people", s.declarePeople, api.NotFound, ofDraft)
	api.Create[Agregado](cartas, "/cartas/{id}/mercancias", "addMercancias", "Add goods to a draft", s.addGoods, api.NotFound, ofDraft,
		api.About("At most 1,000 per request; send more in several requests, each with its own key."))
	api.Put[Mercancia](cartas, "/cartas/{id}/mercancias/{orden}", "putMercancia", "Change one of a draft's goods", s.changeGood, api.NotFound, ofDraft,
		api.About("Removals move goods: send the ETag of the carta as If-Match, which fails if the carta was changed since."))
	api.Remove[Totales](cartas, "/cartas/{id}/mercancias/{orden}", "deleteMercancia", "Remove a good from a draft", s.removeGood, api.NotFound, ofDraft,
		api.About("The last of the goods moves to its place, so a repeated request would remove it too: send the ETag of the carta as If-Match, which fails if the carta was changed since."))
	api.Put[Carta](cartas, "/cartas/{id}/receptor", "putReceptor", "Change a draft's receiver", s.changeReceiver, api.NotFound, ofDraft)
	api.Post[Revisado](cartas, "/cartas/{id}/revision", "reviewCarta", "What the tax office would reject, including unsaved input", s.review, api.NotFound, unchecked, api.Refuses(db.ErrCartaCambio),
		api.About("Nothing is stored. The parts in the body replace those of the carta and may be incomplete."))
	api.Get[Claves](cartas, "/catalogos/{nombre}", "searchCatalogo", "Search a catalogue of the tax office", s.catalog, forAll,
		api.About("By the start of the key, or by words that start words of the description; accents are ignored."))
	api.List[Mercancia](cartas, "/cartas/{id}/mercancias", "listMercancias", "The goods of a carta", s.goods, api.NotFound)
}

// ofTrip adapts a function of a company and its trip to the caller's company.
func ofTrip[Out any](do func(ctx context.Context, userID, id string) (Out, error)) func(context.Context, auth.Principal, ViajePath) (Out, error) {
	return func(ctx context.Context, who auth.Principal, in ViajePath) (Out, error) {
		return do(ctx, who.Sub, in.ViajeID)
	}
}

// ofCarta adapts a function of a company and its carta to the caller's company.
func ofCarta[Out any](do func(ctx context.Context, userID, id string) (Out, error)) func(context.Context, auth.Principal, CartaPath) (Out, error) {
	return func(ctx context.Context, who auth.Principal, in CartaPath) (Out, error) {
		return do(ctx, who.Sub, in.CartaID)
	}
}

// document is a response that is not JSON.
type document struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *service) getXML(ctx context.Context, in *CartaPath) (*document, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	_, text, err := s.xml(ctx, who.Sub, in.CartaID)
	return &document{"application/xml; charset=utf-8", text}, err
}

func (s *service) getPDF(ctx context.Context, in *CartaPath) (*document, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	printed, err := s.pdf(ctx, who.Sub, in.CartaID)
	return &document{"application/pdf", printed}, err
}

// EmpresaPath identifies a company in the back office's operations. Path types are exported because huma ignores other embedded
// structs.
type EmpresaPath struct {
	UserID string `path:"userId" pattern:"^[A-Za-z0-9._:@-]{1,128}$" patternDescription:"a sub" doc:"The company"`
}

// ConductorPath identifies a driver.
type ConductorPath struct {
	ConductorID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// VehiculoPath identifies a vehicle.
type VehiculoPath struct {
	VehiculoID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// RemolquePath identifies a trailer.
type RemolquePath struct {
	RemolqueID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// ViajePath identifies a trip.
type ViajePath struct {
	ViajeID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

// CartaPath identifies a carta.
type CartaPath struct {
	CartaID string `path:"id" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"Its id"`
}

type sesionPath struct {
	SessionID string `path:"id" pattern:"^[0-9A-Za-z-]{20,64}$" patternDescription:"the id of a session" doc:"Its id"`
}

type folioPath struct {
	Folio string `path:"folio" pattern:"^CP-[0-9]{6,12}$" patternDescription:"CP- and digits" doc:"Such as CP-000015"`
}

type changedProfile struct {
	api.Seen
	Body NuevoPerfil
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

// NuevoAbono is a number of purchased credits.
type NuevoAbono struct {
	Creditos int64 `json:"creditos" minimum:"1" maximum:"1000000" doc:"How many"`
}

// NuevaSesion is a device that signs in.
type NuevaSesion struct {
	Dispositivo string `json:"dispositivo" minLength:"1" maxLength:"200" doc:"The device's name"`
}

type changedDriver struct {
	ConductorPath
	api.Seen
	Body NuevoConductor
}

type driverQuery struct {
	api.PageQuery
	Libres
	Estado db.EstadoRecurso `query:"estado" enum:"disponible,en_viaje,inactivo" doc:"Only those in this state, by name"`
}

type changedVehicle struct {
	VehiculoPath
	api.Seen
	Body NuevoVehiculo
}

type changedTrailer struct {
	RemolquePath
	api.Seen
	Body NuevoRemolque
}

type unitQuery struct {
	api.PageQuery
	Libres
	Estado db.EstadoRecurso `query:"estado" enum:"disponible,en_viaje,inactivo,taller" doc:"Only those in this state, by plate"`
}

type tripQuery struct {
	api.PageQuery
	Estado db.EstadoViaje `query:"estado" enum:"borrador,programado,en_curso,completado,cancelado" doc:"Only those in this state"`
	Desde  time.Time      `query:"desde" doc:"The earliest start"`
	Hasta  time.Time      `query:"hasta" doc:"The latest start"`
}

type changedTrip struct {
	ViajePath
	api.Seen
	Body DatosViaje
}

type chosenResources struct {
	ViajePath
	api.Seen
	Body RecursosElegidos
}

type takenBack struct {
	ViajePath
	api.Seen
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
	Body CartaDeViaje
}

type tripPage struct {
	ViajePath
	api.PageQuery
}

type cartaPage struct {
	CartaPath
	api.PageQuery
}

type contentsQuery struct {
	CartaPath
	api.PageQuery
	SinMercancias bool `query:"sinMercancias" doc:"Without goods, in one page"`
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
	api.Seen
	Body Autotransporte
}

type declaredPlaces struct {
	CartaPath
	api.Seen
	Body Ubicaciones
}

type declaredPeople struct {
	CartaPath
	api.Seen
	Body Figuras
}

type addedGoods struct {
	CartaPath
	api.Keyed
	Body Mercancias
}
