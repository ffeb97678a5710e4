package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// format is the format version of the records here.
const format = 1

// serverRecord is a server's lease.
type serverRecord struct {
	Format int   `json:"format"`
	Until  int64 `json:"until"` // milliseconds since the epoch, by the store's time
	Known  int64 `json:"known"` // the version of the definitions that the server knows
	// Form is the format version that the server writes; 0 for programs that do not report it.
	Form uint64 `json:"form"`
}

// leaderRecord is the leader's lease. It is kept after it has expired, so that terms never repeat.
type leaderRecord struct {
	Format int    `json:"format"`
	Server string `json:"server"` // "" after the leader has left
	Term   int64  `json:"term"`
	Until  int64  `json:"until"`
}

// recordFormat is the format of either record.
func (r *serverRecord) recordFormat() *int { return &r.Format }
func (r *leaderRecord) recordFormat() *int { return &r.Format }

// decode returns the zero record for no data.
func decode[T any, P interface {
	*T
	recordFormat() *int
}](data []byte) (r T, err error) {
	if data == nil {
		return r, nil
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("cluster: record: %w", err)
	}
	if f := *P(&r).recordFormat(); f != format {
		return r, fmt.Errorf("a server's lease has format %d, but this program supports format %d: run servers of one version", f, format)
	}
	return r, nil
}

func save[T any, P interface {
	*T
	recordFormat() *int
}](txn kv.Txn, key []byte, r P) error {
	*r.recordFormat() = format
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	txn.Set(key, data)
	return nil
}

// renew renews the server's lease in the store, and returns the store's time. To use its definitions for as long, the server
// has to call extend.
func (m *Member) renew(ctx context.Context) (now int64, err error) {
	own := keyenc.Server(m.id)
	err = m.options.Store.Update(ctx, kv.Intent{Write: [][]byte{own}, Check: [][]byte{keyenc.FormatVersion()}, Frees: true}, func(txn kv.Txn) error {
		if err := m.admit(txn); err != nil {
			return err
		}
		now = txn.LogSeq().Millis()
		return save(txn, own, &serverRecord{Until: now + leaseTime.Milliseconds(), Known: m.known, Form: m.options.Form})
	})
	return now, err
}

// claim renews the leader's lease if the server leads, or takes it if it is free. It returns the server's term, or 0.
func (m *Member) claim(ctx context.Context, now int64) (term int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	work := keyenc.Leader()
	data, err := m.options.Store.Get(ctx, work)
	if err != nil {
		return 0, err
	}
	seen, err := decode[leaderRecord](data)
	if err != nil || seen.Server != m.id && seen.Server != "" && seen.Until >= now {
		return 0, err
	}
	began := false
	err = m.options.Store.Update(ctx, kv.Intent{Write: [][]byte{work}, Frees: true}, func(txn kv.Txn) error {
		term, began = 0, false
		data, err := txn.Get(work)
		if err != nil {
			return err
		}
		leader, err := decode[leaderRecord](data)
		if err != nil {
			return err
		}
		now := txn.LogSeq().Millis()
		switch {
		case leader.Server == m.id && m.term != nil && m.term.number == leader.Term:
		case leader.Server == "" || leader.Until < now || leader.Server == m.id:
			leader.Server, leader.Term, began = m.id, leader.Term+1, true
		default:
			return nil
		}
		term, leader.Until = leader.Term, now+leaseTime.Milliseconds()
		return save(txn, work, &leader)
	})
	if errors.Is(err, context.DeadlineExceeded) { // another transaction holds it, so it is unchanged
		if m.term != nil && seen.Server == m.id && seen.Term == m.term.number {
			return seen.Term, nil
		}
		return 0, nil
	}
	if err == nil && began {
		_ = m.forget(ctx) // the next leader tries again
	}
	return term, err
}

// eachServer calls fn with the record of each server, whose key is valid until fn returns.
func eachServer(r kv.Reader, fn func(key []byte, r serverRecord)) error {
	lo, hi := keyenc.Servers()
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		r, err := decode[serverRecord](it.Value())
		if err != nil {
			return err
		}
		fn(it.Key(), r)
	}
	return it.Err()
}

