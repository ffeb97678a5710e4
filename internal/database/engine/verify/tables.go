package verify

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// loadTables reads the definitions of tables. Everything else depends on them, so an unreadable definition ends the run.
func (v *verification) loadTables() error {
	v.tables = map[string]*catalog.Descriptor{}
	ids := map[keyenc.TableID]string{}
	next, err := v.number(keyenc.NextTableID())
	if err != nil {
		return err
	}
	const prefix = "cd"
	return v.walk(prefix, func(key, value []byte) error {
		d, err := catalog.DecodeDescriptor(value)
		if err != nil {
			return err
		}
		v.tables[d.Name] = d
		found := func(format string, args ...any) {
			v.finding(Finding{Table: d.Name, Key: key, What: "the definition " + fmt.Sprintf(format, args...)})
		}
		if name := strings.TrimPrefix(string(key), prefix); name != d.Name {
			found("is stored as that of %q", name)
		}
		if other, taken := ids[d.ID]; taken {
			found("has the id %d, as that of %q has", d.ID, other)
		}
		ids[d.ID] = d.Name
		if uint64(d.ID) >= next {
			found("has the id %d, and the next table would get %d", d.ID, next)
		}
		guard, err := v.number(keyenc.TableVersion(d.ID))
		if err == nil && guard != d.Version {
			found("is of version %d, and the stored version is %d: no write to the table succeeds", d.Version, guard)
		}
		return err
	})
}

// number reads a number of 8 bytes, or returns 0 if there is none.
func (v *verification) number(key []byte) (uint64, error) {
	value, err := v.r.Get(key)
	switch {
	case err != nil || value == nil:
		return 0, err
	case len(value) != 8:
		v.finding(Finding{Key: key, What: fmt.Sprintf("the value has %d bytes and not 8", len(value))})
		return 0, nil
	}
	return binary.BigEndian.Uint64(value), nil
}
