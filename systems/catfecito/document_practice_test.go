package catfecito_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// The document's costs, good practices, metrics and stream.

// costLines: capacity and savings.
func (d *document) costLines() []apitest.Line {
	onDemand := func(t *testing.T) {
		t.Helper()
		if b := d.v.Described(t, d.table()).BillingModeSummary; b == nil || b.BillingMode != types.BillingModePayPerRequest {
			t.Errorf("billed by %+v", b)
		}
		if strings.Contains(apitest.TemplateText(t), "ProvisionedThroughput") {
			t.Error("the template provisions capacity")
		}
	}
	return []apitest.Line{
		{Says: "Capacidad de lectura/escritura", Instead: "on demand: 5 write units a second are less than the smallest order takes", Holds: func(t *testing.T) {
			t.Helper()
			onDemand(t)
			p := stock(t, d.v, "Cuchara", "1.00", 5)
			o := buy(t, d.v, "u-small", "k", p.ProductID, 1)
			writes := 0
			for _, partition := range []string{"ORDER#" + o.OrderID, "USER#u-small", "PRODUCT#" + p.ProductID} {
				for _, action := range d.v.Asked("checkout", partition) {
					if strings.HasSuffix(action, "Item") && !strings.HasSuffix(action, "GetItem") {
						writes++
					}
				}
			}
			if units := 2 * writes; units <= 5 { // a write in a transaction takes at least two units
				t.Errorf("an order of one line takes %d write units", units)
			}
		}},
		{Says: "1. Usar On-Demand para cargas variables", Holds: onDemand},
		{Says: "2. Provisioned para cargas predecibles (más barato)", Instead: "a shop's load varies: on demand", Holds: onDemand},
		{Says: "3. Cachear en Lambda (variables globales)", Instead: "nothing is cached: prices and stock are read as they are", Holds: func(t *testing.T) {
			t.Helper()
			p := stock(t, d.v, "Filtro", "1.00", 5)
			put(t, d.v, "u-now", p.ProductID, 1)
			if c := cart(t, d.v, "u-now"); c.Total != 100 {
				t.Errorf("the cart is %+v", c)
			}
			must[catfecito.Product](t, d.v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{"categoryId": "cafes", "name": "Filtro", "description": "", "price": "2.00"})), http.StatusOK)
			if c := cart(t, d.v, "u-now"); c.Total != 200 {
				t.Errorf("after a change of price the cart is %+v", c)
			}
		}},
		{Says: "4. Batch operations (BatchGet, BatchWrite)", Instead: "the products of a cart in a batch, and the entries of the lists; what else is written is conditional, which a batch is not", Holds: func(t *testing.T) {
			t.Helper()
			cart(t, d.v, ana)
			for _, p := range []catfecito.Product{d.premium, d.cup} {
				d.v.ExpectAsked(t, "getCart", "PRODUCT#"+p.ProductID, "BatchGetItem")
			}
			d.v.ExpectAsked(t, "stream changes", "PRODUCTS#words", "BatchWriteItem")
			d.v.ExpectAsked(t, "stream changes", "PRODUCTS#shelf", "BatchWriteItem")
		}},
		{Says: "5. Proyecciones (solo atributos necesarios)", Instead: "in the indexes, where it saves; a read is billed by what is stored, whatever is returned", Holds: func(t *testing.T) {
			t.Helper()
			for _, it := range d.v.Query(t, d.table(), "GSI1", "GSI1PK = :pk", map[string]string{":pk": "CATEGORY#cafes"}) {
				if it["name"] == "" || it["price"] == "" || it["stock"] != "" || it["is_active"] != "" {
					t.Errorf("an entry has %v", it)
				}
			}
		}},
	}
}

