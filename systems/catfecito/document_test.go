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

// asks matches the parts of the document that contain requirements, besides its tables: patterns, transactions, indexes, savings,
// good practices, and monitoring.
var asks = regexp.MustCompile(`^\*\*Tabla\*\*.*|^#### .*|^- ✅ (Todo|Máximo|Consistencia).*|^### (GSI|Capacidad|CloudWatch|DynamoDB Streams).*|` +
	`^\d\. \*\*.*|^### \d\. (Denorm|Time|Pref|Valid|Usar).*|^- (Auditoría|Triggers|Replicación).*`)

// TestDocument checks every line of the document.
func TestDocument(t *testing.T) {
	t.Parallel()
	apitest.EachLine(t, catfecito.System(catFecito()), asks, func(t *testing.T, v *apitest.Server) []apitest.Line {
		t.Helper()
		d := documented(t, v)
		return slices.Concat(d.tableLines(), d.indexLines(), d.userLines(), d.catalogueLines(), d.cartLines(), d.orderLines(), d.costLines(), d.practices(), d.streamLines(), d.comparedLines())
	})
}

// document is a shop in which everything in the document has happened once.
type document struct {
	v             *apitest.Server
	juan          catfecito.User
	premium, cup  catfecito.Product // in the category cafes
	gone          catfecito.Product // no longer on sale
	order, others catfecito.WholeOrder
}

func documented(t *testing.T, v *apitest.Server) *document {
	t.Helper()
	d := &document{v: v}
	d.juan = must[catfecito.User](t, v, keyed("", "/users", "juan", object{"email": "Juan@mail.com", "name": "Juan", "password": password}), http.StatusCreated)
	d.premium, d.cup, d.gone = stock(t, v, "Café Premium", "1500.00", 50), stock(t, v, "Taza", "500.00", 50), stock(t, v, "Café viejo", "1.00", 1)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+d.gone.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	put(t, v, d.juan.UserID, d.cup.ProductID, 1)
	d.order = buy(t, v, d.juan.UserID, "k", d.premium.ProductID, 2)
	d.others = buy(t, v, bruno, "k", d.cup.ProductID, 1)
	put(t, v, ana, d.premium.ProductID, 2)
	put(t, v, ana, d.cup.ProductID, 1)
	v.Deliver(t)
	return d
}

func (d *document) table() string { return "catfecito-serverless-" + d.v.Stage() }

// item is one of the document's GetItem requests.
func (d *document) item(t *testing.T, pk, sk string) map[string]string {
	t.Helper()
	return d.v.Item(t, d.table(), "PK", pk, "SK", sk)
}

// has fails the test unless an item has the attributes; "" means that the attribute must be absent.
func has(t *testing.T, it, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if it[name] != value {
			t.Errorf("%s is %q, want %q: %v", name, it[name], value, it)
		}
	}
}

