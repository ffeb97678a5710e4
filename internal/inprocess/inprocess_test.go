package inprocess_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/monotable/monotable/internal/inprocess"
)

// TestContextEndsDuringRequest: a request that was given up fails with its context's error, as over a socket, unless it succeeded.
func TestContextEndsDuringRequest(t *testing.T) {
	for status, want := range map[int]error{http.StatusInternalServerError: context.Canceled, http.StatusOK: nil, http.StatusBadRequest: nil} {
		ctx, cancel := context.WithCancel(t.Context())
		client := inprocess.Client{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			cancel()
			w.WriteHeader(status)
		})}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if !errors.Is(err, want) || err == nil && response.StatusCode != status {
			t.Errorf("status %d: %v, want %v", status, err, want)
		}
		if response != nil {
			response.Body.Close()
		}
	}
}
