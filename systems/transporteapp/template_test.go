package transporteapp_test

import (
	"slices"
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/transporteapp"
)

// template describes the deployment: which patterns each function calls.
func template(v *apitest.Server) sam.Template {
	once := func(patterns ...string) []string { return append(patterns, "PeticionPorClave") }
	found := []string{"ConductorPorID", "VehiculoPorID", "RemolquePorID"}
	with := func(list []string, patterns ...string) []string { return append(patterns, list...) }
	terms := []string{"Perfil", "UsoDelMes", "UltimoFolio"}
	generated := sam.Template{
		Name: transporteapp.Name, AdminGroup: transporteapp.AdminGroup, Title: "TransporteApp", Design: "transporteapp.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":    {"ExportPerson", "MiembroPorID", "Perfil"},
			"listEmpresas":     {"EmpresasDeMiembro", "MiembroPorID", "Perfil"},
			"acceptInvitacion": {"InvitacionPorID", "AceptarInvitacion"},
			"listMiembros":     {"MiembrosDeEmpresa"},
			"putMiembro":       {"CambiarRol", "ConductorPorID"},
			"deleteMiembro":    {"QuitarMiembro"},
			"createInvitacion": {"Invitar", "ConductorPorID"},
			"listInvitaciones": {"InvitacionesDeEmpresa"},
			"deleteInvitacion": {"RetirarInvitacion"},
			"listVencimientos": {"ConductoresPorVencer", "VehiculosPorVencer", "RemolquesPorVencer"},

			"listViajesDeConductor": {"Agendas", "ViajePorID"},
			"watchViajes":           {},
			"putMercancia":          {"CartaPorID", "MercanciaPorOrden", "CambiarMercancia"},
			"deleteMercancia":       {"CartaPorID", "MercanciaPorOrden", "QuitarMercancia", "RelevarMercancia"},
			"putReceptor":           {"CartaPorID", "GuardarReceptor"},
			"reviewCarta":           {"CartaPorID", "CartaCompleta"},
			"searchCatalogo":        {},
			"getPdf":                {"CartaPorID", "XmlDeCarta"},

			"eraseOwnData":      {"ErasePerson", "MiembroPorID", "Perfil", "MiembrosDeEmpresa", "EmpresasDeMiembro", "ViajesPorEstado", "CartasPorEstado"},
			"getPerfil":         {"Perfil", "UsoDelMes"},
			"putPerfil":         {"GuardarPerfil", "CrearPerfil", "UsoDelMes"},
			"putSuscripcion":    {"CambiarPlan", "UsoDelMes", "KeepAct"},
			"listActs":          {"ActsOfDay"},
			"createAbono":       once("AbonarCreditos", "Perfil", "KeepAct"),
			"createConductor":   once("CrearConductor", "VehiculoPorID"),
			"listConductores":   {"ConductoresDeUsuario", "ConductoresPorEstado", "Agendas", "Perfil"},
			"getConductor":      {"ConductorPorID"},
			"putConductor":      {"EditarConductor", "GuardarConductor", "ConductorPorID", "VehiculoPorID"},
			"deleteConductor":   {"BorrarConductor"},
			"createVehiculo":    once("CrearVehiculo"),
			"listVehiculos":     {"VehiculosDeUsuario", "VehiculosPorEstado", "Agendas"},
			"getVehiculo":       {"VehiculoPorID"},
			"putVehiculo":       {"EditarVehiculo", "GuardarVehiculo"},
			"deleteVehiculo":    {"BorrarVehiculo"},
			"createRemolque":    once("CrearRemolque"),
			"listRemolques":     {"RemolquesDeUsuario", "RemolquesPorEstado", "Agendas"},
			"getRemolque":       {"RemolquePorID"},
			"putRemolque":       {"EditarRemolque", "GuardarRemolque"},
			"deleteRemolque":    {"BorrarRemolque"},
			"findRecursos":      found,
			"createViaje":       once(with(terms, "CrearViaje", "CrearViajeConCarta")...),
			"listViajes":        {"ViajesDeUsuario", "ViajesPorEstado", "ViajesPorFecha"},
			"getViaje":          {"ViajePorID", "CartaPorID", "PosicionActual", "CartaCompleta", "UbicacionesDeCarta", "ConductorPorID"},
			"putViaje":          {"ViajePorID", "CartaPorID", "UbicacionesDeCarta", "GuardarViaje", "GuardarViajeConCarta"},
			"programarViaje":    {"ProgramarViaje"},
			"putRecursos":       with(found, "ViajePorID", "Agendas", "Perfil", "AsignarRecursos"),
			"deleteRecursos":    {"ViajePorID", "Agendas", "AsignarRecursos"},
			"iniciarViaje":      {"ViajePorID", "IniciarViaje", "IniciarConRemolque"},
			"completarViaje":    {"ViajePorID", "PosicionActual", "ConductorPorID", "CompletarViaje", "CompletarConRemolque"},
			"cancelarViaje":     {"ViajePorID", "CartasDeViaje", "CartaPorID", "CancelarViaje", "CancelarAsignado", "CancelarEnCurso", "CancelarEnCursoConRemolque"},
			"createCarta":       once(with(terms, "CartaPorID", "CrearCartaDeViaje", "MercanciasDeCarta", "AgregarMercancias")...),
			"listCartasDeViaje": {"CartasDeViaje", "ViajePorID"},
			"createPosicion":    {"PosicionActual", "MoverViaje", "AnotarPosicion"},
			"getPosicion":       {"PosicionActual"},
			"listPosiciones":    {"Ruta", "ViajePorID"},
			"listCartas":        {"CartasDeUsuario", "CartasPorEstado"},
			"getCarta":          {"CartaPorID"},
			"getCartaPorFolio":  {"CartaPorFolio"},
			"getContenido":      {"CartaPorID", "CartaCompleta", "UbicacionesDeCarta"},
			"putAutotransporte": {"CartaPorID", "GuardarAutotransporte"},
			"putUbicaciones":    {"CartaPorID", "GuardarUbicaciones", "QuitarUbicaciones"},
			"putFiguras":        {"CartaPorID", "GuardarFiguras", "QuitarFiguras"},
			"addMercancias":     once("CartaPorID", "AgregarMercancias"),
			"listMercancias":    {"MercanciasDeCarta", "CartaPorID"},
			"sellarCarta":       {"CartaPorID", "CartaCompleta", "SellarCarta"},
			"abrirCarta":        {"AbrirCarta"},
			"timbrarCarta":      once("CartaPorID", "CartaCompleta", "Perfil", "EmpezarTimbrado", "DejarTimbrado", "TimbrarCarta"),
			"getXml":            {"CartaPorID", "XmlDeCarta"},
			"cancelarCarta":     {"CartaPorID", "ViajePorID", "CancelarBorrador", "EmpezarCancelacion", "DejarCancelacion", "CancelarTimbrada", "EmpezarCancelacionSustituida", "DejarCancelacionSustituida", "CancelarSustituida"},
			"createSesion":      once("AbrirSesion"),
			"listSesiones":      {"SesionesDeUsuario"},
			"deleteSesion":      {"CerrarSesion"},
		},
	}
	// Every request reads the log-in, a company's also the member, and a driver's also the trip.
	ofTrips := []string{"iniciarViaje", "completarViaje", "createPosicion", "getPosicion", "listPosiciones", "getViaje", "getCarta", "getXml", "getPdf"}
	outside := []string{"exportOwnData", "eraseOwnData", "putSuscripcion", "createAbono", "listActs", "createSesion", "listSesiones", "deleteSesion"}
	for name, list := range generated.Functions {
		list = append(list, "SesionPorID")
		if !slices.Contains(outside, name) {
			list = append(list, "MiembroPorID", "Perfil")
		}
		if slices.Contains(ofTrips, name) {
			list = append(list, "ViajePorID", "CartaPorID")
		}
		slices.Sort(list)
		generated.Functions[name] = slices.Compact(list)
	}
	return generated
}

// TestTemplate: the files in lambda are generated from the design and the API.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, transporteapp.System(transporteapp.Options{}))).Compare(t, "lambda")
}

// TestMain runs every test with the permissions that the template gives to each function.
func TestMain(m *testing.M) {
	apitest.Main(m, template, func() system.System { return transporteapp.System(transporteapp.Options{}) })
}
