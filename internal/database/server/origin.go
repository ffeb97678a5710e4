package server

import (
	"net/http"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/httpguard"
)

// checkOrigin rejects requests into which a browser may have been tricked, before anything else is checked, and responds to the
// preflights of allowed origins. It reports whether the request may proceed.
func (x *exchange) checkOrigin() bool {
	guard := x.server.options.Guard
	if _, anonymous := x.server.options.Authenticator.(acceptAll); anonymous && !guard.AllowsHost(x.r.Host) {
		x.forbid(hostForbidden(x.r.Host))
		return false
	}
	if !guard.AllowsOrigin(x.r) {
		origin := x.r.Header.Get("Origin")
		advised := strings.ToLower(origin) // as browsers send it, and as the flag expects it
		if origin == "null" {              // a file or a sandbox, which cannot be distinguished
			advised = "'*'"
		}
		x.forbid(apierr.OriginForbidden.With(origin, advised))
		return false
	}
	allowed := guard.CORSOrigin(x.r)
	if allowed == "" {
		return true
	}
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", allowed)
	h.Set("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date")
	if x.r.Method == http.MethodOptions {
		x.preflight()
		return false
	}
	return true
}

func hostForbidden(authority string) *apierr.Error {
	host := httpguard.Hostname(authority)
	return apierr.HostForbidden.With(host, host)
}

// HostRefusal returns the text of the response to a request whose host the guard does not allow.
func HostRefusal(authority string) string { return hostForbidden(authority).Message }

// forbid responds with status 403: AWS's error for a caller with valid credentials but no permission has status 400, but monitors
// and proxies should see that nothing was done.
func (x *exchange) forbid(e *apierr.Error) {
	if x.r.Method == http.MethodPost {
		x.mediaType = awsJSON
		x.send(http.StatusForbidden, wire.AppendError(nil, e))
		return
	}
	x.mediaType = plainText
	x.send(http.StatusForbidden, []byte(e.Message+"\n"))
}

// preflight allows a page what it asks for, for two days.
func (x *exchange) preflight() {
	h := x.w.Header()
	for asked, allowed := range map[string]string{
		"Access-Control-Request-Headers": "Access-Control-Allow-Headers",
		"Access-Control-Request-Method":  "Access-Control-Allow-Methods",
	} {
		if value := x.r.Header.Get(asked); value != "" {
			h.Set(allowed, value)
		}
	}
	h.Set("Access-Control-Max-Age", "172800")
	x.mediaType = nil
	x.send(http.StatusOK, nil)
}
