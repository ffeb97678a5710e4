package appcore_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/apitest"
)

// itemLines are the five items of section 1.5 exactly as they are stored.
func (d *document) itemLines(t *testing.T) []apitest.Line {
	t.Helper()
	var stored []map[string]string
	for it := range items(t, d.v, "") {
		stored = append(stored, apitest.Plain(it))
	}
	text := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
	created, notified, tx := text(d.created), text(d.notified), d.tx.TxID
	want := []struct {
		says, instead string
		item          map[string]string
	}{
		{"Ítem 1 — Entidad Usuario", "", map[string]string{
			"pk": "USER#u-123", "sk": "PROFILE", "entityType": "USER", "userId": ana, "email": "ana.garcia@mail.com", "name": "Ana García", "createdAt": created,
		}},
		{"Ítem 2 — Transacción bajo el usuario (access pattern 1)", "it is a copy of the item at TX#, settled with it, and in no index", map[string]string{
			"pk": "USER#u-123", "sk": "TX#" + created + "#" + tx, "entityType": "TRANSACTION", "txId": tx, "userId": ana, "amount": "500",
			"currency": "ARS", "status": "COMPLETED", "createdAt": created,
		}},
		{"Ítem 3 — Lookup de transacción por ID (access pattern 2)", "the index's partition is one of ten, its sort key ends in the id", map[string]string{
			"pk": "TX#" + tx, "sk": "METADATA", "entityType": "TRANSACTION", "txId": tx, "userId": ana, "amount": "500", "currency": "ARS",
			"status": "COMPLETED", "createdAt": created, "GSI1PK": "GLOBAL_TX#[0-9]", "GSI1SK": created + "#" + tx,
		}},
		{"Ítem 4 — Notificación del usuario (access pattern 3)", "it says of which transaction it is, and goes after 90 days", map[string]string{
			"pk": "USER#u-123", "sk": "NOTIF#" + notified + "#[0-9A-Z]{26}", "entityType": "NOTIFICATION", "notifId": "[0-9A-Z]{26}",
			"userId": ana, "txId": tx, "message": "Tu transacción TX#" + tx + " fue aprobada.", "read": "false", "createdAt": notified,
			"expiresAt": strconv.FormatInt(d.notified.AddDate(0, 0, 90).Unix(), 10),
		}},
		{"Ítem 5 — Control de idempotencia", "the key is its user's, the record knows the request, and goes after a day", map[string]string{
			"pk": "IDE#u-123#req-uuid-xxxx", "sk": "METADATA", "entityType": "IDEMPOTENCY", "txId": tx, "userId": ana,
			"requestKey": "req-uuid-xxxx", "request": "[0-9a-f]{64}", "createdAt": created, "expiresAt": strconv.FormatInt(d.created.Add(24*time.Hour).Unix(), 10),
		}},
	}
	if len(stored) != len(want) {
		t.Errorf("%d items are stored, the document has %d: %v", len(stored), len(want), stored)
	}
	lines := make([]apitest.Line, len(want))
	for i, w := range want {
		lines[i] = apitest.Line{Says: w.says, Instead: w.instead, Holds: func(t *testing.T) {
			t.Helper()
			if !slices.ContainsFunc(stored, func(it map[string]string) bool { return maps.EqualFunc(w.item, it, matches) }) {
				t.Errorf("no item is like %v: %v", w.item, stored)
			}
		}}
	}
	return lines
}

// matches reports whether a pattern matches an entire text.
func matches(pattern, text string) bool {
	return pattern == text || regexp.MustCompile("^(?:"+pattern+")$").MatchString(text)
}
