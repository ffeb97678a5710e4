package catalog

import "time"

// Status is the status of a table or index as in DescribeTable.
type Status string

// The statuses that occur here.
const (
	StatusCreating Status = "CREATING"
	StatusUpdating Status = "UPDATING"
	StatusDeleting Status = "DELETING"
	StatusActive   Status = "ACTIVE"
)

// Status returns the table's status at a time. While an index is being built or dropped the table is UPDATING; a change of an
// index's throughput only affects the index's status.
func (d *Descriptor) Status(now time.Time) Status {
	ms := now.UnixMilli()
	switch {
	case d.Deleting():
		return StatusDeleting
	case ms < d.ReadyAt, d.BeingFilled():
		return StatusCreating
	case ms < d.SettledAt, d.Global.Settling():
		return StatusUpdating
	}
	for i := range d.Indexes {
		if d.Indexes[i].State != IndexActive {
			return StatusUpdating
		}
	}
	return StatusActive
}

// BeingRestored reports whether the table is still being filled from a backup or from an earlier point in time.
func (d *Descriptor) BeingRestored() bool { return d.Restored != nil && d.Restored.InProgress }

// BeingFilled reports whether the table is still being filled: restored, imported, or as a new replica.
func (d *Descriptor) BeingFilled() bool {
	return d.Importing || d.BeingRestored() || d.Global != nil && d.Global.Filling
}

// Gone reports whether the table's deletion is complete at a time.
func (d *Descriptor) Gone(now time.Time) bool { return d.GoneAt != 0 && d.GoneAt <= now.UnixMilli() }

// IndexStatus returns the status of one index of the table at a time.
func (d *Descriptor) IndexStatus(x *IndexDescriptor, now time.Time) Status {
	ms := now.UnixMilli()
	switch {
	case d.Deleting(), x.State == IndexDeleting:
		return StatusDeleting
	case ms < d.ReadyAt, d.BeingFilled(), x.State != IndexActive:
		return StatusCreating
	case ms < x.SettledAt:
		return StatusUpdating
	}
	return StatusActive
}
