package catfecito_test

import (
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
)

// changesFilter selects the records for the history, the search lists and refunds, and excludes what the consumer itself writes.
const changesFilter = `{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"USER#"},{"prefix":"PRODUCT#"},{"prefix":"CATEGORY#"},{"prefix":"ORDER#"}]},` +
	`"SK":{"S":["METADATA","CREDENTIAL",{"prefix":"ITEM#"}]}}}}`

// template describes the deployment: which patterns each function calls.
func template(v *apitest.Server) sam.Template {
	return sam.Template{
		Name: catfecito.Name, AdminGroup: catfecito.AdminGroup, Title: "CatFecito", Design: "catfecito.design.yaml", Routes: v.Routes(),
		Functions: acted(admitted(map[string][]string{
			"listSessions":         {"SessionsOfUser"},
			"refreshSession":       {"SessionByID", "RefreshSession", "CloseSession", "UserByID"},
			"logOut":               {"CloseSession"},
			"changePassword":       {"CredentialOf", "TryLogIn", "ForgetTries", "ChangePassword", "SessionsOfUser", "CloseSession", "OpenSession"},
			"sendVerification":     {"CodeOf", "SendCode"},
			"verifyEmail":          {"CodeOf", "TryCode", "VerifyEmail"},
			"sendPasswordReset":    {"UserByEmail", "UserByID", "CredentialOf", "CodeOf", "SendCode"},
			"resetPassword":        {"UserByEmail", "UserByID", "CredentialOf", "CodeOf", "TryCode", "ResetPassword", "SessionsOfUser", "CloseSession"},
			"exportOwnData":        {"ExportPerson"},
			"eraseOwnData":         {"ErasePerson", "UserOrders"},
			"registerUser":         {"RegisterUser", "UserByID", "CredentialOf", "TryLogIn", "ForgetTries"},
			"logIn":                {"UserByEmail", "UserByID", "CredentialOf", "TryLogIn", "ForgetTries", "OpenSession", "SessionsOfUser", "CloseSession"},
			"getOwnUser":           {"UserByID"},
			"getUser":              {"UserByID"},
			"putRole":              {"SetRole"},
			"listCategories":       {"Categories"},
			"getCategory":          {"CategoryByID"},
			"putCategory":          {"CreateCategory", "SaveCategory"},
			"listProducts":         {"ActiveProducts", "SearchProducts", "ProductsByWord", "ProductByID"},
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
			"paymentEvent":         {"ApplyPayment", "RefusePayment", "PaymentByID", "SetRefundAside"},
			"payOrder":             {"PayOrder", "OrderForStaff"},
			"cancelOrder":          {"OrderWithItems", "OrderExists", "OrderForStaff", "CancelOrder"},
			"shipOrder":            {"ShipOrder"},
			"deliverOrder":         {"DeliverOrder"},
			"watchOrders":          {},
			"listOpenOrders":       {"OpenOrders"},
			"listShelf":            {"Shelf", "ProductByID"},
			"getTakings":           {"PaidOrders"},
			"findUser":             {"UserByEmail"},
			"listFailedRefunds":    {"FailedRefunds"},
			"retryRefund":          {"FailedRefundsOfOrder", "DropFailedRefunds"},
			"auditTrail":           {"AuditTrail"},
			"listActs":             {"ActsOfDay"},
		})),
		Streams: []sam.Stream{
			{Name: "changes", Table: "catfecito", Patterns: []string{"RecordChange", "ProductByID", "EnterProducts", "DropProductEntries", "SetRefundAside"}, Filter: changesFilter},
		},
		Schedules: []sam.Schedule{
			{Name: "expiry", Every: time.Minute, Patterns: []string{"OpenOrders", "OrderForStaff", "ExpireOrder"}},
			{Name: "lists", Every: 24 * time.Hour, Patterns: []string{"Shelf", "ActiveProducts", "EnterProducts"}},
			{Name: "refunds", Every: time.Hour, Patterns: []string{"FailedRefunds", "CountRefundTry", "DropFailedRefunds"}},
		},
		Settings: []sam.Setting{
			{Variable: sam.IssuerKey, Parameter: "IssuerKey", Layer: "IssuerKeyLayer", About: "File of the keys that sign tokens for the shop's own log-in, such as /opt/issuer.json; empty leaves log-in to the user pool"},
			{Variable: catfecito.MailURL, Parameter: "MailURL", Secret: true, About: "Mail server that sends codes to users of the shop's own log-in, as smtps://USER:PASSWORD@mail.example.com; empty sends none"},
			{Variable: catfecito.MailFrom, Parameter: "MailFrom", About: "Whom letters are from, as CatFecito <shop@example.com>"},
			{Variable: catfecito.BreachedPasswords, Parameter: "BreachedPasswords", About: "List of breached passwords that is asked, as https://api.pwnedpasswords.com/range/; empty asks none"},
			{Variable: "APP_ISSUER", Parameter: "Issuer", About: "Public address of the shop, where IssuerKey is given"},
		},
	}
}

// acted adds the patterns that record staff requests.
func acted(functions map[string][]string) map[string][]string {
	for _, id := range []string{"putRole", "putCategory", "createProduct", "putProduct", "putProductActive", "restockProduct", "payOrder", "cancelOrder", "shipOrder", "deliverOrder", "retryRefund"} {
		functions[id] = append(functions[id], "KeepAct")
	}
	return functions
}

// TestTemplate: the files in lambda are generated from the design and the API.
func TestTemplate(t *testing.T) { template(open(t)).Compare(t, "lambda") }

// tokenless are the operations that ignore tokens.
var tokenless = []string{"registerUser", "logIn", "refreshSession", "sendPasswordReset", "resetPassword", "paymentEvent"} //nolint:gochecknoglobals // a list

// admitted adds the patterns that check sessions to the functions that take tokens.
func admitted(functions map[string][]string) map[string][]string {
	for id, patterns := range functions {
		if slices.Contains(tokenless, id) {
			continue
		}
		for _, look := range []string{"SessionByID", "UserByID"} {
			if !slices.Contains(patterns, look) {
				patterns = append(patterns, look)
			}
		}
		functions[id] = patterns
	}
	return functions
}

// TestMain runs every test with the permissions that the template gives to each function.
func TestMain(m *testing.M) {
	apitest.Main(m, template, func() system.System { return catfecito.System(catFecito()) })
}
