package seed

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// Chance is a random source with generators for sample values.
type Chance struct{ *rand.Rand }

// Name returns a person's name.
func (c Chance) Name() string {
	given := []string{"Ana", "Bruno", "Camila", "Diego", "Elena", "Fernando", "Julieta", "Martín", "Sofía", "Tomás"}
	family := []string{"Acosta", "Benítez", "Díaz", "García", "López", "Núñez", "Pereyra", "Romero", "Silva", "Vega"}
	return given[c.IntN(len(given))] + " " + family[c.IntN(len(family))]
}

// UUID returns a UUID of version 4.
func (c Chance) UUID() string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], c.Uint64())
	binary.BigEndian.PutUint64(id[8:], c.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// ULID returns a ULID with a time.
func (c Chance) ULID(at time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // no sample has a time outside the range of ULIDs
	binary.BigEndian.PutUint16(id[6:], uint16(c.Uint32()))
	binary.BigEndian.PutUint64(id[8:], c.Uint64())
	return id.String()
}