// Older returns an error while a server whose program writes an earlier format has a lease. The update must hold the key of
// the format version for writing.
func Older(txn kv.Txn, form uint64) error {
	now := txn.LogSeq().Millis()
	servers, until := 0, int64(0)
	err := eachServer(txn, func(_ []byte, r serverRecord) {
		if r.Until >= now && r.Form < form {
			servers, until = servers+1, max(until, r.Until)
		}
	})
	if err != nil || servers == 0 {
		return err
	}
	return fmt.Errorf("this program stores data in format version %d, but servers of an earlier format use the store (number of servers: %d): "+
		"stop all of them first. The lease of a crashed server expires within %v",
		form, servers, time.Duration(until-now)*time.Millisecond)
}

// Server is a server that shares the store, according to its lease.
type Server struct {
	ID    string
	Until time.Time // by the store's time
	// Serves reports whether the lease is valid. Current reports whether the server knows the current definitions.
	Serves, Current bool
	// Leads reports whether the server does the background work, in Term, until LeadsUntil.
	Leads      bool
	Term       int64
	LeadsUntil time.Time
}

// Servers returns the servers whose leases have not been removed yet, sorted by ID, and the store's time.
func Servers(ctx context.Context, store kv.Store) (all []Server, now time.Time, err error) {
	err = store.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		all = nil
		now = time.UnixMilli(txn.LogSeq().Millis())
		data, err := txn.Get(keyenc.Leader())
		if err != nil {
			return err
		}
		leader, err := decode[leaderRecord](data)
		if err != nil {
			return err
		}
		sums, err := txn.Counter(keyenc.Definitions())
		if err != nil {
			return err
		}
		prefix := len(keyenc.Server(""))
		return eachServer(txn, func(key []byte, r serverRecord) {
			s := Server{ID: string(key[prefix:]), Until: time.UnixMilli(r.Until)}
			s.Serves = !s.Until.Before(now)
			s.Current = len(sums) == 0 || r.Known >= sums[0]
			if s.ID == leader.Server && leader.Until >= now.UnixMilli() {
				s.Leads, s.Term, s.LeadsUntil = true, leader.Term, time.UnixMilli(leader.Until)
			}
			all = append(all, s)
		})
	})
	return all, now, err
}

// ID is the name of the member's lease.
func (m *Member) ID() string { return m.id }

// Serving returns the number of servers with valid leases.
func Serving(ctx context.Context, store kv.Store) (n int, err error) {
	err = store.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		n = 0
		now := txn.LogSeq().Millis()
		return eachServer(txn, func(_ []byte, r serverRecord) {
			if r.Until >= now {
				n++
			}
		})
	})
	return n, err
}

// forget removes the leases of servers that ended long ago. Any of them may resume at any time, so each is checked again with
// its key held.
func (m *Member) forget(ctx context.Context) error {
	snapshot, err := m.options.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	var all [][]byte
	if err := eachServer(snapshot, func(key []byte, _ serverRecord) { all = append(all, bytes.Clone(key)) }); err != nil {
		return err
	}
	for _, key := range all {
		err := m.options.Store.Update(ctx, kv.Intent{Write: [][]byte{key}, Drops: true}, func(txn kv.Txn) error {
			data, err := txn.Get(key)
			if err != nil || data == nil {
				return err
			}
			r, err := decode[serverRecord](data)
			if err == nil && r.Until < txn.LogSeq().Millis()-time.Hour.Milliseconds() {
				txn.Delete(key)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leave removes the server's lease, and the leader's if it is its own.
func (m *Member) leave(ctx context.Context) error {
	own, work := keyenc.Server(m.id), keyenc.Leader()
	m.current.Store(0)
	return m.options.Store.Update(ctx, kv.Intent{Write: [][]byte{own, work}, Drops: true}, func(txn kv.Txn) error {
		txn.Delete(own)
		data, err := txn.Get(work)
		if err != nil {
			return err
		}
		leader, err := decode[leaderRecord](data)
		if err != nil || leader.Server != m.id {
			return err
		}
		leader.Server, leader.Until = "", 0
		return save(txn, work, &leader)
	})
}
