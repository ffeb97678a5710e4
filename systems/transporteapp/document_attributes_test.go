package transporteapp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/transporteapp"
)

// documented are the attributes of each of the document's entities, by entityType, as paths into maps. The contents of data are
// at the top level, and a trip's tracking is TRACKING; the README explains why.
var documented = map[string]string{
	"USER": `userId email fullName avatarUrl timezone createdAt
		subscription.planId subscription.planName subscription.status subscription.expiresAt
		subscription.limits.conductores subscription.limits.vehiculos subscription.limits.cartasPorteMes
		credits.balance credits.totalConsumed
		config.rfcEmisor config.razonSocial config.regimenFiscal config.domicilioFiscal.codigoPostal`,
	"USAGE": "cartas",
	"VIAJE": `GSI1PK GSI1SK GSI2PK GSI2SK viajeId nombre estado fechaInicioProgramada fechaFinProgramada origen destino
		origenCoordenadas.lat origenCoordenadas.lng destinoCoordenadas.lat destinoCoordenadas.lng
		resources.conductorId resources.conductorNombre resources.vehiculoId resources.vehiculoPlaca resources.remolqueId
		fiscal.cartaPorteId fiscal.cartaPorteFolio fiscal.cartaPorteStatus
		costos.combustibleEstimado costos.peajesEstimados costos.costoTotal costos.precioCliente costos.margen createdAt updatedAt`,
	"TRACKING": "lat lng ultimaActualizacion progreso distanciaRecorrida distanciaTotal",
	"POSICION": "lat lng at ttl",
	"CONDUCTOR": `GSI1PK GSI1SK conductorId nombre rfc curp email telefono estado activo
		licencia.tipo licencia.numero licencia.vigencia
		compensacion.salarioBase compensacion.porcentajeComision compensacion.bancoCuenta compensacion.bancoClabe
		performance.viajesCompletados performance.kmTotales performance.calificacionPromedio performance.puntualidadPromedio performance.incidentes
		asignacion.viajeActualId asignacion.vehiculoAsignadoId asignacion.ubicacionActual createdAt updatedAt`,
	"VEHICULO": "GSI1PK GSI1SK vehiculoId placa estado viajeActualId",
	"REMOLQUE": "GSI1PK GSI1SK remolqueId placa estado viajeActualId",
	"CARTA_PORTE": `GSI1PK GSI1SK GSI2PK GSI2SK cartaId folio versionCartaPorte status transporteInternacional idCcp
		emisor.rfc emisor.nombre emisor.regimenFiscal emisor.domicilioFiscal.codigoPostal emisor.domicilioFiscal.estado
		emisor.domicilioFiscal.municipio emisor.domicilioFiscal.localidad emisor.domicilioFiscal.colonia
		receptor.rfc receptor.nombre receptor.regimenFiscal receptor.usoCfdi receptor.domicilioFiscal.codigoPostal
		totales.distanciaTotal totales.pesoBrutoTotal totales.numeroTotalMercancias
		timbrado.uuidFiscal timbrado.fechaTimbrado createdAt updatedAt`,
	"UBICACION": `tipo orden idUbicacion rfcRemitenteDestinatario nombreRemitenteDestinatario fechaHoraSalidaLlegada
		domicilio.codigoPostal domicilio.estado domicilio.municipio domicilio.localidad domicilio.colonia domicilio.calle domicilio.numeroExterior`,
	"MERCANCIA":      "orden claveProdServ claveUnidad descripcion cantidad pesoKg valorMercancia",
	"FIGURA":         "tipoFigura rfcFigura nombreFigura numLicencia",
	"AUTOTRANSPORTE": "permSct numPermisoSct configVehicular placaVm anioModeloVm aseguraRespCivil polizaRespCivil",
	"XML":            "contenido",
	"SESSION":        "sessionId ttl",
}

