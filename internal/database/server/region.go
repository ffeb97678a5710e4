package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// engine returns the Region that the request is signed for, and its engine; an unsigned request is for the default one.
// Without Options.Regions there is one engine for all requests.
func (x *exchange) engine() (region string, e Engine, err error) {
	regions := x.server.options.Regions
	region, signed := scopeRegion(x.r)
	if len(regions) == 0 || !signed {
		return x.server.options.Region, x.server.engine, nil
	}
	if e, ok := regions[region]; ok {
		return region, e, nil
	}
	return "", nil, apierr.RegionNotServed.With(region, strings.Join(slices.Sorted(maps.Keys(regions)), ", "), region)
}

// scopeRegion returns the Region in the credential scope of a request, which is in its Authorization header, or in the parameter
// X-Amz-Credential where the signature is in the query:
//
//	AWS4-HMAC-SHA256 Credential=KEY/20261120/eu-west-1/dynamodb/aws4_request, SignedHeaders=…
func scopeRegion(r *http.Request) (region string, ok bool) {
	_, scope, found := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !found && r.URL.RawQuery != "" {
		scope = r.URL.Query().Get("X-Amz-Credential")
		found = scope != ""
	}
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
