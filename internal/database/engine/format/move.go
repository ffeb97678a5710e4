package format

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Stage is how far a move is, as a store tells it.
//
//	target   (nothing) ─► Arriving ─► Arrived ─► the version
//	source   the version ─► Leaving ─► Left
//
// The source has Left before the target has the version, so that there is never more than one whole database.
type Stage string

// The stages.
const (
	Arriving Stage = "arriving" // a part of the database may be here
	Arrived  Stage = "arrived"  // all of it is here and has been compared with the source
	Leaving  Stage = "leaving"  // it is being copied: nobody may change it
	Left     Stage = "left"     // it is in another store now
)

// Move is what stands in place of the version in the store that a database is moved from, and in the one that it is moved to. Every release refuses
// a store that has one.
type Move struct {
	Stage Stage  `json:"moving"`
	ID    string `json:"move"` // of one attempt
	From  string `json:"from"`
	To    string `json:"to"`
	// Version is the source's.
	Version uint64 `json:"version"`
}

// Save writes the move within a transaction that holds the key of the version.
func (m *Move) Save(txn kv.Txn) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("format: %w", err)
	}
	txn.Set(keyenc.FormatVersion(), data)
	return nil
}

// End gives the store its version within a transaction that holds the key of it.
func (m *Move) End(txn kv.Txn) { txn.Set(keyenc.FormatVersion(), m.VersionBytes()) }

// VersionBytes are the version as a store has it.
func (m *Move) VersionBytes() []byte { return binary.BigEndian.AppendUint64(nil, m.Version) }

// Read returns the version that a store has, or the move that stands in its place; neither where nothing has been written.
func Read(r kv.Reader) (stored uint64, m *Move, err error) {
	data, err := r.Get(keyenc.FormatVersion())
	if err != nil || data == nil {
		return 0, nil, err
	}
	if m, err = decodeMove(data); m != nil || err != nil {
		return 0, m, err
	}
	stored, err = check(data, version)
	return stored, nil, err
}

// decodeMove returns nil for what is no move.
func decodeMove(data []byte) (*Move, error) {
	if len(data) == 0 || data[0] != '{' { // a version begins with a zero
		return nil, nil //nolint:nilnil // there may be none
	}
	m := new(Move)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("format: the record of a move is damaged: %w", err)
	}
	return m, nil
}

// Refusal says why a store that has the move cannot be used, and what to do.
func (m *Move) Refusal() error {
	switch m.Stage {
	case Left:
		return fmt.Errorf("format: the database has been moved to %s: start servers there", m.To)
	case Leaving:
		return fmt.Errorf("format: the database is being moved to %s, or that was interrupted: run the same monotable move again, or take it back with --reopen", m.To)
	default:
		return fmt.Errorf("format: the move of %s to this store is under way or was interrupted: run the same monotable move again", m.From)
	}
}