// practices are the good practices.
func (d *document) practices() []apitest.Line {
	return []apitest.Line{
		{Says: "1. Denormalización estratégica", Holds: func(t *testing.T) {
			t.Helper()
			p := stock(t, d.v, "Prensa", "30.00", 5)
			o := buy(t, d.v, "u-keeps", "k", p.ProductID, 2)
			must[catfecito.Product](t, d.v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{"categoryId": "cafes", "name": "Otra", "description": "", "price": "99.00"})), http.StatusOK)
			found := must[catfecito.WholeOrder](t, d.v, request("u-keeps", http.MethodGet, "/orders/"+o.OrderID, nil), http.StatusOK)
			if want := (catfecito.OrderLine{ProductID: p.ProductID, Name: "Prensa", Price: 3000, Quantity: 2, Subtotal: 6000}); len(found.Items) != 1 || found.Items[0] != want {
				t.Errorf("sold was %+v, want %+v", found.Items, want)
			}
		}},
		{Says: "2. Timestamps consistentes", Holds: func(t *testing.T) {
			t.Helper()
			seen := 0
			for it := range items(t, d.v, "") {
				if at, ok := apitest.Plain(it)["created_at"]; ok {
					if seen++; !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(at) {
						t.Errorf("created_at is %s in %s", at, key(it))
					}
				}
			}
			if seen < 5 {
				t.Errorf("%d items have a time", seen)
			}
		}},
		{Says: "3. Prefijos consistentes", Holds: func(t *testing.T) {
			t.Helper()
			kinds := map[string]bool{}
			for it := range items(t, d.v, "") {
				prefix, rest, _ := strings.Cut(apitest.Plain(it)["PK"], "#")
				if kinds[prefix] = true; rest == "" || prefix != strings.ToUpper(prefix) {
					t.Errorf("the key %s", key(it))
				}
			}
			for _, prefix := range []string{"USER", "PRODUCT", "ORDER", "CATEGORY"} {
				if !kinds[prefix] {
					t.Errorf("no key begins with %s#", prefix)
				}
			}
		}},
		{Says: "4. Validar before write", Holds: func(t *testing.T) {
			t.Helper()
			before := d.item(t, "USER#"+d.juan.UserID, "METADATA")
			refused(t, d.v, keyed("", "/users", "overwrites", object{"email": "juan@mail.com", "name": "Otro", "password": password}), http.StatusConflict, "email_taken")
			has(t, d.item(t, "USER#"+d.juan.UserID, "METADATA"), before)
			has(t, d.item(t, "EMAIL#juan@mail.com", "UNIQUE"), map[string]string{"user_id": d.juan.UserID})
		}},
		{Says: "5. Usar transacciones para operaciones críticas", Holds: func(t *testing.T) {
			t.Helper()
			p := stock(t, d.v, "Tamper", "5.00", 3)
			o := buy(t, d.v, "u-cancels", "k", p.ProductID, 3)
			if n := product(t, d.v, p.ProductID).Stock; n != 0 {
				t.Errorf("%d are left, want none", n)
			}
			must[catfecito.Order](t, d.v, keyed("u-cancels", "/orders/"+o.OrderID+"/cancel", "c", nil), http.StatusOK)
			if n := product(t, d.v, p.ProductID).Stock; n != 3 {
				t.Errorf("%d are back, want 3", n)
			}
			scan(t, d.v).sound(t)
		}},
	}
}

// streamLines: metrics and stream consumers.
func (d *document) streamLines() []apitest.Line {
	return []apitest.Line{
		{Says: "CloudWatch Metrics", Holds: func(t *testing.T) {
			t.Helper()
			for _, metric := range []string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"} {
				if !strings.Contains(apitest.TemplateText(t), `[\"AWS/DynamoDB\",\"`+metric+`\",\"TableName\"`) {
					t.Errorf("the dashboard has no %s", metric)
				}
			}
		}},
		{Says: "DynamoDB Streams (opcional)", Holds: func(t *testing.T) {
			t.Helper()
			if s := d.v.Described(t, d.table()).StreamSpecification; s == nil || s.StreamViewType != types.StreamViewTypeNewAndOldImages {
				t.Errorf("the stream is %+v", s)
			}
		}},
		{Says: "Auditoría de cambios", Holds: func(t *testing.T) {
			t.Helper()
			p := stock(t, d.v, "Balanza", "20.00", 5)
			must[catfecito.Pieces](t, d.v, staff(keyed("", "/products/"+p.ProductID+"/restocks", "k", object{"quantity": 2})), http.StatusCreated)
			d.v.Deliver(t)
			if changes := trail(t, d.v, "PRODUCT", p.ProductID); len(changes) != 2 || changes[0] != "MODIFY Product stock:5→7" {
				t.Errorf("the trail is %q", changes)
			}
		}},
		{Says: "Triggers automáticos", Holds: func(t *testing.T) {
			t.Helper()
			stock(t, d.v, "Tetera de hierro", "20.00", 5)
			words := request("", http.MethodGet, "/products", nil)
			found := func() []string { return names(walk[catfecito.Offer](t, d.v, words, 5, "q", "hierro")) }
			if got := found(); len(got) != 0 {
				t.Errorf("before its record was delivered: %q", got)
			}
			d.v.Deliver(t)
			if got := found(); !slices.Equal(got, []string{"Tetera de hierro"}) {
				t.Errorf("found by a word is %q", got)
			}
		}},
		{Says: "Replicación cross-region", Instead: "nothing replicates; the stream has what it takes, both images", Holds: func(t *testing.T) {
			t.Helper()
			if is := d.v.Described(t, d.table()); len(is.Replicas) != 0 || is.StreamSpecification == nil {
				t.Errorf("replicas %+v, stream %+v", is.Replicas, is.StreamSpecification)
			}
		}},
	}
}
