package transporteapp_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// asks matches the parts of the document that contain requirements, besides its table of patterns: the diagram, the principles,
// the queries, the optimizations, and each entity's keys and groups. TestDocumentedAttributes covers the attributes.
var asks = regexp.MustCompile(`│ \w+#[^│]+│[^│]+│|^- \*\*.*|^### (Paginación|Transacciones|Batch Operations|\d\. (Sparse|Projecc|TTL).*)|` +
	`^  "(GSI\d[PS]K|PK|SK)": "[^"]+"|^  "\w+": [\[{]`)

// TestDocument checks every line of the document. The README explains where keys differ.
func TestDocument(t *testing.T) {
	t.Parallel()
	apitest.EachLine(t, testSystem(transporteapp.Options{}), asks, func(t *testing.T, v *apitest.Server) []apitest.Line {
		t.Helper()
		l := live(t, v)
		return slices.Concat(l.diagramLines(), l.principleLines(), l.patternLines(), l.queryLines(), l.keyLines(), l.groupLines(), l.optimizationLines())
	})
}

// lived is a company for which everything in the document has happened.
type lived struct {
	v                                   *apitest.Server
	driverID, vehicleID, trailerID      string
	free                                string // another company's available driver
	trip, carta, folio, rolling, sketch string
	session                             string
	items                               map[string]table.Item // by "PK / SK"
}

func live(t *testing.T, v *apitest.Server) *lived {
	t.Helper()
	for _, sub := range []string{ana, bruno} {
		put[object](t, v, sub, "/perfil", profile())
	}
	l := &lived{v: v, items: map[string]table.Item{}}
	l.driverID, l.vehicleID, l.trailerID = fleet(t, v, ana, "f")
	put[object](t, v, ana, "/conductores/"+l.driverID, with(driver(), object{"compensacion": object{"salarioBase": 15000, "porcentajeComision": 5}}))
	l.free, _, _ = fleet(t, v, bruno, "g")
	costs := object{"costos": object{"combustibleEstimado": 2500, "peajesEstimados": 800, "costoTotal": 5000, "precioCliente": 8000}}
	created := post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-1", with(cartaTrip(), costs))
	l.trip, l.carta, l.folio = created.ViajeID, created.Carta.CartaID, created.Carta.Folio
	fill(t, v, ana, l.carta, 3)
	post[object](t, v, http.StatusCreated, ana, "/cartas/"+l.carta+"/timbrado", "s-1", nil)
	l.rolling = post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-2", bareTrip()).ViajeID
	put[object](t, v, ana, "/viajes/"+l.rolling+"/recursos", object{"conductorId": l.driverID, "vehiculoId": l.vehicleID, "remolqueId": l.trailerID})
	post[object](t, v, http.StatusOK, ana, "/viajes/"+l.rolling+"/iniciar", "", nil)
	ping(t, v, ana, l.rolling, 20.1, -101.2, v.Clock.Now())
	l.sketch = post[transporteapp.ViajeConCarta](t, v, http.StatusCreated, ana, "/viajes", "t-3", cartaTrip()).Carta.CartaID
	l.session = post[transporteapp.Sesion](t, v, http.StatusCreated, ana, "/sesiones", "x-1", object{"dispositivo": "tractor"}).SessionID
	everything(t, v, func(it table.Item) { l.items[text(it, "PK")+" / "+text(it, "SK")] = it })
	return l
}

func text(it table.Item, name string) string {
	s, _ := it[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// principleLines are the principles of denormalization.
func (l *lived) principleLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Embeber datos relacionados cuando se acceden juntos", Holds: func(t *testing.T) {
			t.Helper()
			got := get[transporteapp.ViajeConCarta](t, l.v, ana, "/viajes/"+l.trip)
			if got.Carta == nil || got.Carta.CartaID != l.carta || got.Fiscal == nil || got.Fiscal.CartaPorteID != l.carta {
				t.Errorf("the trip has %+v and %+v", got.Fiscal, got.Carta)
			}
		}},
		{Says: "Duplicar datos para optimizar consultas", Holds: func(t *testing.T) {
			t.Helper()
			got := get[transporteapp.ViajeConCarta](t, l.v, ana, "/viajes/"+l.rolling).Resources
			if got == nil || got.ConductorNombre != "Pedro López" || got.VehiculoPlaca != "ABC-123" || got.RemolqueID != l.trailerID {
				t.Errorf("%+v", got)
			}
		}},
		{Says: "Precomputar agregaciones en lugar de calcular al vuelo", Holds: func(t *testing.T) {
			t.Helper()
			carta := get[transporteapp.Carta](t, l.v, ana, "/cartas/"+l.carta)
			if carta.Totales.NumeroTotalMercancias != 3 || carta.Totales.DistanciaTotal.String() != "500" {
				t.Errorf("%+v", carta.Totales)
			}
			if costs := get[transporteapp.ViajeConCarta](t, l.v, ana, "/viajes/"+l.trip).Costos; costs == nil || costs.Margen == nil || costs.Margen.String() != "3000" {
				t.Errorf("8000 less 5000 leaves %+v", costs)
			}
		}},
	}
}

