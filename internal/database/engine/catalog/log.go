package catalog

import (
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// FollowedFor is the minimum time for which a table's log keeps both images after its last follower in the process has ended,
	// so that the follower can resume.
	FollowedFor = 24 * time.Hour
	// followedMargin is added to FollowedFor each time, so that the definition changes once an hour rather than whenever a
	// follower is found.
	followedMargin = time.Hour
)

// View is what a stream shows of each change.
type View string

// The views, as the API names them.
const (
	KeysOnly        View = "KEYS_ONLY"
	NewImage        View = "NEW_IMAGE"
	OldImage        View = "OLD_IMAGE"
	NewAndOldImages View = "NEW_AND_OLD_IMAGES"
)

// Old reports whether records contain the item as it was before the change.
func (v View) Old() bool { return v == OldImage || v == NewAndOldImages }

// New reports whether records contain the item as it is after the change.
func (v View) New() bool { return v == NewImage || v == NewAndOldImages }

// Log is what the table's change log keeps, and since when: the numbers from which on every change has a record, its old image,
// its new image. 0 means not kept now. A write uses the Log of the definition whose version it checks, so no record follows an
// outdated rule.
type Log struct {
	Keys kv.Seq `json:"keys,omitempty"`
	Old  kv.Seq `json:"old,omitempty"`
	New  kv.Seq `json:"new,omitempty"`
}

// logOfFormat1 is the log of tables with descriptor format 1: everything from the start.
var logOfFormat1 = Log{Keys: 1, Old: 1, New: 1}

// BothImages returns the number from which on every change has a record with both images, or 0 if they are not kept now.
func (l Log) BothImages() kv.Seq {
	if l.Old == 0 || l.New == 0 {
		return 0
	}
	return max(l.Keys, l.Old, l.New)
}

// settledLog returns the log of a definition for changes from a number on. It keeps what can still be read: what the stream
// shows, old images for point-in-time recovery, both images for followers in the process, a Kinesis destination and the other
// replicas of a global table.
func (d *Descriptor) settledLog(now time.Time, from kv.Seq) Log {
	view, on, followed := View(d.Stream.View), d.Stream.Enabled, d.FollowedAt(now) || d.Destination() != nil || d.Replicates()
	since := func(was kv.Seq, needed bool) kv.Seq {
		switch {
		case !needed || d.GoneAt != 0:
			return 0
		case was == 0:
			return from
		default:
			return was
		}
	}
	return Log{
		Keys: since(d.Log.Keys, on || d.PITR.Enabled || followed),
		Old:  since(d.Log.Old, on && view.Old() || d.PITR.Enabled || followed),
		New:  since(d.Log.New, on && view.New() || followed),
	}
}

// LogSettled reports whether the log keeps exactly what it should at a time. If not, any change of the table settles it.
func (d *Descriptor) LogSettled(now time.Time) bool { return d.Log == d.settledLog(now, 1) }

// Follow makes the log keep both images for followers in the process, for at least FollowedFor from now.
func (d *Descriptor) Follow(now time.Time) {
	d.Followed = now.Add(FollowedFor + followedMargin).UnixMilli()
}

// FollowedAt reports whether the log keeps both images for followers in the process at a time.
func (d *Descriptor) FollowedAt(now time.Time) bool { return d.Followed > now.UnixMilli() }
