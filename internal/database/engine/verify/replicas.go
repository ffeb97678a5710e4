package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Region is where a store has the definitions of a Region's tables.
type Region struct {
	Prefix string // of the names of its tables in findings
	Lo, Hi []byte
}

// Replicas checks, in one consistent state of a store with several Regions, that the replicas of each global table know each other. It
// returns the number of findings.
func Replicas(r kv.Reader, regions []Region, report func(Finding)) (findings int64, err error) {
	replicas := map[string]map[string]*catalog.Descriptor{} // by name, by Region
	prefixes := map[*catalog.Descriptor]string{}
	for _, region := range regions {
		it := r.Iter(region.Lo, region.Hi, kv.IterOptions{})
		for err == nil && it.Next() {
			var d *catalog.Descriptor
			if d, err = catalog.DecodeDescriptor(it.Value()); err != nil || d.Global == nil {
				continue
			}
			if replicas[d.Name] == nil {
				replicas[d.Name] = map[string]*catalog.Descriptor{}
			}
			replicas[d.Name][d.Global.Region], prefixes[d] = d, region.Prefix
		}
		if err = cmp.Or(err, it.Err(), it.Close()); err != nil {
			return 0, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		group := replicas[name]
		for _, region := range slices.Sorted(maps.Keys(group)) {
			d := group[region]
			for _, other := range d.Global.Replicas {
				if there := group[other.Region]; there != nil && there.Global.Replica(region) != nil {
					continue
				}
				what := fmt.Sprintf("the definition has a replica in %s, which does not belong to the global table", other.Region)
				if d.Legacy() {
					what += ": a server of both Regions removes it when it starts"
				}
				findings++
				report(Finding{Table: prefixes[d] + name, What: what})
			}
		}
	}
	return findings, nil
}