// patternLines are the table of access patterns.
func (l *lived) patternLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Obtener viajes de usuario | Query: PK = USER#id, SK begins_with VIAJE#", Holds: func(t *testing.T) {
			t.Helper()
			got := get[page[transporteapp.ViajeResumen]](t, l.v, ana, "/viajes").Items
			if len(got) != 3 || got[0].ViajeID < got[1].ViajeID || got[1].ViajeID < got[2].ViajeID {
				t.Errorf("%d trips, not three from the newest on", len(got))
			}
		}},
		{
			Says: "Obtener viaje con carta porte | Query: PK = USER#id, SK = VIAJE#id (datos embebidos)", Instead: "the trip has what lists show of the carta; the carta is an item, which is read with it",
			Holds: func(t *testing.T) {
				t.Helper()
				got := get[transporteapp.ViajeConCarta](t, l.v, ana, "/viajes/"+l.trip)
				if got.Carta == nil || got.Carta.CartaID != l.carta || got.Fiscal == nil || got.Fiscal.CartaPorteFolio != l.folio || got.Fiscal.CartaPorteStatus != got.Carta.Status {
					t.Errorf("the trip has %+v and %+v", got.Fiscal, got.Carta)
				}
			},
		},
		{Says: "Listar conductores disponibles | Query GSI: GSI1PK = STATUS#disponible", Instead: "the key begins with the company and says that it is of drivers", Holds: func(t *testing.T) {
			t.Helper()
			for company, want := range map[string]map[string]string{ana: {"en_viaje": l.driverID}, bruno: {"disponible": l.free}} {
				for _, state := range []string{"en_viaje", "disponible"} {
					found := get[page[transporteapp.ConductorResumen]](t, l.v, company, "/conductores?estado="+state).Items
					var got string
					for _, d := range found {
						got += d.ConductorID
					}
					if got != want[state] {
						t.Errorf("%s of %s: %q, want %q", state, company, got, want[state])
					}
				}
			}
		}},
		{Says: "Carta porte por folio | GSI adicional o embeber en item", Instead: "a marker, which makes the folio unique", Holds: func(t *testing.T) {
			t.Helper()
			if got := get[transporteapp.Carta](t, l.v, ana, "/folios/"+l.folio); got.CartaID != l.carta {
				t.Errorf("%s is %s", l.folio, got.CartaID)
			}
		}},
	}
}

// queryLines are the document's queries.
func (l *lived) queryLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Paginación", Holds: func(t *testing.T) {
			t.Helper()
			first := get[page[transporteapp.ViajeResumen]](t, l.v, ana, "/viajes?limit=2")
			rest := get[page[transporteapp.ViajeResumen]](t, l.v, ana, apitest.Query("/viajes", "limit", "2", "cursor", first.Next))
			if len(first.Items) != 2 || len(rest.Items) != 1 || rest.Next != "" || rest.Items[0].ViajeID >= first.Items[1].ViajeID {
				t.Errorf("pages of %d and %d", len(first.Items), len(rest.Items))
			}
		}},
		{Says: "Transacciones", Holds: func(t *testing.T) {
			t.Helper()
			p := get[transporteapp.Perfil](t, l.v, ana, "/perfil")
			if p.Credits.MonthlyUsed != 2 || p.Credits.Reserved != 1 || p.Credits.TotalConsumed != 1 {
				t.Errorf("%+v", p.Credits)
			}
			before := stored(t, l.v)
			refused := with(cartaTrip(), object{"carta": object{"receptor": with(receiver(), object{"rfc": "X"})}})
			do[object](t, l.v, http.StatusBadRequest, as(http.MethodPost, "/viajes", "t-bad", refused))
			if after := stored(t, l.v); len(after) != len(before) {
				t.Errorf("a trip that was refused left %d items", len(after)-len(before))
			}
		}},
		{Says: "Batch Operations", Holds: func(t *testing.T) {
			t.Helper()
			got := post[transporteapp.RecursosHallados](t, l.v, http.StatusOK, ana, "/recursos/consulta", "", object{
				"conductores": []string{l.driverID}, "vehiculos": []string{l.vehicleID}, "remolques": []string{l.trailerID},
			})
			if len(got.Conductores) != 1 || len(got.Vehiculos) != 1 || len(got.Remolques) != 1 {
				t.Errorf("%+v", got)
			}
		}},
	}
}
