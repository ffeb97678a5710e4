package transporteapp

import (
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// Conversions from stored items to responses.
var (
	perfilOfUser       = byname.Copy[db.User, Perfil]()
	conductorOf        = byname.Copy[db.Conductor, Conductor]()
	conductorEnLista   = byname.Copy[db.Conductor, ConductorResumen]()
	conductorPorEstado = byname.Copy[db.ConductoresPorEstadoItem, ConductorResumen]()
	vehiculoOf         = byname.Copy[db.Vehiculo, Vehiculo]()
	vehiculoEnLista    = byname.Copy[db.Vehiculo, UnidadResumen]()
	vehiculoPorEstado  = byname.Copy[db.VehiculosPorEstadoItem, UnidadResumen]()
	remolqueOf         = byname.Copy[db.Remolque, Remolque]()
	remolqueEnLista    = byname.Copy[db.Remolque, UnidadResumen]()
	remolquePorEstado  = byname.Copy[db.RemolquesPorEstadoItem, UnidadResumen]()
	viajeOf            = byname.Copy[db.Viaje, Viaje]()
	viajeEnLista       = byname.Copy[db.Viaje, ViajeResumen]()
	viajePorEstado     = byname.Copy[db.ViajesPorEstadoItem, ViajeResumen]()
	viajePorFecha      = byname.Copy[db.ViajesPorFechaItem, ViajeResumen]()
	recursosOf         = byname.Copy[db.Recursos, Recursos]()
	sesionOf           = byname.Copy[db.Session, Sesion]()
	rastreoOfTracking  = byname.Copy[db.Tracking, Rastreo]()
	cartaHead          = byname.Copy[db.Carta, Carta]()
	totalesOf          = byname.Copy[db.Carta, Totales]()
	contenidoOf        = byname.Copy[db.CartaCompletaResult, Contenido]()
	autotransporteOf   = byname.Copy[db.Autotransporte, Autotransporte]()
	mercanciaOf        = byname.Copy[db.Mercancia, Mercancia]()
)

// Conversions from requests to stored items. The company and the idempotency record come first, because they are not in the body.
var (
	crearPerfil           = byname.Copy2[newCompany, NuevoPerfil, db.CrearPerfilInput]()
	guardarPerfil         = byname.Copy2[owner, changedProfile, db.GuardarPerfilInput]()
	suscripcionStored     = byname.Copy[Suscripcion, db.Suscripcion]()
	compensacionStored    = byname.Copy[Compensacion, db.Compensacion]()
	crearConductor        = byname.Copy2[request, db.Conductor, db.CrearConductorInput]()
	guardarConductor      = byname.Copy2[api.Seen, db.Conductor, db.GuardarConductorInput]()
	editarConductor       = byname.Copy2[api.Seen, db.Conductor, db.EditarConductorInput]()
	vehiculoInto          = byname.Into[NuevoVehiculo, db.Vehiculo]()
	crearVehiculo         = byname.Copy2[request, db.Vehiculo, db.CrearVehiculoInput]()
	guardarVehiculo       = byname.Copy2[owner, changedVehicle, db.GuardarVehiculoInput]()
	editarVehiculo        = byname.Copy2[owner, changedVehicle, db.EditarVehiculoInput]()
	remolqueInto          = byname.Into[NuevoRemolque, db.Remolque]()
	crearRemolque         = byname.Copy2[request, db.Remolque, db.CrearRemolqueInput]()
	guardarRemolque       = byname.Copy2[owner, changedTrailer, db.GuardarRemolqueInput]()
	editarRemolque        = byname.Copy2[owner, changedTrailer, db.EditarRemolqueInput]()
	viajeInto             = byname.Into[DatosViaje, db.Viaje]()
	crearViaje            = byname.Copy2[request, db.Viaje, db.CrearViajeInput]()
	crearViajeConCarta    = byname.Copy2[newCartaRequest, viajeConCarta, db.CrearViajeConCartaInput]()
	crearCartaDeViaje     = byname.Copy2[newCartaRequest, db.Carta, db.CrearCartaDeViajeInput]()
	guardarViaje          = byname.Copy2[api.Seen, db.Viaje, db.GuardarViajeInput]()
	guardarViajeConCarta  = byname.Copy2[tripOfDraft, db.Viaje, db.GuardarViajeConCartaInput]()
	receptorStored        = byname.Copy[Receptor, db.Receptor]()
	guardarAutotransporte = byname.Copy2[revised, declaredVehicle, db.GuardarAutotransporteInput]()
	ubicacionLine         = byname.Copy[Ubicacion, db.GuardarUbicacionesLine]()
	figuraLine            = byname.Copy[Figura, db.GuardarFigurasLine]()
	mercanciaLine         = byname.Copy[Mercancia, db.AgregarMercanciasLine]()
	abrirSesion           = byname.Copy2[request, db.Session, db.AbrirSesionInput]()
)

// owner is a company.
type owner struct{ UserID string }

// newCompany is a new company with its initial values.
type newCompany struct {
	UserID       string
	Subscription db.Suscripcion
	Credits      db.Creditos
}

// revised is a company with the revision at which its carta was read.
type revised struct {
	UserID   string
	Revision int64
}

// newCartaRequest is a request for a carta with its conditions.
type newCartaRequest struct {
	request
	terms
	Fiscal   db.Fiscal
	Anterior string // the carta that it replaces
}

// tripOfDraft is a change of a trip with the draft carta that follows it.
type tripOfDraft struct {
	api.Seen
	CartaID   string
	Visto     int64
	Distancia table.Decimal
	Lines     []db.GuardarViajeConCartaLine
}

// viajeConCarta is a trip with its carta.
type viajeConCarta struct {
	db.Viaje
	Carta db.Carta
}

func perfilOf(u *db.User, used int64) Perfil {
	p := perfilOfUser(*u)
	p.Credits.MonthlyUsed = used
	return p
}

func rastreoOf(t db.Tracking) Rastreo {
	out := rastreoOfTracking(t)
	if t.Lat != nil && t.Lng != nil {
		out.UbicacionActual = &Posicion{Lat: Decimal{*t.Lat}, Lng: Decimal{*t.Lng}}
	}
	return out
}

func cartaOf(c *db.Carta) Carta {
	out := cartaHead(*c)
	out.Totales = totalesOf(*c)
	if t := out.Timbrado; t != nil {
		t.IDCcp = c.IDCcp
		if t.Prueba {
			t.Leyenda = cartaporte.Leyenda
		}
	}
	return out
}

// into copies the input into a driver.
func (in *NuevoConductor) into(c *db.Conductor) {
	day, _ := table.ParseDate(in.Licencia.Vigencia) // validated before
	c.Nombre, c.Rfc, c.Curp, c.Email, c.Telefono = in.Nombre, in.Rfc, in.Curp, given(in.Email), given(in.Telefono)
	c.Estado, c.Activo = in.Estado, in.Activo == nil || *in.Activo
	c.Vence = day
	c.Licencia = db.Licencia{Tipo: in.Licencia.Tipo, Numero: in.Licencia.Numero, Vigencia: day}
	c.Asignacion.VehiculoAsignadoID, c.Asignacion.UbicacionActual = given(in.VehiculoAsignadoID), given(in.UbicacionActual)
	if p := in.Compensacion; p != nil {
		c.Compensacion = new(compensacionStored(*p))
	}
}

// into copies the input into a trip.
func (in *DatosViaje) into(v *db.Viaje) {
	viajeInto(*in, v)
	v.FechaInicioProgramada = in.FechaInicioProgramada.UTC().Truncate(time.Millisecond)
	v.FechaFinProgramada = in.FechaFinProgramada.UTC().Truncate(time.Millisecond)
	if v.Costos != nil {
		v.Costos.Margen = in.Costos.margin()
	}
}
