package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/internal/database/server"
)

// healthTextMax is the maximum length of a probe's response that is shown.
const healthTextMax = 1 << 10

func newHealth(env Environment) *cobra.Command {
	var endpoint string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check whether a server is ready for reads and writes",
		Long: `Check whether a server is ready for reads and writes (GET /-/ready). The exit status is 0 if it is, and 1 otherwise.
The container image uses this as its health check.`,
		Example: `  monotable health
  monotable health --endpoint http://127.0.0.1:9000 --timeout 1s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkServerURL(endpoint); err != nil {
				return err
			}
			url := strings.TrimSuffix(endpoint, "/") + server.ReadyPath
			request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			client, err := newHTTPClient(env, endpoint)
			if err != nil {
				return err
			}
			response, err := client.WithTimeout(timeout).Do(request)
			if err != nil {
				return fmt.Errorf("no server responds: %w", err)
			}
			defer func() { _ = response.Body.Close() }()
			text, _ := io.ReadAll(io.LimitReader(response.Body, healthTextMax))
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s: %s", url, response.Status, strings.TrimSpace(string(text)))
			}
			_, err = env.Stdout.Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&endpoint, "endpoint", "http://"+defaultAddr, "URL of the server")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "timeout for the response")
	return cmd
}
