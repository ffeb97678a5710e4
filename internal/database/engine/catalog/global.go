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

// GlobalTable is a table's part in a global table. A table that has left one, or whose others have left it, keeps it without
// replicas: its log may still have records of that time, which older programs do not know.
type GlobalTable struct {
	Region  string `json:"region"` // of the table itself
	Version string `json:"version"`
	// Strong makes it one of multi-Region strong consistency: a write is in all replicas when it is acknowledged.
	Strong   bool      `json:"strong,omitempty"`
	Replicas []Replica `json:"replicas,omitempty"` // in the other Regions, by name
	Witness  string    `json:"witness,omitempty"`  // the Region of the witness
	// Filling is true for a new replica until it has what the others have.
	Filling bool `json:"filling,omitempty"`
	// Leaving is true for a replica that is on its way out of the global table: once the others have its last changes it is
	// deleted, or if it Stays a table of its own.
	Leaving bool `json:"leaving,omitempty"`
	Stays   bool `json:"stays,omitempty"`
	// SourceAt is when a replica was last made from this one.
	SourceAt    int64     `json:"sourceAt,omitempty"`
	Unprotected bool      `json:"unprotected,omitempty"` // disassociation protection is disabled
	Overrides   Overrides `json:"overrides,omitzero"`
	// Created is when a global table of version 2017.11.29 was made that the table belongs to; it may be the only one. 0 for others.
	Created int64              `json:"created,omitempty"`
	Scaling map[string]Scaling `json:"scaling,omitempty"`
}

// Replica is one of the other replicas of a global table.
type Replica struct {
	Region string       `json:"region"`
	State  ReplicaState `json:"state,omitempty"`
}

// ReplicaState is where a replica stands in its life.
type ReplicaState string

// The states of a replica.
const (
	ReplicaActive   ReplicaState = ""
	ReplicaCreating ReplicaState = "creating"
	ReplicaLeaving  ReplicaState = "leaving"
)

// Overrides are the settings that a replica has otherwise than the others.
type Overrides struct {
	Read    *int64           `json:"read,omitempty"`    // provisioned capacity units
	MaxRead *int64           `json:"maxRead,omitempty"` // on demand
	Class   string           `json:"class,omitempty"`
	Key     string           `json:"key,omitempty"` // of KMS, as told
	Indexes []IndexOverrides `json:"indexes,omitempty"`
}

// IndexOverrides are the settings that an index of a replica has otherwise than those of the others.
type IndexOverrides struct {
	Name    string `json:"name"`
	Read    *int64 `json:"read,omitempty"`
	MaxRead *int64 `json:"maxRead,omitempty"`
}

// Index returns the overrides of an index, which are made where there are none.
func (o *Overrides) Index(name string) *IndexOverrides {
	i := slices.IndexFunc(o.Indexes, func(x IndexOverrides) bool { return x.Name == name })
	if i < 0 {
		i, o.Indexes = len(o.Indexes), append(o.Indexes, IndexOverrides{Name: name})
	}
	return &o.Indexes[i]
}

// Replica returns the replica in a Region, nil where there is none.
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

// Remove removes the replica in a Region.
func (g *GlobalTable) Remove(region string) {
	g.Replicas = slices.DeleteFunc(g.Replicas, func(r Replica) bool { return r.Region == region })
}

// Settling reports whether a replica is coming or going.
func (g *GlobalTable) Settling() bool {
	return g != nil && (g.Leaving || slices.ContainsFunc(g.Replicas, func(r Replica) bool { return r.State != ReplicaActive }))
}

// IsReplica reports whether the table is a part of a global table.
func (d *Descriptor) IsReplica() bool { return d.Global != nil && len(d.Global.Replicas) > 0 }

// Synchronized reports whether the other replicas have most settings of the table alike: they have in version 2019.11.21.
func (d *Descriptor) Synchronized() bool {
	return d.IsReplica() && d.Global.Version == GlobalVersion2019
}

// Legacy reports whether the table belongs to a global table of version 2017.11.29.
func (d *Descriptor) Legacy() bool { return d.Global != nil && d.Global.Created != 0 }

// Replicates reports whether changes of the table go to other replicas by its change log.
func (d *Descriptor) Replicates() bool { return d.IsReplica() && !d.Global.Strong }

// BeingTaken reports whether the table is a replica that is deleted as soon as the others have its last changes.
func (d *Descriptor) BeingTaken() bool { return d.Global != nil && d.Global.Leaving && !d.Global.Stays }

// Deleting reports whether the table is being deleted.
func (d *Descriptor) Deleting() bool { return d.GoneAt != 0 || d.BeingTaken() }

// Status is the status of another replica, as the API names it.
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
