package catalog

import (
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The precisions of the times in records for Kinesis, as the API names them.
const (
	PrecisionMillisecond = "MILLISECOND"
	PrecisionMicrosecond = "MICROSECOND"
)

// Destination is a Kinesis data stream that a table's changes are delivered to.
type Destination struct {
	StreamARN string `json:"streamARN"`
	Enabled   bool   `json:"enabled,omitempty"`
	Precision string `json:"precision,omitempty"` // "" where never named
	// From is the number after which changes are delivered: those since the destination was enabled.
	From      kv.Seq `json:"from,omitempty"`
	SettledAt int64  `json:"settledAt,omitempty"` // ends ENABLING, UPDATING and DISABLING
	Updated   bool   `json:"updated,omitempty"`   // the last change was one of the precision
}

// Status is the destination's status at a time, as the API names it.
func (x *Destination) Status(now time.Time) string {
	settling := now.UnixMilli() < x.SettledAt
	switch {
	case x.Enabled && settling && x.Updated:
		return "UPDATING"
	case x.Enabled && settling:
		return "ENABLING"
	case x.Enabled:
		return "ACTIVE"
	case settling:
		return "DISABLING"
	default:
		return "DISABLED"
	}
}

// Destination returns the destination that is enabled, nil where none is.
func (d *Descriptor) Destination() *Destination {
	for i := range d.Destinations {
		if d.Destinations[i].Enabled {
			return &d.Destinations[i]
		}
	}
	return nil
}

// HasDestination reports whether the table knows the destination of an ARN, enabled or not.
func (d *Descriptor) HasDestination(arn string) bool {
	return slices.ContainsFunc(d.Destinations, func(x Destination) bool { return x.StreamARN == arn })
}
