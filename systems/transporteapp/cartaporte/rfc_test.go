package cartaporte_test

import (
	"errors"
	"testing"

	"github.com/monotable/monotable/systems/transporteapp/cartaporte"
)

// TestRFC: the tax office's own test taxpayers are valid, and each invalid key has its fault.
func TestRFC(t *testing.T) {
	for _, c := range []struct {
		rfc     string
		persona cartaporte.Persona
		err     error
	}{
		{"EKU9003173C9", cartaporte.Moral, nil},
		{"IIA040805DZ4", cartaporte.Moral, nil},
		{"XIA190128J61", cartaporte.Moral, nil},
		{"URE180429TM6", cartaporte.Moral, nil},
		{"CACX7605101P8", cartaporte.Fisica, nil},
		{"FUNK671228PH6", cartaporte.Fisica, nil},
		{"XAXX010101000", cartaporte.Generico, nil},
		{"XEXX010101000", cartaporte.Generico, nil},
		{"EKU9003173C8", "", cartaporte.ErrVerificador},
		{"EKU9003173CA", "", cartaporte.ErrVerificador},
		{"EKU9002303C9", "", cartaporte.ErrFecha},
		{"EKU9013173C9", "", cartaporte.ErrFecha},
		{"eku9003173c9", "", cartaporte.ErrEstructura},
		{"EKU9003173C", "", cartaporte.ErrEstructura},
		{"XXX...", "", cartaporte.ErrEstructura},
		{"", "", cartaporte.ErrEstructura},
		{"XXXX000000XXX", "", cartaporte.ErrEstructura},
	} {
		if p, err := cartaporte.RFC(c.rfc); p != c.persona || !errors.Is(err, c.err) {
			t.Errorf("RFC(%q) is %q and %v, want %q and %v", c.rfc, p, err, c.persona, c.err)
		}
	}
}

// TestCURP: examples of the published algorithm are valid, and each invalid key has its fault.
func TestCURP(t *testing.T) {
	for _, c := range []struct {
		curp string
		err  error
	}{
		{"BOXW310820HNERXN09", nil},
		{"BOXW310820HNERXN08", cartaporte.ErrVerificador},
		{"HEGG560427MVZRRL04", nil},
		{"HEGG560427MVZRRL05", cartaporte.ErrVerificador},
		{"HEGG560431MVZRRL04", cartaporte.ErrFecha},
		{"HEGG560427MZZRRL04", cartaporte.ErrEstructura},
		{"HBGG560427MVZRRL04", cartaporte.ErrEstructura},
		{"HEGG560427MVZRRL0", cartaporte.ErrEstructura},
		{"hegg560427mvzrrl04", cartaporte.ErrEstructura},
		{"XXXX000000XXXXXX00", cartaporte.ErrEstructura},
	} {
		if err := cartaporte.CURP(c.curp); !errors.Is(err, c.err) {
			t.Errorf("CURP(%q) is %v, want %v", c.curp, err, c.err)
		}
	}
}
