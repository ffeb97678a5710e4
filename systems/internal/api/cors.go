package api

import (
	"net/http"
	"strconv"
)

// What pages of the allowed origins may send and read, here and behind API Gateway.
const (
	CORSMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	CORSHeaders = "Authorization, Confirm, Content-Type, Empresa, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
	CORSExposed = "ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id"
	CORSMaxAge  = 600 // seconds
)

// cors lets pages of the allowed origins call the API. Pages send the token themselves and cookies are never allowed, so "*"
// gives no page a token.
func (a *API) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		if allowed := a.origins.CORSOrigin(r); allowed != "" {
			h.Set("Access-Control-Allow-Origin", allowed)
			h.Set("Access-Control-Expose-Headers", CORSExposed)
			if preflight {
				h.Set("Access-Control-Allow-Methods", CORSMethods)
				h.Set("Access-Control-Allow-Headers", CORSHeaders)
				h.Set("Access-Control-Max-Age", strconv.Itoa(CORSMaxAge))
			}
		}
		if preflight {
			requestOf(r.Context()).route = "preflight"
			h.Add("Vary", "Access-Control-Request-Method")
			h.Add("Vary", "Access-Control-Request-Headers")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
