package catalog

import (
	"slices"
	"strings"
)

// The versions of global tables, as the API names them.
const (
	GlobalVersion2017 = "2017.11.29"
	GlobalVersion2019 = "2019.11.21"
)

// GlobalTable is a table's part in a global table. It is kept, without replicas, after the table has left the global table or all
// others have: the log may still have records of that time, which older programs do not know.
type GlobalTable struct {
	Region  string `json:"region"` // of the table itself
	Version string `json:"version"`
	// Strong means multi-Region strong consistency: an acknowledged write is in all replicas.
	Strong   bool      `json:"strong,omitempty"`
	Replicas []Replica `json:"replicas,omitempty"` // in the other Regions, by name
	Witness  string    `json:"witness,omitempty"`  // the Region of the witness
	// Filling is true for a new replica until it has the others' contents.
	Filling bool `json:"filling,omitempty"`
	// Leaving is true for a replica that is being removed from the global table. Once the others have its last changes it is
	// deleted or, if Stays is true, becomes an independent table.
	Leaving bool `json:"leaving,omitempty"`
	Stays   bool `json:"stays,omitempty"`
	// SourceAt is when a replica was last created from this one.
	SourceAt    int64     `json:"sourceAt,omitempty"`
	Unprotected bool      `json:"unprotected,omitempty"` // disassociation protection is disabled
	Overrides   Overrides `json:"overrides,omitzero"`
	// Created is when the table's global table of version 2017.11.29 was created, or 0; this may be its only replica.
	Created int64              `json:"created,omitempty"`
	Scaling map[string]Scaling `json:"scaling,omitempty"`
}

// Replica is one of the other replicas of a global table.
type Replica struct {
	Region string       `json:"region"`
	State  ReplicaState `json:"state,omitempty"`
}

// ReplicaState is the state in a replica's life cycle.
type ReplicaState string

// The states of a replica.
const (
	ReplicaActive   ReplicaState = ""
	ReplicaCreating ReplicaState = "creating"
	ReplicaLeaving  ReplicaState = "leaving"
)

// Overrides are the settings in which a replica differs from the others.
type Overrides struct {
	Read    *int64           `json:"read,omitempty"`    // provisioned capacity units
	MaxRead *int64           `json:"maxRead,omitempty"` // on demand
	Class   string           `json:"class,omitempty"`
	Key     string           `json:"key,omitempty"` // of KMS, as requested
	Indexes []IndexOverrides `json:"indexes,omitempty"`
}

// IndexOverrides are the settings in which an index of a replica differs from those of the others.
type IndexOverrides struct {
	Name    string `json:"name"`
	Read    *int64 `json:"read,omitempty"`
	MaxRead *int64 `json:"maxRead,omitempty"`
}

// Index returns the overrides of an index, creating them if necessary.
func (o *Overrides) Index(name string) *IndexOverrides {
	i := slices.IndexFunc(o.Indexes, func(x IndexOverrides) bool { return x.Name == name })
	if i < 0 {
		i, o.Indexes = len(o.Indexes), append(o.Indexes, IndexOverrides{Name: name})
	}
	return &o.Indexes[i]
}

// Replica returns the replica in a Region, or nil.
func (g *GlobalTable) Replica(region string) *Replica {
	if g == nil {
		return nil
	}
	i := slices.IndexFunc(g.Replicas, func(r Replica) bool { return r.Region == region })
	if i < 0 {
		return nil
	}
	return &g.Replicas[i]
}

// Add adds a replica.
func (g *GlobalTable) Add(r Replica) {
	at, _ := slices.BinarySearchFunc(g.Replicas, r.Region, func(r Replica, region string) int { return strings.Compare(r.Region, region) })
	g.Replicas = slices.Insert(g.Replicas, at, r)
}

// Remove removes the replica in a Region. Older versions could leave a table in a global table after it was deleted: the table that
// now has its name does not belong to one, and its g is nil.
func (g *GlobalTable) Remove(region string) {
	if g == nil {
		return
	}
	g.Replicas = slices.DeleteFunc(g.Replicas, func(r Replica) bool { return r.Region == region })
}

// Settling reports whether a replica is being added or removed.
func (g *GlobalTable) Settling() bool {
	return g != nil && (g.Leaving || slices.ContainsFunc(g.Replicas, func(r Replica) bool { return r.State != ReplicaActive }))
}

// IsReplica reports whether the table is part of a global table.
func (d *Descriptor) IsReplica() bool { return d.Global != nil && len(d.Global.Replicas) > 0 }

// Synchronized reports whether the replicas share most settings of the table, as in version 2019.11.21.
func (d *Descriptor) Synchronized() bool {
	return d.IsReplica() && d.Global.Version == GlobalVersion2019
}

// Legacy reports whether the table belongs to a global table of version 2017.11.29.
func (d *Descriptor) Legacy() bool { return d.Global != nil && d.Global.Created != 0 }

// Replicates reports whether changes of the table go to other replicas through its change log.
func (d *Descriptor) Replicates() bool { return d.IsReplica() && !d.Global.Strong }

// BeingTaken reports whether the table is a replica that is deleted as soon as the others have its last changes.
func (d *Descriptor) BeingTaken() bool { return d.Global != nil && d.Global.Leaving && !d.Global.Stays }

// Deleting reports whether the table is being deleted.
func (d *Descriptor) Deleting() bool { return d.GoneAt != 0 || d.BeingTaken() }

// Status returns the status of another replica, as the API names it.
func (r *Replica) Status() Status {
	switch r.State {
	case ReplicaCreating:
		return StatusCreating
	case ReplicaLeaving:
		return StatusDeleting
	default:
		return StatusActive
	}
}
