package trinity_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/trinity"
)

// TestSample: a sample is consistent and reproducible.
func TestSample(t *testing.T) {
	t.Parallel()
	const items, rooms = 1_500, 37 // 25 in the first part, 12 in the second, and twenty matches of expired rooms
	v := apitest.Open(t, trinity.System(trinity.Options{}))
	sample := v.Host.Service(trinity.Name).Sample
	for range 2 { // the second run changes nothing
		stored, err := seed.Run(t.Context(), sample, seed.Options{Items: items, Seed: 7})
		if err != nil || stored != items {
			t.Fatalf("stored %d of %d: %v", stored, items, err)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.rooms) != rooms || len(s.codes) != rooms {
		t.Errorf("%d rooms with %d codes, want %d", len(s.rooms), len(s.codes), rooms)
	}
	if gone := len(s.shared) - rooms; gone != 20 {
		t.Errorf("matches of %d rooms that have gone, want 20", gone)
	}
	if own := all[trinity.JoinedRoom](t, client{v, ana}, "/rooms"); len(own) != 1 || own[0].HostID != ana {
		t.Errorf("%s is in %+v", ana, own)
	}
}
