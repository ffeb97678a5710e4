package dist

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestWorkflows checks what actionlint (make lint) cannot: that workflows call existing targets, and that every job has a time
// limit.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	target := regexp.MustCompile(`\bmake ([a-z-]+)`)
	called := map[string]bool{}
	for _, file := range files {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Timeout int `yaml:"timeout-minutes"`
				Steps   []struct{ Run string }
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(data, &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(workflow.Permissions) == 0 {
			t.Errorf("%s: no permissions, so it has all", file)
		}
		for name, job := range workflow.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", file, name)
			}
			for _, step := range job.Steps {
				for _, call := range target.FindAllStringSubmatch(step.Run, -1) {
					called[call[1]] = true
				}
			}
		}
	}
	for name := range called {
		if !strings.Contains(string(makefile), "\n"+name+": ") {
			t.Errorf("workflows call make %s, which does not exist", name)
		}
	}
	for _, name := range []string{"lint", "test", "race", "fuzz", "dist", "dist-test", "dist-reproducible"} {
		if !called[name] {
			t.Errorf("no workflow calls make %s, only %v", name, slices.Sorted(maps.Keys(called)))
		}
	}
}

// TestStartAction runs the script of the action with a program built from this tree, with an empty database and with a backup.
func TestStartAction(t *testing.T) {
	program, work := serverproc.Build(t), t.TempDir()
	server := serverproc.Start(t, program, "--data", filepath.Join(work, "data"))
	server.Stop(t)
	run(t, work, nil, program, "backup", filepath.Join(work, "data"), filepath.Join(work, "snapshot"))
	for name, snapshot := range map[string]string{"empty": "", "from a snapshot": filepath.Join(work, "snapshot")} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, []string{
				"PROGRAM=" + program, "SNAPSHOT=" + snapshot, "RUNNER_TEMP=" + dir, "ARGS=--log-level warn",
				"GITHUB_ENV=" + filepath.Join(dir, "env"), "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
			}, absolute(t, filepath.Join(root, ".github", "actions", "start", "start")))
			output, err := os.ReadFile(filepath.Join(dir, "output"))
			if err != nil {
				t.Fatal(err)
			}
			endpoint := strings.TrimSpace(strings.TrimPrefix(string(output), "endpoint="))
			t.Cleanup(func() { end(t, only(t, filepath.Join(dir, "monotable.*", "pid")), endpoint) })
			env, err := os.ReadFile(filepath.Join(dir, "env"))
			if err != nil || !strings.Contains(string(env), "AWS_ENDPOINT_URL_DYNAMODB="+endpoint+"\n") || strings.Contains(string(env), "export") {
				t.Errorf("the job's variables are %q, %v", env, err)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint+"/-/ready", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s", response.Status)
			}
		})
	}
}

// end stops the server whose process ID is in a file, and returns when it has finished writing: its socket closes with its files.
func end(t *testing.T, file, endpoint string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for dialer := (net.Dialer{}); ; <-tick.C {
		connection, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", strings.TrimPrefix(endpoint, "http://"))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			_ = connection.Close()
		}
	}
}
