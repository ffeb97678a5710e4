package server

import "net/http"

// The paths of the probes.
const (
	HealthyPath = "/-/healthy"
	ReadyPath   = "/-/ready"
)

// Probe returns the response to a probe: the process is healthy as long as it responds, and ready as long as the
// database takes reads and writes, which ready returns nil for. ok is false for any other path.
func Probe(path string, ready func() error) (status int, text string, ok bool) {
	switch path {
	case HealthyPath:
		return http.StatusOK, "healthy\n", true
	case ReadyPath:
		if err := ready(); err != nil {
			return http.StatusServiceUnavailable, "not ready: " + err.Error() + "\n", true
		}
		return http.StatusOK, "ready\n", true
	default:
		return 0, "", false
	}
}
