package catalog

import (
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The precisions of timestamps in Kinesis records, as the API names them.
const (
	PrecisionMillisecond = "MILLISECOND"
	PrecisionMicrosecond = "MICROSECOND"
)

// Destination is a Kinesis data stream to which a table's changes are delivered.
type Destination struct {
	StreamARN string `json:"streamARN"`
	Enabled   bool   `json:"enabled,omitempty"`
	Precision string `json:"precision,omitempty"` // "" if never set
	// From is the number after which changes are delivered, those since the destination was enabled.
	From      kv.Seq `json:"from,omitempty"`
	SettledAt int64  `json:"settledAt,omitempty"` // ends ENABLING, UPDATING and DISABLING
	Updated   bool   `json:"updated,omitempty"`   // the latest change was of the precision
}

// Status returns the destination's status at a time, as the API names it.
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

// Destination returns the enabled destination, or nil.
func (d *Descriptor) Destination() *Destination {
	for i := range d.Destinations {
		if d.Destinations[i].Enabled {
			return &d.Destinations[i]
		}
	}
	return nil
}

// HasDestination reports whether the table has, or had, the destination with an ARN.
func (d *Descriptor) HasDestination(arn string) bool {
	return slices.ContainsFunc(d.Destinations, func(x Destination) bool { return x.StreamARN == arn })
}
