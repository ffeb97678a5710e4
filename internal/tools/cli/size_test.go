package cli

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1048576": 1 << 20, "12B": 12, "512MiB": 512 << 20, "2 GB": 2e9, "1TiB": 1 << 40, "3KB": 3000,
	} {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{"auto": 0, "none": -1, "0": -1, "0MiB": -1, "2MiB": 2 << 20} {
		if got, err := diskReserve(text); got != want || err != nil {
			t.Errorf("a reserve of %q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "1.5GB", "-1", "10 apples", "9999999999TiB", "99999999999999999999"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is accepted as %d", text, got)
		}
	}
}
