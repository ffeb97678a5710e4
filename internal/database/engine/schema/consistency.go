package schema

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

const strong = "STRONG"

// RequestsStrong reports whether an UpdateTable request asks for multi-Region strong consistency.
func RequestsStrong(in *api.UpdateTableInput) bool {
	return in.MultiRegionConsistency != nil && *in.MultiRegionConsistency == strong
}

// strongRegions are the Regions in which AWS offers multi-Region strong consistency. Its documentation sorts them into three sets
// that a global table cannot span, but AWS accepted a global table of us-west-2 and eu-west-1 with a witness in us-east-2.
var strongRegions = []string{
	"us-east-1", "us-east-2", "us-west-2",
	"eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1",
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3",
}

// checkConsistency checks the consistency and the witness of a request as far as possible without the table. With strong
// consistency a request creates all of the other replicas: two, or one and a witness.
func checkConsistency(in *api.UpdateTableInput) error {
	for i := range in.GlobalTableWitnessUpdates {
		if w := &in.GlobalTableWitnessUpdates[i]; (w.Create == nil) == (w.Delete == nil) {
			return apierr.WitnessActions.With()
		}
	}
	if in.MultiRegionConsistency == nil {
		return nil
	}
	var regions []string
	for i := range in.ReplicaUpdates {
		if in.ReplicaUpdates[i].Create == nil {
			return apierr.ConsistencyOfNew.With()
		}
		regions = append(regions, *in.ReplicaUpdates[i].Create.RegionName)
	}
	if !RequestsStrong(in) {
		return nil
	}
	for i := range in.GlobalTableWitnessUpdates {
		if w := in.GlobalTableWitnessUpdates[i].Create; w != nil {
			regions = append(regions, *w.RegionName)
		}
	}
	if len(regions) != 2 {
		return apierr.StrongNeedsThree.With()
	}
	if err := CheckStrongRegions(regions...); err != nil {
		return err
	}
	if regions[0] == regions[1] {
		return apierr.StrongRegionRepeated.With()
	}
	return nil
}

// CheckStrongRegions rejects Regions in which AWS does not offer multi-Region strong consistency.
func CheckStrongRegions(regions ...string) error {
	var others []string
	for _, region := range regions {
		if !slices.Contains(strongRegions, region) && !slices.Contains(others, region) {
			others = append(others, region)
		}
	}
	if others != nil {
		return apierr.StrongRegions.With(strings.Join(others, ", "))
	}
	return nil
}
