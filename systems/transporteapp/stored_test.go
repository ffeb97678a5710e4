package transporteapp_test

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/apitest"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// everything calls do with every item in the table.
func everything(tb testing.TB, v *apitest.Server, do func(table.Item)) {
	tb.Helper()
	for it := range v.Database.Items(tb, "TransporteApp", "") {
		do(it)
	}
}

// stored returns all items as JSON, by key.
func stored(tb testing.TB, v *apitest.Server) map[string]string {
	tb.Helper()
	all := map[string]string{}
	everything(tb, v, func(it table.Item) {
		pk, _ := it["PK"].(*types.AttributeValueMemberS)
		sk, _ := it["SK"].(*types.AttributeValueMemberS)
		text, err := json.Marshal(it)
		if err != nil {
			tb.Fatal(err)
		}
		all[pk.Value+" / "+sk.Value] = string(text)
	})
	return all
}

// company is the decoded data of one company.
type company struct {
	user     db.User
	cartas   []db.Carta
	trips    []db.Viaje
	drivers  []db.Conductor
	vehicles []db.Vehiculo
	trailers []db.Remolque
	agendas  []db.Agenda
	folios   int64
	usage    int64
	goods    map[string]int // by carta
}

// companyOf reads a company.
func companyOf(tb testing.TB, v *apitest.Server, userID string) company {
	tb.Helper()
	c := company{goods: map[string]int{}}
	everything(tb, v, func(it table.Item) {
		x, place, err := db.Decode(it)
		if err != nil {
			tb.Fatal(err)
		}
		if place.Kind != table.KeyPlace {
			return
		}
		switch x := x.(type) {
		case db.User:
			if x.UserID == userID {
				c.user = x
			}
		case db.Usage:
			c.usage += x.Cartas
		case db.FolioSeq:
			c.folios = x.N
		case db.Carta:
			c.cartas = append(c.cartas, x)
		case db.Viaje:
			c.trips = append(c.trips, x)
		case db.Conductor:
			c.drivers = append(c.drivers, x)
		case db.Vehiculo:
			c.vehicles = append(c.vehicles, x)
		case db.Remolque:
			c.trailers = append(c.trailers, x)
		case db.Agenda:
			c.agendas = append(c.agendas, x)
		case db.Mercancia:
			c.goods[x.CartaID]++
		}
	})
	return c
}
