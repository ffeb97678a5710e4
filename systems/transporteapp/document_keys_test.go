package transporteapp_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/internal/apitest"
)

// The document's keys and indexes, compared with the stored items.

const (
	// ofCompany explains why items that the document keys by carta or trip are keyed by company.
	ofCompany = "the key begins with the company, so that nobody's id leads to another's"
	// apart explains why data that the document embeds in a carta is stored as separate items.
	apart = "items of their own: a carta of thousands of goods is no item"
)

// under fails the test unless an item of a kind has a key.
func (l *lived) under(key, kind string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if got := text(l.items[key], "entityType"); got != kind {
			t.Errorf("%s is %q, want %s", key, got, kind)
		}
	}
}

// in fails the test unless an index has a company's entry under a key, and none of the other company's.
func (l *lived) in(company, another, index, pk, sk string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if n := l.count(t, index, "USER#"+company+"#"+pk, sk); n == 0 {
			t.Errorf("%s has nothing under %s", index, pk)
		}
		if n := l.count(t, index, "USER#"+another+"#"+pk, sk); n != 0 {
			t.Errorf("%s has %d of another company", index, n)
		}
	}
}

func (l *lived) count(t *testing.T, index, pk, sk string) int {
	t.Helper()
	condition, values := index+"PK = :pk", map[string]string{":pk": pk}
	if sk != "" {
		condition += " AND begins_with(" + index + "SK, :sk)"
		values[":sk"] = sk
	}
	return len(l.v.Query(t, "TransporteApp", index, condition, values))
}

// begins is the day on which the trips begin.
const begins = "2027-01-15"

// diagramLines are the lines of the document's diagram.
func (l *lived) diagramLines() []apitest.Line {
	own, carta := "USER#"+ana, "USER#"+ana+"#CARTA#"+l.carta
	return []apitest.Line{
		{Says: "USER#123 | PROFILE#metadata", Holds: l.under(own+" / PROFILE#metadata", "USER")},
		{Says: "USER#123 | VIAJE#abc", Holds: l.under(own+" / VIAJE#"+l.trip, "VIAJE")},
		{Says: "USER#123 | VIAJE#def", Holds: l.under(own+" / VIAJE#"+l.rolling, "VIAJE")},
		{Says: "USER#123 | CONDUCTOR#456", Holds: l.under(own+" / CONDUCTOR#"+l.driverID, "CONDUCTOR")},
		{Says: "USER#123 | VEHICULO#789", Holds: l.under(own+" / VEHICULO#"+l.vehicleID, "VEHICULO")},
		{Says: "USER#123 | CARTA#xyz", Holds: l.under(own+" / CARTA#"+l.carta, "CARTA_PORTE")},
		{Says: "CARTA#xyz | UBICACION#01", Instead: ofCompany, Holds: l.under(carta+" / UBICACION#0001", "UBICACION")},
		{Says: "CARTA#xyz | UBICACION#02", Instead: ofCompany, Holds: l.under(carta+" / UBICACION#0002", "UBICACION")},
		{Says: "CARTA#xyz | MERCANCIA#m1", Instead: ofCompany, Holds: l.under(carta+" / MERCANCIA#00001", "MERCANCIA")},
		{Says: "STATUS#en_curso | 2024-01-15#VIAJE#abc", Instead: ofCompany, Holds: l.in(ana, bruno, "GSI1", "VIAJE#en_curso", begins)},
		{Says: "STATUS#disponible | CONDUCTOR#456", Instead: ofCompany, Holds: l.in(bruno, ana, "GSI1", "CONDUCTOR#disponible", "pedro")},
		{Says: "STATUS#borrador | 2024-01-15#CARTA#xyz", Instead: ofCompany, Holds: l.in(ana, bruno, "GSI1", "CARTA#borrador", "")},
	}
}

// keyLines are the keys of the document's items, one per kind.
func (l *lived) keyLines() []apitest.Line {
	own := "USER#" + ana
	profile, trip, rolling := own+" / PROFILE#metadata", own+" / VIAJE#"+l.trip, own+" / VIAJE#"+l.rolling
	driver, carta, session := own+" / CONDUCTOR#"+l.driverID, own+" / CARTA#"+l.carta, own+" / SESSION#"+l.session
	free := "USER#" + bruno + " / CONDUCTOR#" + l.free
	const ulid = "[0-9A-Z]{26}"
	var lines []apitest.Line
	for _, k := range []struct{ says, instead, item, attribute, value string }{
		{`"PK": "USER#uuid"`, "", profile, "PK", own},
		{`"SK": "PROFILE#metadata"`, "", profile, "SK", "PROFILE#metadata"},
		{`"SK": "VIAJE#viaje-uuid"`, "", trip, "SK", "VIAJE#" + ulid},
		{`"GSI1PK": "STATUS#en_curso"`, ofCompany, rolling, "GSI1PK", own + "#VIAJE#en_curso"},
		{`"GSI1SK": "2024-01-15#viaje-uuid"`, "the moment, of which the day is the beginning", rolling, "GSI1SK", begins + `T08:00:00.000Z#` + ulid},
		{`"GSI2PK": "DATE#2024-01-15"`, "the company's trips are one partition, sorted by when they begin, so that a week is one query", trip, "GSI2PK", own + "#VIAJE"},
		{`"GSI2SK": "VIAJE#viaje-uuid"`, "the day is in the sort key", trip, "GSI2SK", begins + `T08:00:00.000Z#` + ulid},
		{`"SK": "CONDUCTOR#conductor-uuid"`, "", driver, "SK", "CONDUCTOR#" + ulid},
		{`"GSI1PK": "STATUS#disponible"`, ofCompany, free, "GSI1PK", "USER#" + bruno + "#CONDUCTOR#disponible"},
		{`"GSI1SK": "conductor-uuid"`, "sorted by name", driver, "GSI1SK", "pedro-lopez#" + ulid},
		{`"SK": "CARTA#carta-uuid"`, "", carta, "SK", "CARTA#" + ulid},
		{`"GSI1PK": "STATUS#timbrada"`, ofCompany, carta, "GSI1PK", own + "#CARTA#timbrada"},
		{`"GSI1SK": "2024-01-15#carta-uuid"`, "the moment, of which the day is the beginning", carta, "GSI1SK", `\d{4}-\d\d-\d\dT[\d:.]+Z#` + ulid},
		{`"GSI2PK": "VIAJE#viaje-uuid"`, ofCompany, carta, "GSI2PK", own + "#VIAJE#" + l.trip},
		{`"GSI2SK": "CARTA#carta-uuid"`, "", carta, "GSI2SK", "CARTA#" + l.carta},
		{`"PK": "USER#123"`, "", trip, "PK", own},
		{`"SK": "VIAJE#abc"`, "", trip, "SK", "VIAJE#" + l.trip},
		{`"SK": "SESSION#abc"`, "", session, "SK", "SESSION#" + l.session},
	} {
		lines = append(lines, apitest.Line{Says: k.says, Instead: k.instead, Holds: func(t *testing.T) {
			t.Helper()
			if got := text(l.items[k.item], k.attribute); !regexp.MustCompile("^" + k.value + "$").MatchString(got) {
				t.Errorf("%s of %s is %q, want %s", k.attribute, k.item, got, k.value)
			}
		}})
	}
	return lines
}

