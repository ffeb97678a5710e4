package catfecito_test

import (
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
)

// auditFilter lets pass what the trail tells of; what the trail writes itself is not among it.
const auditFilter = `{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"USER#"},{"prefix":"PRODUCT#"},{"prefix":"CATEGORY#"},{"prefix":"ORDER#"}]},` +
	`"SK":{"S":["METADATA","CREDENTIAL",{"prefix":"ITEM#"}]}}}}`

// template is how CatFecito is deployed: the patterns that each function calls.
func template(v *apitest.Server) sam.Template {
	return sam.Template{
		Name: catfecito.Name, AdminGroup: catfecito.AdminGroup, Title: "CatFecito", Design: "catfecito.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData": {"ExportPerson"},
			"eraseOwnData":  {"ErasePerson"},
			"registerUser":         {"RegisterUser", "UserByID", "CredentialOf", "TryLogIn", "ForgetTries"},
			"logIn":                {"UserByEmail", "UserByID", "CredentialOf", "TryLogIn", "ForgetTries"},
			"getOwnUser":           {"UserByID"},
			"getUser":              {"UserByID"},
			"putRole":              {"SetRole"},
			"listCategories":       {"Categories"},
			"getCategory":          {"CategoryByID"},
			"putCategory":          {"SaveCategory"},
			"listProducts":         {"ActiveProducts", "SearchProducts"},
			"listCategoryProducts": {"ProductsByCategory"},
			"getProduct":           {"ProductByID"},
			"createProduct":        {"CreateProduct", "ProductByID"},
			"putProduct":           {"ChangeProduct", "ProductByID"},
			"putProductActive":     {"SetProductActive"},
			"restockProduct":       {"Restock"},
			"listProductCarts":     {"CartsWithProduct"},
			"getCart":              {"Cart", "ProductByID"},
			"addToCart":            {"Cart", "AddToCart", "DropExpiredLine", "RequestByKey"},
			"setCartItem":          {"Cart", "SetCartQuantity", "DropExpiredLine"},
			"removeFromCart":       {"RemoveFromCart"},
			"checkout":             {"Cart", "ProductByID", "PlaceOrder", "CheckoutByKey", "OrderWithItems"},
			"listOrders":           {"UserOrders"},
			"getOrder":             {"OrderWithItems", "OrderExists", "OrderForStaff"},
			"beginPayment":         {"OrderByID", "OrderExists"},
			"paymentEvent":         {"ApplyPayment", "RefusePayment", "PaymentByID"},
			"payOrder":             {"PayOrder", "OrderForStaff"},
			"cancelOrder":          {"OrderWithItems", "OrderExists", "OrderForStaff", "CancelOrder"},
			"shipOrder":            {"ShipOrder"},
			"deliverOrder":         {"DeliverOrder"},
			"auditTrail":           {"AuditTrail"},
		},
		Streams:   []sam.Stream{{Name: "audit", Table: "catfecito", Patterns: []string{"RecordChange"}, Filter: auditFilter}},
		Schedules: []sam.Schedule{{Name: "expiry", Every: time.Minute, Patterns: []string{"UnpaidOrders", "OrderForStaff", "ExpireOrder"}}},
		Settings: []sam.Setting{
			{Variable: "APP_ISSUER_KEY", Parameter: "IssuerKey", Layer: "IssuerKeyLayer", About: "File of the keys that sign tokens for the shop's own log-in, such as /opt/issuer.json; empty leaves log-in to the user pool"},
			{Variable: "APP_ISSUER", Parameter: "Issuer", About: "Public address of the shop, where IssuerKey is given"},
		},
	}
}

// TestTemplate: lambda/template.yaml is what the design and the API make it.
func TestTemplate(t *testing.T) { template(open(t)).Compare(t, "lambda/template.yaml") }
