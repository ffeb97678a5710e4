package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/transporteapp"
)

// template is how TransporteApp is deployed: the patterns that each function calls.
func template(v *apitest.Server) sam.Template {
	once := func(patterns ...string) []string { return append(patterns, "PeticionPorClave") }
	found := []string{"ConductorPorID", "VehiculoPorID", "RemolquePorID"}
	with := func(list []string, patterns ...string) []string { return append(patterns, list...) }
	terms := []string{"Perfil", "UsoDelMes", "UltimoFolio"}
	return sam.Template{
		Name: transporteapp.Name, AdminGroup: transporteapp.AdminGroup, Title: "TransporteApp", Design: "transporteapp.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":     {"ExportPerson"},
			"eraseOwnData":      {"ErasePerson", "ViajesPorEstado", "CartasPorEstado"},
			"getPerfil":         {"Perfil", "UsoDelMes"},
			"putPerfil":         {"GuardarPerfil", "CrearPerfil", "UsoDelMes"},
			"putSuscripcion":    {"CambiarPlan", "UsoDelMes"},
			"createAbono":       once("AbonarCreditos", "Perfil"),
			"createConductor":   once("CrearConductor", "VehiculoPorID"),
			"listConductores":   {"ConductoresDeUsuario", "ConductoresPorEstado", "Agendas", "Perfil"},
			"getConductor":      {"ConductorPorID"},
			"putConductor":      {"GuardarConductor", "ConductorPorID", "VehiculoPorID"},
			"deleteConductor":   {"BorrarConductor"},
			"createVehiculo":    once("CrearVehiculo"),
			"listVehiculos":     {"VehiculosDeUsuario", "VehiculosPorEstado", "Agendas"},
			"getVehiculo":       {"VehiculoPorID"},
			"putVehiculo":       {"GuardarVehiculo", "VehiculoPorID"},
			"deleteVehiculo":    {"BorrarVehiculo"},
			"createRemolque":    once("CrearRemolque"),
			"listRemolques":     {"RemolquesDeUsuario", "RemolquesPorEstado", "Agendas"},
			"getRemolque":       {"RemolquePorID"},
			"putRemolque":       {"GuardarRemolque", "RemolquePorID"},
			"deleteRemolque":    {"BorrarRemolque"},
			"findRecursos":      found,
			"createViaje":       once(with(terms, "CrearViaje", "CrearViajeConCarta")...),
			"listViajes":        {"ViajesDeUsuario", "ViajesPorEstado", "ViajesPorFecha"},
			"getViaje":          {"ViajePorID", "CartaPorID", "PosicionActual"},
			"putViaje":          {"GuardarViaje"},
			"programarViaje":    {"ProgramarViaje"},
			"putRecursos":       with(found, "ViajePorID", "Agendas", "Perfil", "AsignarRecursos"),
			"deleteRecursos":    {"ViajePorID", "Agendas", "AsignarRecursos"},
			"iniciarViaje":      {"ViajePorID", "IniciarViaje", "IniciarConRemolque"},
			"completarViaje":    {"ViajePorID", "PosicionActual", "ConductorPorID", "CompletarViaje", "CompletarConRemolque"},
			"cancelarViaje":     {"ViajePorID", "CancelarViaje", "CancelarAsignado", "CancelarEnCurso", "CancelarEnCursoConRemolque"},
			"createCarta":       once(with(terms, "CrearCartaDeViaje")...),
			"listCartasDeViaje": {"CartasDeViaje", "ViajePorID"},
			"createPosicion":    {"PosicionActual", "MoverViaje", "AnotarPosicion"},
			"getPosicion":       {"PosicionActual"},
			"listPosiciones":    {"Ruta", "ViajePorID"},
			"listCartas":        {"CartasDeUsuario", "CartasPorEstado"},
			"getCarta":          {"CartaPorID"},
			"getCartaPorFolio":  {"CartaPorFolio"},
			"getContenido":      {"CartaPorID", "CartaCompleta"},
			"putAutotransporte": {"CartaPorID", "GuardarAutotransporte"},
			"putUbicaciones":    {"CartaPorID", "GuardarUbicaciones", "QuitarUbicaciones"},
			"putFiguras":        {"CartaPorID", "GuardarFiguras", "QuitarFiguras"},
			"addMercancias":     once("CartaPorID", "AgregarMercancias"),
			"listMercancias":    {"MercanciasDeCarta", "CartaPorID"},
			"sellarCarta":       {"CartaPorID", "CartaCompleta", "SellarCarta"},
			"abrirCarta":        {"AbrirCarta"},
			"timbrarCarta":      once("CartaPorID", "CartaCompleta", "Perfil", "EmpezarTimbrado", "DejarTimbrado", "TimbrarCarta"),
			"getXml":            {"CartaPorID", "XmlDeCarta"},
			"cancelarCarta":     {"CartaPorID", "CancelarBorrador", "EmpezarCancelacion", "DejarCancelacion", "CancelarTimbrada"},
			"createSesion":      once("AbrirSesion"),
			"listSesiones":      {"SesionesDeUsuario"},
			"deleteSesion":      {"CerrarSesion"},
		},
	}
}

// TestTemplate: lambda/template.yaml is what the design and the API make it.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, transporteapp.System(transporteapp.Options{}))).Compare(t, "lambda/template.yaml")
}