// tableLines: the schema's items, under its keys.
func (d *document) tableLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Tabla: catfecito-serverless-{stage}", Holds: func(t *testing.T) {
			t.Helper()
			if k := d.v.Described(t, d.table()).KeySchema; len(k) != 2 || *k[0].AttributeName != "PK" || *k[1].AttributeName != "SK" {
				t.Errorf("%s has the keys %+v", d.table(), k)
			}
			if !strings.Contains(apitest.TemplateText(t), "catfecito-serverless-${Stage}") {
				t.Error("the deployed table is called otherwise")
			}
		}},
		{Says: "USER#<uuid> | METADATA | name, email, password, role", Instead: "the password's hash is an item of its own, which no index and no list carries", Holds: func(t *testing.T) {
			t.Helper()
			it := d.item(t, "USER#"+d.juan.UserID, "METADATA")
			has(t, it, map[string]string{"name": "Juan", "email": "Juan@mail.com", "role": "customer", "password": "", "password_hash": "", "GSI1PK": "", "GSI2PK": ""})
			hash := d.item(t, "USER#"+d.juan.UserID, "CREDENTIAL")
			if has(t, hash, map[string]string{"GSI1PK": "", "GSI2PK": ""}); !strings.HasPrefix(hash["password_hash"], "$argon2id$") {
				t.Errorf("the password is kept as %v", hash)
			}
		}},
		{
			Says:    "PRODUCT#<uuid> | METADATA | CATEGORY#<cat> | PRODUCT#<uuid> | PRODUCT#<name> | PRODUCT#<uuid> | name, price, stock",
			Instead: "both indexes sort by the folded name; all that is sold is one partition of GSI2, since a partition key cannot be searched by its beginning; money is whole cents",
			Holds: func(t *testing.T) {
				t.Helper()
				has(t, d.item(t, "PRODUCT#"+d.premium.ProductID, "METADATA"), map[string]string{
					"GSI1PK": "CATEGORY#cafes", "GSI1SK": "PRODUCT#cafe premium  " + d.premium.ProductID, "GSI2PK": "CATALOG", "GSI2SK": "cafe premium  " + d.premium.ProductID,
					"name": "Café Premium", "price": "150000", "stock": "48", "is_active": "true",
				})
				has(t, d.item(t, "PRODUCT#"+d.gone.ProductID, "METADATA"), map[string]string{"is_active": "false", "GSI1PK": "", "GSI2PK": ""})
			},
		},
		{Says: "CATEGORY#<slug> | METADATA | name, description", Holds: func(t *testing.T) {
			t.Helper()
			it := d.item(t, "CATEGORY#cafes", "METADATA")
			if _, described := it["description"]; it["name"] != "Cafés" || !described {
				t.Errorf("stored %v", it)
			}
		}},
		{Says: "ORDER#<uuid> | METADATA | user_id, total, status", Instead: "it is in GSI1 too while staff have to do with it", Holds: func(t *testing.T) {
			t.Helper()
			has(t, d.item(t, "ORDER#"+d.order.OrderID, "METADATA"), map[string]string{"user_id": d.juan.UserID, "total": "350000", "status": "pending", "GSI1PK": "OPEN#pending"})
		}},
		{Says: "ORDER#<uuid> | ITEM#<prod_id> | product_name, quantity, price", Holds: func(t *testing.T) {
			t.Helper()
			has(t, d.item(t, "ORDER#"+d.order.OrderID, "ITEM#"+d.premium.ProductID), map[string]string{"product_name": "Café Premium", "quantity": "2", "price": "150000", "subtotal": "300000"})
		}},
		{Says: "USER#<uuid> | CART#<prod_id> | PRODUCT#<prod_id> | USER#<uuid> | quantity", Holds: func(t *testing.T) {
			t.Helper()
			has(t, d.item(t, "USER#"+ana, "CART#"+d.premium.ProductID), map[string]string{"GSI1PK": "PRODUCT#" + d.premium.ProductID, "GSI1SK": "USER#" + ana, "quantity": "2", "GSI2PK": ""})
		}},
		{
			Says:    "USER#<uuid> | ORDER#<order_id> | ORDER#<order_id> | METADATA | total, status",
			Instead: "the key begins with the time, so that orders are listed by it; the table itself has the order under the key that GSI1 would have",
			Holds: func(t *testing.T) {
				t.Helper()
				created := d.order.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z")
				has(t, d.item(t, "USER#"+d.juan.UserID, "ORDER#"+created+"#"+d.order.OrderID), map[string]string{"total": "350000", "status": "pending", "GSI1PK": "", "GSI2PK": ""})
			},
		},
	}
}