// TestDocumentedAttributes: a company with all optional data has every attribute of the document, under its name.
func TestDocumentedAttributes(t *testing.T) {
	t.Parallel()
	v := open(t, transporteapp.Options{})
	full := with(address(), object{"municipio": "014", "localidad": "07", "colonia": "0001", "numeroExterior": "222"})
	config, _ := profile()["config"].(object)
	put[object](t, v, ana, "/perfil", with(profile(), object{"avatarUrl": "https://example.com/a.png", "config": with(config, object{"domicilioFiscal": full})}))
	post[object](t, v, http.StatusCreated, ana, "/sesiones", "x", object{"dispositivo": "tractor"})
	w := post[transporteapp.Vehiculo](t, v, http.StatusCreated, ana, "/vehiculos", "v", vehicle())
	r := post[transporteapp.Remolque](t, v, http.StatusCreated, ana, "/remolques", "r", trailer())
	d := post[transporteapp.Conductor](t, v, http.StatusCreated, ana, "/conductores", "c", with(driver(), object{
		"email": "pedro@example.com", "telefono": "+52 55 1234 5678", "vehiculoAsignadoId": w.VehiculoID, "ubicacionActual": "Guadalajara",
		"compensacion": object{"salarioBase": 15000, "porcentajeComision": 5, "bancoCuenta": "1234567890", "bancoClabe": "012345678901234567"},
	}))
	leave := func(key string) string {
		trip := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", key, with(cartaTrip(), object{
			"destinoCoordenadas": object{"lat": 20.6597, "lng": -103.3496},
			"costos":             object{"combustibleEstimado": 2500, "peajesEstimados": 800, "costoTotal": 5000, "precioCliente": 8000},
		}))
		at := "/cartas/" + trip.Carta.CartaID
		put[object](t, v, ana, at+"/autotransporte", declared())
		from, to := with(places()[0], object{"nombreRemitenteDestinatario": "ESCUELA KEMPER URGATE", "domicilio": full}), places()[1]
		put[object](t, v, ana, at+"/ubicaciones", object{"ubicaciones": []object{from, to}})
		put[object](t, v, ana, at+"/figuras", object{"figuras": people()})
		post[object](t, v, http.StatusCreated, ana, at+"/mercancias", key+"-g", object{"mercancias": []object{with(goods(1)[0], object{"valorMercancia": 50000})}})
		post[object](t, v, http.StatusOK, ana, at+"/sellar", "", nil)
		post[object](t, v, http.StatusCreated, ana, at+"/timbrado", key+"-s", nil)
		put[object](t, v, ana, "/viajes/"+trip.ViajeID+"/recursos", object{"conductorId": d.ConductorID, "vehiculoId": w.VehiculoID, "remolqueId": r.RemolqueID})
		post[object](t, v, http.StatusOK, ana, "/viajes/"+trip.ViajeID+"/iniciar", "", nil)
		ping(t, v, ana, trip.ViajeID, 20.1, -101.2, v.Clock.Now())
		return trip.ViajeID
	}
	post[object](t, v, http.StatusOK, ana, "/viajes/"+leave("first")+"/completar", "", object{"calificacion": 5})
	under := leave("second") // on the road
	found := map[string]map[string]bool{}
	everything(t, v, func(it table.Item) {
		kind, _ := it["entityType"].(*types.AttributeValueMemberS)
		if kind == nil {
			return // a marker item
		}
		if found[kind.Value] == nil {
			found[kind.Value] = map[string]bool{}
		}
		paths(found[kind.Value], "", it)
	})
	for kind, list := range documented {
		for path := range strings.FieldsSeq(list) {
			t.Run(kind+" "+path, func(t *testing.T) {
				t.Helper()
				if !found[kind][path] {
					t.Errorf("no %s has it: there is %v", kind, found[kind])
				}
			})
		}
	}
	trip := get[transporteapp.ViajeConCarta](t, v, ana, "/viajes/"+under)
	if c := trip.Costos; c == nil || c.Margen == nil || c.Margen.String() != "3000" {
		t.Errorf("8000 less 5000 leaves %+v", c)
	}
	if at := trip.Tracking; at == nil || !at.Activo || at.UbicacionActual.Lat.String() != "20.1" || trip.Carta == nil || trip.Carta.Status != "timbrada" {
		t.Errorf("the trip with carta and place: %+v", trip)
	}
}

// paths collects the paths of a map's values that are not null.
func paths(to map[string]bool, under string, of map[string]types.AttributeValue) {
	for name, value := range of {
		if _, none := value.(*types.AttributeValueMemberNULL); none {
			continue
		}
		to[under+name] = true
		if m, ok := value.(*types.AttributeValueMemberM); ok {
			paths(to, under+name+".", m.Value)
		}
	}
}
