package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/internal/plural"
)

// transferPoll is the interval of checks on a transfer.
const transferPoll = 200 * time.Millisecond

// transferFlags are the flags that export and import share.
type transferFlags struct {
	endpoint       string
	region         string
	asJSON         bool
	progressWanted bool // for progress
}

func (f *transferFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.endpoint, "endpoint", "", "URL of the server, or aws; default: "+endpointDefaults)
	cmd.Flags().StringVar(&f.region, "region", "", "region to sign for (default "+regionDefaults+")")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	progressFlag(cmd, &f.progressWanted)
}

func (f *transferFlags) client(ctx context.Context, env Environment) (*dynamodb.Client, error) {
	return databaseClient(ctx, env, f.endpoint, f.region)
}

// transferred is the output of export and import.
type transferred struct {
	ARN      string  `json:"arn"`
	Status   string  `json:"status"`
	Items    int64   `json:"items"`
	Errors   int64   `json:"errors"`
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
	Manifest string  `json:"manifest,omitempty"`

	place   string // URL of the manifest, "" for an import
	failure string
}

// transferState is the progress of a transfer.
type transferState struct {
	transferred
	over  bool
	total int64 // items; 0 if unknown
}

// await waits for a transfer to end, shows its progress, and prints the result.
func (f *transferFlags) await(ctx context.Context, env Environment, what string, look func(context.Context) (transferState, error)) error {
	begun, bar := time.Now(), newProgress(env, what, unitThings, f.progressWanted)
	tick := time.NewTicker(transferPoll)
	defer tick.Stop()
	for {
		s, err := look(ctx)
		if err != nil {
			bar.end()
			return err
		}
		if s.over {
			bar.end()
			s.Seconds = time.Since(begun).Seconds()
			return f.print(env, what, s.transferred)
		}
		bar.update(s.Items, max(s.total, s.Items))
		select {
		case <-tick.C:
		case <-ctx.Done():
			bar.end()
			return fmt.Errorf("%s: it continues in the server: %w", what, ctx.Err())
		}
	}
}

func (f *transferFlags) print(env Environment, what string, t transferred) error {
	if f.asJSON {
		if err := json.NewEncoder(env.Stdout).Encode(t); err != nil {
			return err
		}
	} else if t.failure == "" {
		if _, err := fmt.Fprintln(env.Stdout, what+": "+t.line()); err != nil {
			return err
		}
	}
	if t.failure != "" {
		return fmt.Errorf("%s %s: %s", what, strings.ToLower(t.Status), t.failure)
	}
	return nil
}

// line is the result for people.
func (t *transferred) line() string {
	line := fmt.Sprintf("%s, %s in %.1f s", plural.Of(t.Items, "item"), formatBytes(t.Bytes), t.Seconds)
	if t.place != "" {
		line += "; manifest " + t.place
	}
	if t.Errors > 0 {
		line += fmt.Sprintf("; rejected %s, see the server's log", plural.Of(t.Errors, "line"))
	}
	return line
}

// parseLocation parses s3://BUCKET/PREFIX; prefix is nil if there is none.
func parseLocation(text string) (bucket string, prefix *string, err error) {
	rest, isS3 := strings.CutPrefix(text, "s3://")
	bucket, key, _ := strings.Cut(rest, "/")
	if !isS3 || bucket == "" {
		return "", nil, fmt.Errorf("%q: want s3://BUCKET or s3://BUCKET/PREFIX", text)
	}
	if key != "" {
		prefix = &key
	}
	return bucket, prefix, nil
}

// parseTime parses a time in a flag; "" means none.
func parseTime(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no time is a valid answer
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("--%s %q: want a time like 2026-11-21T15:04:05Z", flag, text)
	}
	return &t, nil
}

// failureOf joins the code and the message of a failure.
func failureOf(failed bool, code, message *string) string {
	if !failed {
		return ""
	}
	return aws.ToString(code) + ": " + aws.ToString(message)
}