// indexLines are GSI1 and GSI2.
func (d *document) indexLines() []apitest.Line {
	index := func(name string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, x := range d.v.Described(t, d.table()).GlobalSecondaryIndexes {
				if *x.IndexName != name {
					continue
				}
				if *x.KeySchema[0].AttributeName != name+"PK" || *x.KeySchema[1].AttributeName != name+"SK" || x.Projection.ProjectionType != types.ProjectionTypeInclude {
					t.Errorf("%s is %+v", name, x)
				}
				for _, secret := range []string{"email", "password_hash", "stock"} {
					if slices.Contains(x.Projection.NonKeyAttributes, secret) {
						t.Errorf("%s projects %s", name, secret)
					}
				}
				return
			}
			t.Errorf("there is no %s", name)
		}
	}
	const narrow = "it projects what its lists show: neither what is secret nor the stock, so that a sale writes no entry"
	return []apitest.Line{
		{Says: "GSI1: Relaciones inversas", Instead: narrow, Holds: index("GSI1")},
		{Says: "GSI2: Búsquedas por atributos únicos", Instead: narrow, Holds: index("GSI2")},
		{Says: "Producto | CATEGORY#cafes | PRODUCT#uuid | Productos de categoría", Instead: "sorted by name, and only what is sold", Holds: func(t *testing.T) {
			t.Helper()
			found := d.v.Query(t, d.table(), "GSI1", "GSI1PK = :pk AND begins_with(GSI1SK, :sk)", map[string]string{":pk": "CATEGORY#cafes", ":sk": "PRODUCT#"})
			if len(found) < 2 || found[0]["product_id"] != d.premium.ProductID || slices.ContainsFunc(found, func(it map[string]string) bool { return it["product_id"] == d.gone.ProductID }) {
				t.Errorf("found %v", found)
			}
		}},
		{Says: "Cart Item | PRODUCT#uuid | USER#user_id | Usuarios con producto X en carrito", Holds: func(t *testing.T) {
			t.Helper()
			who := walk[catfecito.Holder](t, d.v, staff(request("", http.MethodGet, "/products/"+d.premium.ProductID+"/carts", nil)), 10)
			if !slices.Contains(who, catfecito.Holder{UserID: ana, Quantity: 2}) {
				t.Errorf("in the carts of %+v", who)
			}
			d.v.ExpectAsked(t, "listProductCarts", "PRODUCT#"+d.premium.ProductID, "Query GSI1")
		}},
		{Says: "Order Index | ORDER#order_id | METADATA | Metadata de orden desde GSI", Instead: "the table has the order under that key, and is read consistently", Holds: func(t *testing.T) {
			t.Helper()
			if found := d.v.Query(t, d.table(), "GSI1", "GSI1PK = :pk", map[string]string{":pk": "ORDER#" + d.order.OrderID}); len(found) != 0 {
				t.Errorf("the index has %v", found)
			}
			if d.item(t, "ORDER#"+d.order.OrderID, "METADATA")["total"] != "350000" {
				t.Error("the table has no such order")
			}
		}},
		{Says: "Usuario | EMAIL#juan@mail.com | USER#uuid | Login por email", Instead: "a marker, which makes the address unique and is read consistently", Holds: func(t *testing.T) {
			t.Helper()
			has(t, d.item(t, "EMAIL#juan@mail.com", "UNIQUE"), map[string]string{"user_id": d.juan.UserID})
			if found := d.v.Query(t, d.table(), "GSI2", "GSI2PK = :email", map[string]string{":email": "EMAIL#juan@mail.com"}); len(found) != 0 {
				t.Errorf("the index has %v", found)
			}
			must[catfecito.Session](t, d.v, request("", http.MethodPost, "/login", object{"email": "juan@mail.com", "password": password}), http.StatusOK)
		}},
		{Says: "Producto | PRODUCT#cafe-premium | PRODUCT#uuid | Búsqueda por nombre", Instead: "one partition, sorted by the folded name", Holds: func(t *testing.T) {
			t.Helper()
			found := d.v.Query(t, d.table(), "GSI2", "GSI2PK = :pk AND begins_with(GSI2SK, :sk)", map[string]string{":pk": "CATALOG", ":sk": "cafe pre"})
			if len(found) != 1 || found[0]["product_id"] != d.premium.ProductID {
				t.Errorf("found %v", found)
			}
		}},
	}
}
