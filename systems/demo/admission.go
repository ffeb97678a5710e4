package demo

import (
	"fmt"
	"net/http"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/systems/internal/problem"
)

// admission rejects requests that pages of other sites may have sent: tokens are signed here for anyone, so a site that could
// read the page could do everything.
func admission(guard *httpguard.Guard) func(*http.Request) error {
	return func(r *http.Request) error {
		if !guard.AllowsHost(r.Host) {
			host := httpguard.Hostname(r.Host)
			return problem.Forbidden("", fmt.Sprintf("requests to the host %s are rejected: anyone can sign tokens here, so the host must be an IP address, "+
				"localhost, a name without dots, or a name below .localhost or .internal; start the demo with --allowed-host %s to allow this name", host, host))
		}
		if !guard.AllowsOrigin(r) {
			origin := r.Header.Get("Origin")
			advised := origin
			if origin == "null" { // a file or a sandbox, which has no name
				advised = "'*'"
			}
			return problem.Forbidden("", fmt.Sprintf("requests from pages of %s are rejected; start the demo with --web-cors-origin %s to allow them", origin, advised))
		}
		return nil
	}
}
