package server

import "net/http"

// The paths of the probes.
const (
	HealthyPath = "/-/healthy"
	ReadyPath   = "/-/ready"
)

// Probe returns the response to a probe: the process is healthy if it responds, and ready if the database accepts reads and
// writes, for which ready returns nil. ok is false for any other path.
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
