package transporteapp_test

import (
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

const (
	ana   = "u-123"
	bruno = "u-456"
	// nowhere is a well-formed ULID of nothing.
	nowhere = "01HM699R7006AFVGQT5ZYC0GEK"
)

// object is a JSON object.
type object = map[string]any

// with returns an object with changed values; nil removes one.
func with(o object, changes object) object {
	out := maps.Clone(o)
	for k, v := range changes {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = v
	}
	return out
}

func address() object { return object{"codigoPostal": "06600", "estado": "CMX", "calle": "Reforma"} }

func profile() object {
	return object{
		"email": "ana@transportes.mx", "fullName": "Ana García", "timezone": "America/Mexico_City",
		"config": object{"rfcEmisor": "EKU9003173C9", "razonSocial": "ESCUELA KEMPER URGATE", "regimenFiscal": "601", "domicilioFiscal": address()},
	}
}

func receiver() object {
	return object{
		"rfc": "IIA040805DZ4", "nombre": "INDISTRIA ILUMINADORA DE ALMACENES", "regimenFiscal": "601", "usoCfdi": "S01",
		"domicilioFiscal": object{"codigoPostal": "44100", "estado": "JAL"},
	}
}

func bareTrip() object {
	return object{
		"nombre": "Viaje CDMX-GDL", "fechaInicioProgramada": "2027-01-15T08:00:00Z", "fechaFinProgramada": "2027-01-15T18:00:00Z",
		"origen": "Ciudad de México", "destino": "Guadalajara", "distanciaTotal": 500, "local": true,
		"origenCoordenadas": object{"lat": 19.4326, "lng": -99.1332},
	}
}

func cartaTrip() object {
	return with(bareTrip(), object{"local": nil, "carta": object{"receptor": receiver()}})
}

func driver() object {
	return object{
		"nombre": "Pedro López", "rfc": "CACX7605101P8", "curp": "HEGG560427MVZRRL04",
		"licencia": object{"tipo": "E", "numero": "ABC123456", "vigencia": "2030-06-15"},
	}
}

func vehicle() object {
	return object{
		"placa": "ABC-123", "configVehicular": "T3S2", "anioModeloVm": 2022, "pesoBrutoVehicular": 17.5, "permSct": "TPAF01",
		"numPermisoSct": "12345", "aseguraRespCivil": "Seguros XYZ", "polizaRespCivil": "POL-123456",
	}
}

func trailer() object { return object{"placa": "REM-123", "subTipoRem": "CTR007"} }

func declared() object {
	return object{
		"permSct": "TPAF01", "numPermisoSct": "12345", "configVehicular": "T3S2", "placaVm": "ABC-123", "anioModeloVm": 2022,
		"pesoBrutoVehicular": 17.5, "aseguraRespCivil": "Seguros XYZ", "polizaRespCivil": "POL-123456", "subTipoRem": "CTR007", "placaRemolque": "REM-123",
	}
}

// places are the places of bareTrip, at its times in Mexico City.
func places() []object {
	return []object{
		{
			"tipo": "Origen", "idUbicacion": "OR000001", "rfcRemitenteDestinatario": "EKU9003173C9", "fechaHoraSalidaLlegada": "2027-01-15T02:00:00",
			"domicilio": address(),
		},
		{
			"tipo": "Destino", "idUbicacion": "DE000001", "rfcRemitenteDestinatario": "IIA040805DZ4", "fechaHoraSalidaLlegada": "2027-01-15T12:00:00",
			"distanciaRecorrida": 500, "domicilio": object{"codigoPostal": "44100", "estado": "JAL"},
		},
	}
}

func people() []object {
	return []object{{"tipoFigura": "01", "rfcFigura": "CACX7605101P8", "nombreFigura": "Pedro López", "numLicencia": "ABC123456"}}
}

func goods(n int) []object {
	out := make([]object, n)
	for i := range out {
		out[i] = object{
			"claveProdServ": "50161509", "claveUnidad": "KGM", "descripcion": fmt.Sprintf("Azúcar %d", i+1), "cantidad": 100, "pesoKg": 5.125,
		}
	}
	return out
}

// do sends a request that must succeed with the given status, and decodes the response.
func do[T any](tb testing.TB, v *apitest.Server, status int, r apitest.Request) T {
	tb.Helper()
	response := v.Do(tb, r)
	if response.Status != status {
		tb.Fatalf("%s %s: %d %s, want %d", r.Method, r.Path, response.Status, response.Body, status)
	}
	var out T
	if len(response.Body) > 0 {
		response.JSON(tb, &out)
	}
	return out
}

func get[T any](tb testing.TB, v *apitest.Server, sub, path string) T {
	tb.Helper()
	return do[T](tb, v, http.StatusOK, apitest.Request{Method: http.MethodGet, Path: path, As: sub})
}

func post[T any](tb testing.TB, v *apitest.Server, status int, sub, path, key string, body any) T {
	tb.Helper()
	return do[T](tb, v, status, apitest.Request{Method: http.MethodPost, Path: path, As: sub, Key: key, Body: body})
}

func put[T any](tb testing.TB, v *apitest.Server, sub, path string, body any) T {
	tb.Helper()
	return do[T](tb, v, http.StatusOK, apitest.Request{Method: http.MethodPut, Path: path, As: sub, Body: body})
}

// page is a response with items.
type page[T any] struct {
	Items []T
	Next  string
}

// testPAC stamps for all tests without their own PAC, because creating its certificate takes longer than most tests.
var testPAC = cartaporte.NewLocal(time.Now)

// testSystem is TransporteApp with the options that most tests need.
func testSystem(o transporteapp.Options) system.System {
	if o.PAC == nil {
		o.PAC = testPAC
	}
	if o.Anticipacion == 0 {
		o.Anticipacion = 100 * 365 * 24 * time.Hour // in most tests trips start at any time
	}
	return transporteapp.System(o)
}

// open opens the system with companies that have a profile.
func open(tb testing.TB, o transporteapp.Options, companies ...string) *apitest.Server {
	tb.Helper()
	v := apitest.Open(tb, testSystem(o))
	for _, sub := range companies {
		put[object](tb, v, sub, "/perfil", profile())
	}
	return v
}

// own returns a vehicle or trailer with a plate derived from a key; the fleet "f" has the plates of the document.
func own(unit object, kind, key string) object {
	if key == "f" {
		return unit
	}
	return with(unit, object{"placa": fmt.Sprintf("%s%06d", kind, crc32.ChecksumIEEE([]byte(key))%1_000_000)})
}

// fleet creates a company's driver, vehicle and trailer, and returns their ids.
func fleet(tb testing.TB, v *apitest.Server, sub, key string) (driverID, vehicleID, trailerID string) {
	tb.Helper()
	d := post[transporteapp.Conductor](tb, v, http.StatusCreated, sub, "/conductores", key+"-c", driver())
	w := post[transporteapp.Vehiculo](tb, v, http.StatusCreated, sub, "/vehiculos", key+"-v", own(vehicle(), "V", key))
	r := post[transporteapp.Remolque](tb, v, http.StatusCreated, sub, "/remolques", key+"-r", own(trailer(), "R", key))
	return d.ConductorID, w.VehiculoID, r.RemolqueID
}

// fill fills in a carta, closes it and returns it.
func fill(tb testing.TB, v *apitest.Server, sub, id string, n int) transporteapp.Carta {
	tb.Helper()
	put[object](tb, v, sub, "/cartas/"+id+"/autotransporte", declared())
	put[object](tb, v, sub, "/cartas/"+id+"/ubicaciones", object{"ubicaciones": places()})
	put[object](tb, v, sub, "/cartas/"+id+"/figuras", object{"figuras": people()})
	post[transporteapp.Agregado](tb, v, http.StatusCreated, sub, "/cartas/"+id+"/mercancias", "goods-"+id, object{"mercancias": goods(n)})
	return post[transporteapp.Carta](tb, v, http.StatusOK, sub, "/cartas/"+id+"/sellar", "", nil)
}

// ping reports a trip's position.
func ping(tb testing.TB, v *apitest.Server, sub, id string, lat, lng float64, at time.Time) transporteapp.Rastreo {
	tb.Helper()
	return post[transporteapp.Rastreo](tb, v, http.StatusOK, sub, "/viajes/"+id+"/posiciones", "", object{"lat": lat, "lng": lng, "at": at})
}
