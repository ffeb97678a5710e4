package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/signature"
)

// engine returns the Region that the request is signed for, and its engine; an unsigned request goes to the default one. Without
// Options.Regions there is one engine for all requests.
func (x *exchange) engine() (region string, e Engine, err error) {
	regions := x.server.options.Regions
	if len(regions) == 0 {
		return x.server.options.Region, x.server.engine, nil
	}
	_, region, signed := signature.CredentialOf(x.r)
	if !signed {
		return x.server.options.Region, x.server.engine, nil
	}
	if e, ok := regions[region]; ok {
		return region, e, nil
	}
	return "", nil, apierr.RegionNotServed.With(region, strings.Join(slices.Sorted(maps.Keys(regions)), ", "), region)
}
