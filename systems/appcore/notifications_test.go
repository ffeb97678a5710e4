package appcore

import (
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

// FuzzNotificationRef: an id identifies one notification, and all other texts are rejected.
func FuzzNotificationRef(f *testing.F) {
	own := notificationRef{at: time.Date(2024, 1, 15, 10, 6, 0, 123e6, time.UTC), id: "01HM69BJT0GQXYEAV0CGM90155"}
	for _, text := range []string{own.String(), "", "notif-xyz", strings.Repeat("A", 32), strings.Repeat("_", 32), own.String() + "A"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := parseNotificationRef(text)
		if err != nil {
			return
		}
		if _, err := ulid.ParseStrict(ref.id); err != nil || ref.String() != text {
			t.Errorf("%q is %+v, which is %q (%v)", text, ref, ref.String(), err)
		}
	})
	if back, err := parseNotificationRef(own.String()); err != nil || !back.at.Equal(own.at) || back.id != own.id {
		f.Errorf("%+v is decoded as %+v, %v", own, back, err)
	}
}

// TestNotificationID: each transaction has one notification id, which contains the transaction's time.
func TestNotificationID(t *testing.T) {
	t.Parallel()
	const txID = "01HM699R7006AFVGQT5ZYC0GEK"
	id := notificationID(txID)
	if id != notificationID(txID) || id == txID || id == notificationID("01HM699R7006AFVGQT5ZYC0GEM") {
		t.Errorf("the notification of %s is %s", txID, id)
	}
	if id[:10] != txID[:10] { // the characters that encode the time
		t.Errorf("%s is of another time than %s", id, txID)
	}
}
