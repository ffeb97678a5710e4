package format

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Stage is the progress of a move, as recorded in a store.
//
//	target   (nothing) ─► Arriving ─► Arrived ─► the version
//	source   the version ─► Leaving ─► Left
//
// The source is marked as Left before the target gets the version, so there is never more than one complete database.
type Stage string

// The stages.
const (
	Arriving Stage = "arriving" // a part of the database may be here
	Arrived  Stage = "arrived"  // everything is here and has been compared with the source
	Leaving  Stage = "leaving"  // being copied: nobody may change it
	Left     Stage = "left"     // it is now in another store
)

// Move replaces the version in the source and the target of a move. Every release rejects a store that has one.
type Move struct {
	Stage Stage  `json:"moving"`
	ID    string `json:"move"` // of one attempt
	From  string `json:"from"`
	To    string `json:"to"`
	// Version is the source's version.
	Version uint64 `json:"version"`
}

// Save writes the move within a transaction that holds the version's key.
func (m *Move) Save(txn kv.Txn) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("format: %w", err)
	}
	txn.Set(keyenc.FormatVersion(), data)
	return nil
}

// End replaces the move with the version, within a transaction that holds the version's key.
func (m *Move) End(txn kv.Txn) { txn.Set(keyenc.FormatVersion(), m.VersionBytes()) }

// VersionBytes returns the stored form of the version.
func (m *Move) VersionBytes() []byte { return binary.BigEndian.AppendUint64(nil, m.Version) }

// Read returns the version of a store, or the move that replaces it, or neither if nothing has been written.
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

// decodeMove returns nil if data is not a move.
func decodeMove(data []byte) (*Move, error) {
	if len(data) == 0 || data[0] != '{' { // the first byte of a version is zero
		return nil, nil //nolint:nilnil // there may be none
	}
	m := new(Move)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the record of a move is corrupted: %w", err)
	}
	return m, nil
}

// Refusal returns the error for using a store with this move, which says what to do.
func (m *Move) Refusal() error {
	switch m.Stage {
	case Left:
		return fmt.Errorf("the database has been moved to %s: start servers there", m.To)
	case Leaving:
		return fmt.Errorf("the database is being moved to %s, or that was interrupted: run the same monotable move again, or take it back with --reopen (monotable.Reopen)", m.To)
	default:
		return fmt.Errorf("the move of %s to this store is under way or was interrupted: run the same monotable move again", m.From)
	}
}
