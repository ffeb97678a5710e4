package seed

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// Chance is a source of chance, and of what samples make of it.
type Chance struct{ *rand.Rand }

// Name is a person's.
func (c Chance) Name() string {
	given := []string{"Ana", "Bruno", "Camila", "Diego", "Elena", "Fernando", "Julieta", "Martín", "Sofía", "Tomás"}
	family := []string{"Acosta", "Benítez", "Díaz", "García", "López", "Núñez", "Pereyra", "Romero", "Silva", "Vega"}
	return given[c.IntN(len(given))] + " " + family[c.IntN(len(family))]
}

// UUID is one of version 4.
func (c Chance) UUID() string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], c.Uint64())
	binary.BigEndian.PutUint64(id[8:], c.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// ULID is one of a time.
func (c Chance) ULID(at time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // no sample has a time beyond those of ULIDs
	binary.BigEndian.PutUint16(id[6:], uint16(c.Uint32()))
	binary.BigEndian.PutUint64(id[8:], c.Uint64())
	return id.String()
}
