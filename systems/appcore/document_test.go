package appcore_test

import (
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestItems: the five items that the document shows are stored as it shows them, but for what the README says departs.
func TestItems(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	put := v.Do(t, apitest.Request{
		Method: http.MethodPut, Path: "/me", As: ana, Body: map[string]any{"email": "ana.garcia@mail.com", "name": "Ana García"},
	})
	if put.Status != http.StatusOK {
		t.Fatalf("profile: %d %s", put.Status, put.Body)
	}
	tx := create(t, v, ana, "req-uuid-xxxx", 500).TxID
	made := v.Clock.Now()
	v.Clock.Advance(time.Minute)
	v.Deliver(t)
	notified := v.Clock.Now()
	text := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
	want := []map[string]string{
		{
			"pk": "USER#u-123", "sk": "PROFILE", "entityType": "USER", "userId": ana, "email": "ana.garcia@mail.com", "name": "Ana García",
			"createdAt": text(made),
		},
		{
			"pk": "USER#u-123", "sk": "TX#" + text(made) + "#" + tx, "entityType": "TRANSACTION", "txId": tx, "userId": ana, "amount": "500",
			"currency": "ARS", "status": "COMPLETED", "createdAt": text(made),
		},
		{
			"pk": "TX#" + tx, "sk": "METADATA", "entityType": "TRANSACTION", "txId": tx, "userId": ana, "amount": "500", "currency": "ARS",
			"status": "COMPLETED", "createdAt": text(made), "GSI1PK": "GLOBAL_TX#[0-9]", "GSI1SK": text(made) + "#" + tx,
		},
		{
			"pk": "USER#u-123", "sk": "NOTIF#" + text(notified) + "#[0-9A-Z]{26}", "entityType": "NOTIFICATION", "notifId": "[0-9A-Z]{26}",
			"userId": ana, "txId": tx, "message": "Tu transacción TX#" + tx + " fue aprobada.", "read": "false", "createdAt": text(notified),
			"expiresAt": strconv.FormatInt(notified.AddDate(0, 0, 90).Unix(), 10),
		},
		{
			"pk": "IDE#u-123#req-uuid-xxxx", "sk": "METADATA", "entityType": "IDEMPOTENCY", "txId": tx, "userId": ana,
			"requestKey": "req-uuid-xxxx", "request": "[0-9a-f]{64}", "createdAt": text(made),
			"expiresAt": strconv.FormatInt(made.Add(24*time.Hour).Unix(), 10),
		},
	}
	for it := range items(t, v, "") {
		found := plain(it)
		i := 0
		for i < len(want) && !maps.EqualFunc(want[i], found, matches) {
			i++
		}
		if i == len(want) {
			t.Errorf("an item that is none of the document's, or comes twice:\n%v", found)
			continue
		}
		want = append(want[:i], want[i+1:]...)
	}
	for _, missing := range want {
		t.Errorf("there is no item like\n%v", missing)
	}
}

// plain are an item's attributes as texts.
func plain(it table.Item) map[string]string {
	out := map[string]string{}
	for name, value := range it {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = value.Value
		case *types.AttributeValueMemberN:
			out[name] = value.Value
		case *types.AttributeValueMemberBOOL:
			out[name] = strconv.FormatBool(value.Value)
		default:
			out[name] = "a value of no type that the document has"
		}
	}
	return out
}

// matches reports whether a text is what a pattern asks for, as a whole.
func matches(pattern, text string) bool {
	return pattern == text || regexp.MustCompile("^(?:"+pattern+")$").MatchString(text)
}
