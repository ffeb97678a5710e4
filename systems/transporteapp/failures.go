package transporteapp

import (
	"errors"
	"net/http"

	"github.com/monotable/monotable/systems/internal/problem"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Domain errors.
var (
	errSinConfig           = errors.New("the profile has no issuer configuration")
	errConductorOcupado    = errors.New("the driver has another trip in that period")
	errVehiculoOcupado     = errors.New("the vehicle has another trip in that period")
	errRemolqueOcupado     = errors.New("the trailer has another trip in that period")
	errAgendaLlena         = errors.New("the driver, vehicle or trailer already has 100 unfinished trips")
	errLicenciaVencida     = errors.New("the driver's licence expires before the end of the trip")
	errCartaIncompleta     = errors.New("the tax office would reject the carta")
	errCartaVencida        = errors.New("the carta was sealed more than 72 hours ago")
	errSinAcceso           = errors.New("you are not a member of this company")
	errRol                 = errors.New("your role in this company does not allow it")
	errInvitacion          = errors.New("the invitation does not exist, or it was accepted or revoked, or it has expired")
	errSustitutaSinTimbrar = errors.New("the carta that replaces it is not stamped: stamp or discard that one first")
	errSustituidaVigente   = errors.New("an earlier carta of the trip is still stamped, although another one replaced it: cancel it first")
	errPACRechaza          = errors.New("the PAC rejected the document")
)

// rules map the design's and the domain's errors to responses.
func rules() problem.Rules {
	return problem.Rules{
		{Err: db.ErrLimiteConductores, Code: "limite_conductores", Detail: "the plan allows no more drivers"},
		{Err: db.ErrLimiteVehiculos, Code: "limite_vehiculos", Detail: "the plan allows no more vehicles"},
		{Err: db.ErrLimiteMensual, Code: "limite_mensual", Detail: "the plan allows no more cartas this month"},
		{Err: db.ErrSinCreditos, Code: "sin_creditos", Detail: "there is no credit left"},
		{Err: db.ErrSuscripcionInactiva, Code: "suscripcion_inactiva", Detail: "the subscription is not active"},
		{Err: db.ErrConductorEnViaje, Code: "conductor_en_viaje", Detail: "the driver is on a trip"},
		{Err: db.ErrVehiculoEnViaje, Code: "vehiculo_en_viaje", Detail: "the vehicle is on a trip"},
		{Err: db.ErrRemolqueEnViaje, Code: "remolque_en_viaje", Detail: "the trailer is on a trip"},
		{Err: db.ErrVehiculoPlacaTaken, Code: "placa_repetida", Detail: "another vehicle of the company has this plate"},
		{Err: db.ErrRemolquePlacaTaken, Code: "placa_repetida", Detail: "another trailer of the company has this plate"},
		{Err: db.ErrConductorAsignado, Code: "conductor_asignado", Detail: "the driver has unfinished trips: reassign them first"},
		{Err: db.ErrVehiculoAsignado, Code: "vehiculo_asignado", Detail: "the vehicle has unfinished trips: reassign them first"},
		{Err: db.ErrRemolqueAsignado, Code: "remolque_asignado", Detail: "the trailer has unfinished trips: reassign them first"},
		{Err: db.ErrConductorNoDisponible, Code: "conductor_no_disponible", Detail: "the driver is not active"},
		{Err: db.ErrVehiculoNoDisponible, Code: "vehiculo_no_disponible", Detail: "the vehicle is not active"},
		{Err: db.ErrRemolqueNoDisponible, Code: "remolque_no_disponible", Detail: "the trailer is not active"},
		{Err: errConductorOcupado, Code: "conductor_ocupado"},
		{Err: errVehiculoOcupado, Code: "vehiculo_ocupado"},
		{Err: errRemolqueOcupado, Code: "remolque_ocupado"},
		{Err: errAgendaLlena, Code: "agenda_llena"},
		{Err: db.ErrRecursoCambio, Code: "recurso_cambio", Detail: "driver, vehicle or trailer have changed in the meantime: read the trip again"},
		{Err: db.ErrViajeAsignado, Code: "viaje_asignado", Detail: "the trip has a driver and vehicle: unassign them first"},
		{Err: db.ErrViajeNoBorrador, Code: "viaje_no_borrador", Detail: "the trip is not a draft"},
		{Err: db.ErrViajeNoProgramado, Code: "viaje_no_programado", Detail: "the trip is not planned, or has already started or ended"},
		{Err: db.ErrViajeSinRecursos, Code: "viaje_sin_recursos", Detail: "the trip has no driver and vehicle"},
		{Err: db.ErrViajeAnticipado, Code: "viaje_anticipado", Detail: "the trip is planned to start later: change its fechaInicioProgramada, or wait"},
		{Err: db.ErrViajeNoEnCurso, Code: "viaje_no_en_curso", Detail: "the trip is not in progress"},
		{Err: db.ErrViajeTerminado, Code: "viaje_terminado", Detail: "the trip has ended or was cancelled"},
		{Err: db.ErrViajeEnMarcha, Code: "viaje_en_marcha", Detail: "the trip is in progress"},
		{Err: db.ErrViajeTieneCarta, Code: "viaje_tiene_carta", Detail: "the trip has a carta"},
		{Err: db.ErrCartaVigente, Code: "carta_vigente", Detail: "the trip has a carta: cancel it first"},
		{Err: errSustituidaVigente, Code: "carta_vigente"},
		{Err: db.ErrCartaSinTimbrar, Code: "carta_sin_timbrar", Detail: "the trip has no stamped carta: stamp one, or set local for a trip that uses no federal roads"},
		{Err: db.ErrCartaNoBorrador, Code: "carta_no_borrador", Detail: "the carta is no longer a draft"},
		{Err: db.ErrCartaEnTimbrado, Code: "carta_en_timbrado", Detail: "the PAC has not responded to the request for the carta's stamp: request the stamp again"},
		{Err: db.ErrCartaSellada, Code: "carta_sellada", Detail: "the carta is sealed: open it first"},
		{Err: db.ErrCartaNoSellada, Code: "carta_no_sellada", Detail: "the carta is not sealed"},
		{Err: db.ErrCartaNoTimbrada, Code: "carta_no_timbrada", Detail: "the carta is not stamped"},
		{Err: db.ErrCartaCambio, Code: "carta_cambio", Detail: "the carta has changed in the meantime: read it again"},
		{Err: db.ErrCartaDeOtroViaje, Code: "carta_de_otro_viaje", Detail: "the trip has another carta"},
		problem.ChangedSince(db.ErrConductorCambiado),
		problem.ChangedSince(db.ErrVehiculoCambiado),
		problem.ChangedSince(db.ErrRemolqueCambiado),
		problem.ChangedSince(db.ErrViajeCambiado),
		{Err: errSinAcceso, Status: http.StatusForbidden, Code: "sin_acceso"},
		{Err: errRol, Status: http.StatusForbidden, Code: "rol_insuficiente"},
		{Err: errInvitacion, Status: http.StatusNotFound, Code: "invitacion_no_valida"},
		{Err: db.ErrUltimoPropietario, Code: "ultimo_propietario", Detail: "a company needs at least one owner: make someone else an owner first"},
		{Err: db.ErrMiembroCambio, Code: "miembro_cambio", Detail: "the member has changed in the meantime: read it again"},
		{Err: errSinConfig, Code: "perfil_sin_config", Detail: "first set the issuer configuration in the profile's config"},
		{Err: errLicenciaVencida, Code: "licencia_vencida"},
		{Err: errCartaIncompleta, Code: "carta_incompleta"},
		{Err: errCartaVencida, Code: "carta_vencida", Detail: "the carta was sealed more than 72 hours ago: open and seal it again"},
		{Err: errPACRechaza, Code: "pac_rechaza"},
		{Err: errSustitutaSinTimbrar, Code: "sustituta_sin_timbrar"},
		problem.ChangedSince(db.ErrPerfilCambiado),
	}
}
