package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// engine returns the engine of the Region that the request is signed for; an unsigned request is for the default one.
// Without Options.Regions there is one engine for all requests.
func (x *exchange) engine() (Engine, error) {
	regions := x.server.options.Regions
	if len(regions) == 0 {
		return x.server.engine, nil
	}
	region, signed := scopeRegion(x.r.Header.Get("Authorization"))
	if !signed {
		return x.server.engine, nil
	}
	if e, ok := regions[region]; ok {
		return e, nil
	}
	return nil, apierr.RegionNotServed.With(region, strings.Join(slices.Sorted(maps.Keys(regions)), ", "), region)
}

// scopeRegion returns the Region in the credential scope of an Authorization header:
//
//	AWS4-HMAC-SHA256 Credential=KEY/20261120/eu-west-1/dynamodb/aws4_request, SignedHeaders=…
func scopeRegion(authorization string) (region string, ok bool) {
	_, scope, found := strings.Cut(authorization, "Credential=")
	if !found {
		return "", false
	}
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(strings.TrimSpace(scope), "/")
	if len(parts) < 5 { // the key may have slashes
		return "", false
	}
	return parts[len(parts)-3], true
}
