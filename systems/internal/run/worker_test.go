package run

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/system"
)

// TestFailedWorkerIsRestarted: a failed worker is restarted, after waits that double up to 30 s and are reset by a good run.
func TestFailedWorkerIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begun := time.Now()
		var starts []time.Duration
		failures := 0
		w := system.Worker{Name: "flaky", Run: func(ctx context.Context) error {
			starts = append(starts, time.Since(begun))
			switch len(starts) {
			case 1:
				return errors.New("broken")
			case 2:
				panic("a bug")
			case 3:
				return nil // before its context ends
			case 12:
				pause(ctx, time.Minute)
				return errors.New("after a good run")
			case 13:
				stop()
				<-ctx.Done()
				return ctx.Err()
			default:
				return errors.New("broken")
			}
		}}
		supervise(ctx, []system.Worker{w}, slog.New(slog.DiscardHandler), func(name string) {
			if name != "flaky" {
				t.Errorf("%q failed", name)
			}
			failures++
		})
		const ms = time.Millisecond
		rests := []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, 30 * time.Second, 30 * time.Second}
		want := []time.Duration{0}
		for _, rest := range rests {
			want = append(want, want[len(want)-1]+rest)
		}
		want = append(want, want[11]+time.Minute+100*ms)
		if diff := cmp.Diff(want, starts); diff != "" {
			t.Error(diff)
		}
		if failures != 12 {
			t.Errorf("%d failures, want 12", failures)
		}
	})
}

// TestSuperviseEnds: a waiting worker ends immediately, and all workers are awaited.
func TestSuperviseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := 0
		slow := system.Worker{Name: "slow", Run: func(ctx context.Context) error {
			<-ctx.Done()
			pause(context.Background(), 3*time.Second) // it cleans up
			ended++
			return ctx.Err()
		}}
		broken := system.Worker{Name: "broken", Run: func(context.Context) error { return errors.New("broken") }}
		time.AfterFunc(time.Hour, stop)
		begun := time.Now()
		supervise(ctx, []system.Worker{slow, broken}, slog.New(slog.DiscardHandler), func(string) {})
		if took := time.Since(begun); ended != 1 || took != time.Hour+3*time.Second {
			t.Errorf("%d ended after %v, want 1 after an hour and 3 s", ended, took)
		}
	})
}

func TestMask(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger, err := NewLogger(&out, "debug", "json")
	if err != nil {
		t.Fatal(err)
	}
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1LTEifQ.c2lnbmF0dXJl-_x"
	logger.With("who", "ana.garcia+x@mail.example.com").Error(
		"sent to ana.garcia+x@mail.example.com", "header", "Bearer "+token, "error", errors.New("no user ana.garcia+x@mail.example.com"),
		slog.Group("g", "token", token), "list", []string{token}, "kept", "u-123", "n", 5,
	)
	for _, secret := range []string{"ana", "garcia", "eyJ", "c2lnb"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the log has %q: %s", secret, &out)
		}
	}
	for _, kept := range []string{`"kept":"u-123"`, `"n":5`, "sent to [masked]", "Bearer [masked]", "no user [masked]"} {
		if !strings.Contains(out.String(), kept) {
			t.Errorf("the log does not contain %s: %s", kept, &out)
		}
	}
}

// TestServerIsBounded: nothing that a client does or omits lasts forever.
func TestServerIsBounded(t *testing.T) {
	t.Parallel()
	s := newServer(&Host{logger: slog.New(slog.DiscardHandler)})
	for what, bound := range map[string]time.Duration{
		"headers": s.ReadHeaderTimeout, "a body": s.ReadTimeout, "a response": s.WriteTimeout, "an idle connection": s.IdleTimeout,
	} {
		if bound <= 0 || bound > 2*time.Minute {
			t.Errorf("%s may take %v", what, bound)
		}
	}
	if s.MaxHeaderBytes <= 0 || s.MaxHeaderBytes > 64<<10 {
		t.Errorf("headers may have %d bytes", s.MaxHeaderBytes)
	}
}

func TestUserPool(t *testing.T) {
	t.Parallel()
	// The URL is from AWS's guide "Verifying JSON web tokens".
	for id, want := range map[string]string{
		"us-east-1_EXAMPLE": "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_EXAMPLE", "": "", "nonsense": "",
	} {
		if got := userPool(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestEndpointSelection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		config     Config
		variables  map[string]string
		local, aws bool
	}{
		{"nothing said", Config{}, nil, true, false},
		{"an endpoint", Config{Endpoint: "http://x"}, nil, false, false},
		{"an endpoint in Lambda", Config{Endpoint: "http://x"}, map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "f"}, false, false},
		{"Lambda", Config{}, map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "f"}, false, true},
		{"ECS", Config{}, map[string]string{"AWS_EXECUTION_ENV": "AWS_ECS_FARGATE"}, false, true},
		{"asked for", Config{AWS: true}, nil, false, true},
	} {
		getenv := func(name string) string { return test.variables[name] }
		if local, aws := test.config.local(getenv), test.config.onAWS(getenv); local != test.local || aws != test.aws {
			t.Errorf("%s: local %v, AWS %v", test.name, local, aws)
		}
	}
}
