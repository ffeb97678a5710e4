package appcore_test

import (
	"testing"
	"time"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
)

// template describes the deployment: which patterns each function calls.
func template(v *apitest.Server) sam.Template {
	return sam.Template{
		Name: appcore.Name, Title: "AppCore", Design: "appcore.design.yaml", Routes: v.Routes(),
		Functions: map[string][]string{
			"exportOwnData":      {"ExportPerson"},
			"eraseOwnData":       {"ErasePerson", "UserTransactions"},
			"getProfile":         {"Profile"},
			"putProfile":         {"SaveProfile"},
			"listTransactions":   {"UserTransactions"},
			"createTransaction":  {"CreateTransaction", "TransactionByID"},
			"latestTransactions": {"LatestTransactions"},
			"getTransaction":     {"TransactionByID", "TransactionExists"},
			"listNotifications":  {"UserNotifications"},
			"patchNotification":  {"MarkNotification"},
			"listQueue":          {"QueuedTransactions", "CompletedTransactions", "AnyTransaction"},
			"getAnyTransaction":  {"AnyTransaction"},
			"replayTransaction":  {"AnyTransaction", "SettleTransaction", "KeepAct"},
			"listActs":           {"ActsOfDay"},
			"watchOwn":           {},
			"watchQueue":         {},
		},
		Streams: []sam.Stream{{
			Name: "settlement", Table: "AppCore", Patterns: []string{"SettleTransaction"},
			Filter: `{"eventName":["INSERT"],"dynamodb":{"Keys":{"pk":{"S":[{"prefix":"TX#"}]}}}}`,
		}},
		Schedules: []sam.Schedule{{
			Name: "sweep", Every: time.Minute, Patterns: []string{"QueuedTransactions", "AnyTransaction", "SettleTransaction"},
		}},
		Settings: []sam.Setting{{
			Variable: "APPCORE_SETTLE_MAX", Parameter: "SettleMax", Default: "1000000",
			About: "The largest amount that is approved, in the currency's smallest unit",
		}},
	}
}

// TestTemplate: the files in lambda are generated from the design and the API.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template(apitest.Open(t, appcore.System(appcore.Options{}))).Compare(t, "lambda")
}

// TestMain runs every test with the permissions that the template gives to each function.
func TestMain(m *testing.M) {
	apitest.Main(m, template, func() system.System { return appcore.System(appcore.Options{}) })
}