// groupLines are the attribute groups of the document's items, stored as maps or as separate items.
func (l *lived) groupLines() []apitest.Line {
	own := "USER#" + ana
	content := own + "#CARTA#" + l.carta
	group := func(key, name string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if m, ok := l.items[key][name].(*types.AttributeValueMemberM); !ok || len(m.Value) == 0 {
				t.Errorf("%s of %s is %v", name, key, l.items[key][name])
			}
		}
	}
	lines := []apitest.Line{
		{Says: `"data": {`, Instead: "its attributes stand at the top: no index is made of what is in a map", Holds: func(t *testing.T) {
			t.Helper()
			for key, it := range l.items {
				if it["data"] != nil {
					t.Errorf("%s has data", key)
				}
			}
		}},
		{Says: `"tracking": {`, Instead: "an item of its own, which is written every few seconds", Holds: l.under(own+"#VIAJE#"+l.rolling+" / ACTUAL", "TRACKING")},
		{Says: `"ubicaciones": [`, Instead: apart, Holds: l.under(content+" / UBICACION#0001", "UBICACION")},
		{Says: `"mercancias": [`, Instead: apart, Holds: l.under(content+" / MERCANCIA#00003", "MERCANCIA")},
		{Says: `"figuras": [`, Instead: apart, Holds: l.under(content+" / FIGURA#0001", "FIGURA")},
		{Says: `"autotransporte": {`, Instead: apart, Holds: l.under(content+" / AUTOTRANSPORTE", "AUTOTRANSPORTE")},
		{Says: `"timbrado": {`, Instead: "the XML is items of its own", Holds: func(t *testing.T) {
			t.Helper()
			group(own+" / CARTA#"+l.carta, "timbrado")(t)
			l.under(own+"#XML#"+l.carta+" / XML#0000", "XML")(t)
		}},
	}
	for key, names := range map[string][]string{
		own + " / PROFILE#metadata":        {"subscription", "credits", "config"},
		own + " / VIAJE#" + l.rolling:      {"resources"},
		own + " / VIAJE#" + l.trip:         {"fiscal", "costos"},
		own + " / CONDUCTOR#" + l.driverID: {"licencia", "compensacion", "performance", "asignacion"},
		own + " / CARTA#" + l.carta:        {"emisor", "receptor", "totales"},
	} {
		for _, name := range names {
			lines = append(lines, apitest.Line{Says: `"` + name + `": {`, Holds: group(key, name)})
		}
	}
	return lines
}

// optimizationLines are the document's optimizations.
func (l *lived) optimizationLines() []apitest.Line {
	return []apitest.Line{
		{Says: "1. Sparse Indexes", Instead: "each state is asked for, so trips, drivers, vehicles, trailers and cartas are in it; what a carta lists, places and sessions are not", Holds: func(t *testing.T) {
			t.Helper()
			for key, it := range l.items {
				if strings.Contains(key, " / SESSION#") || strings.Contains(key, " / POS#") || strings.Contains(key, " / MERCANCIA#") {
					if text(it, "GSI1PK") != "" || text(it, "GSI2PK") != "" {
						t.Errorf("%s is in an index", key)
					}
				}
			}
		}},
		{Says: "2. Projecciones en GSIs", Instead: "of attributes at the top: an index cannot project what is in a map", Holds: func(t *testing.T) {
			t.Helper()
			for _, index := range l.v.Described(t, "TransporteApp").GlobalSecondaryIndexes {
				if index.Projection.ProjectionType != types.ProjectionTypeInclude || strings.Contains(fmt.Sprint(index.Projection.NonKeyAttributes), ".") {
					t.Errorf("%s projects %s %v", *index.IndexName, index.Projection.ProjectionType, index.Projection.NonKeyAttributes)
				}
			}
		}},
		{Says: "3. TTL para datos temporales", Holds: func(t *testing.T) {
			t.Helper()
			if n, _ := l.items["USER#"+ana+" / SESSION#"+l.session]["ttl"].(*types.AttributeValueMemberN); n == nil {
				t.Error("a session has no ttl")
			}
		}},
	}
}
