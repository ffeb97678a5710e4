package crash

import (
	"fmt"
	"slices"
)

// ledger is what one writer knows of its own items: the state that was acknowledged last, and, once a
// request has failed because the server was killed, the states that it may have left behind. No two
// writers share an item, so a writer's ledger is the whole truth about its items.
type ledger struct {
	acknowledged map[string]int // item → version; an absent item has none
	doubt        map[string]int // item → version that the last request would have made; -1: removed
	atomic       bool           // the request in doubt is a transaction: all of doubt happened, or none
	requests     int
}

const removed = -1

func newLedger() *ledger {
	return &ledger{acknowledged: map[string]int{}}
}

// acknowledge notes that the changes have been answered with success.
func (l *ledger) acknowledge(changes map[string]int) {
	l.requests++
	for item, version := range changes {
		if version == removed {
			delete(l.acknowledged, item)
		} else {
			l.acknowledged[item] = version
		}
	}
}

// lose notes that nobody knows whether the changes happened.
func (l *ledger) lose(changes map[string]int, atomic bool) {
	l.doubt, l.atomic = changes, atomic
}

// settle compares what the database holds with the ledger, returns what is wrong, and takes the database's
// word for what was in doubt.
func (l *ledger) settle(found map[string]int) (faults []string) {
	happened, missed := 0, 0
	for item, version := range l.doubt {
		before, existed := l.acknowledged[item]
		now, exists := found[item]
		if exists && now == version || !exists && version == removed {
			happened++
			if existed && before == version || !existed && version == removed {
				missed++ // the change would not have shown: it counts for either
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

// compareCertain compares the items that no request in doubt touched.
func (l *ledger) compareCertain(found map[string]int) (faults []string) {
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
