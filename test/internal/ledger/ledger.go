// Package ledger writes to a database and records the outcome, for tests that kill the database: acknowledged writes must
// exist afterwards, unfinished writes must exist as a whole or not at all, and nothing else may exist.
//
// A Writer sends one request at a time, and owns its items, so its Ledger is the complete truth about them. A Writer is
// not safe for concurrent use.
package ledger

import (
	"fmt"
	"slices"
)

// Ledger is what one writer knows about its own items: the state that was acknowledged last, and, once a request has
// failed because the server was killed, the states that it may have left behind.
type Ledger struct {
	acknowledged map[string]int // item → version; an absent item has none
	doubt        map[string]int // item → version that the last request would have written; -1: removed
	atomic       bool           // the request in doubt is a transaction: all of doubt was executed, or none
}

// removed is the version of a missing item.
const removed = -1

func newLedger() *Ledger {
	return &Ledger{acknowledged: map[string]int{}}
}

// Acknowledge records that the changes have been acknowledged.
func (l *Ledger) Acknowledge(changes map[string]int) {
	for item, version := range changes {
		if version == removed {
			delete(l.acknowledged, item)
		} else {
			l.acknowledged[item] = version
		}
	}
}

// Unknown records that the outcome of the changes is unknown.
func (l *Ledger) Unknown(changes map[string]int, atomic bool) {
	l.doubt, l.atomic = changes, atomic
}

// Settle compares the contents of the database with the ledger, returns the differences, and accepts the database's
// state of the changes in doubt.
func (l *Ledger) Settle(found map[string]int) (faults []string) {
	happened, missed := 0, 0
	for item, version := range l.doubt {
		before, existed := l.acknowledged[item]
		now, exists := found[item]
		if exists && now == version || !exists && version == removed {
			happened++
			if existed && before == version || !existed && version == removed {
				missed++ // the change would be invisible, so it counts as either
			}
			continue
		}
		if exists == existed && now == before {
			missed++
			continue
		}
		faults = append(faults, fmt.Sprintf("%s: found version %d (%v), want %d or, in doubt, %d", item, now, exists, before, version))
	}
	if l.atomic && happened != len(l.doubt) && missed != len(l.doubt) {
		faults = append(faults, fmt.Sprintf("half a transaction: %d of %d changes happened: %v", happened, len(l.doubt), l.doubt))
	}
	faults = append(faults, l.compareCertain(found)...)
	l.acknowledged, l.doubt, l.atomic = found, nil, false
	slices.Sort(faults)
	return faults
}

// Version returns the version of an item that was acknowledged last, and whether the item exists.
func (l *Ledger) Version(item string) (version int, exists bool) {
	version, exists = l.acknowledged[item]
	return version, exists
}

// compareCertain compares the items that no request in doubt touched.
func (l *Ledger) compareCertain(found map[string]int) (faults []string) {
	for item, version := range l.acknowledged {
		if _, inDoubt := l.doubt[item]; inDoubt {
			continue
		}
		if now, exists := found[item]; !exists || now != version {
			faults = append(faults, fmt.Sprintf("%s: acknowledged version %d is lost: found %d (%v)", item, version, now, exists))
		}
	}
	for item, version := range found {
		if _, inDoubt := l.doubt[item]; inDoubt {
			continue
		}
		if _, known := l.acknowledged[item]; !known {
			faults = append(faults, fmt.Sprintf("%s: version %d was never acknowledged, or was deleted", item, version))
		}
	}
	return faults
}
