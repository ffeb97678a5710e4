package dist

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startWait is how long a container may take to become ready on a busy machine.
const startWait = 2 * time.Minute

// descriptor and the types below are the parts of the OCI image format that a container engine reads.
type descriptor struct {
	Digest      string
	Annotations map[string]string
	Platform    struct{ Architecture string }
}

type image struct {
	root                  string // the unpacked file system
	User                  string
	Env                   []string
	Cmd, Entrypoint       []string
	WorkingDir            string
	ExposedPorts, Volumes map[string]struct{}
	Healthcheck           struct{ Test []string }
}

// unpack reads an image from the OCI layout of the release and unpacks its layers, like a container engine.
func unpack(t *testing.T, suffix string) *image {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root for chroot")
	}
	layout := t.TempDir()
	run(t, layout, nil, "tar", "-xf", only(t, filepath.Join(built(t), "monotable_*_image.tar")))
	blob := func(d descriptor) string {
		return filepath.Join(layout, "blobs", "sha256", strings.TrimPrefix(d.Digest, "sha256:"))
	}
	var top, index struct{ Manifests []descriptor }
	read(t, filepath.Join(layout, "index.json"), &top)
	for _, d := range top.Manifests {
		if strings.HasSuffix(d.Annotations["org.opencontainers.image.ref.name"], "-dynamodb-local") == (suffix != "") {
			read(t, blob(d), &index)
		}
	}
	at := slices.IndexFunc(index.Manifests, func(d descriptor) bool { return d.Platform.Architecture == "amd64" })
	if at < 0 {
		t.Fatalf("no image for amd64 among %v", index)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(t, blob(index.Manifests[at]), &manifest)
	var config struct{ Config image }
	read(t, blob(manifest.Config), &config)
	config.Config.root = t.TempDir()
	if err := os.Chmod(config.Config.root, 0o755); err != nil { //nolint:gosec // readable by the container's user
		t.Fatal(err)
	}
	for _, layer := range manifest.Layers {
		extract(t, blob(layer), config.Config.root)
	}
	return &config.Config
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// extract unpacks a layer with its owners and modes.
func extract(t *testing.T, file, into string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	compressed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(into, filepath.Clean("/"+header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755) //nolint:gosec // the mode is set below
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, path)
		default:
			var data []byte
			if data, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
		}
		if err == nil && header.Typeflag != tar.TypeSymlink {
			err = errors.Join(os.Chmod(path, header.FileInfo().Mode()), os.Chown(path, header.Uid, header.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// command returns a command that runs in the container: with its files, user, variables and directory.
func (i *image) command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	id, group, _ := strings.Cut(i.User, ":")
	uid, err1 := strconv.ParseUint(id, 10, 32)
	gid, err2 := strconv.ParseUint(group, 10, 32)
	if err := errors.Join(err1, err2); err != nil || uid == 0 {
		t.Fatalf("user %q: %v; want a number that is not root's", i.User, err)
	}
	program := args[0]
	if !strings.Contains(program, "/") {
		for _, variable := range i.Env {
			path, ok := strings.CutPrefix(variable, "PATH=")
			for dir := range strings.SplitSeq(path, ":") {
				if _, err := os.Lstat(filepath.Join(i.root, dir, program)); ok && err == nil {
					program = filepath.Join(dir, program)
					break
				}
			}
		}
	}
	c := exec.CommandContext(ctx, program, args[1:]...)
	c.Args[0] = args[0]
	c.Env, c.Dir = i.Env, i.WorkingDir
	c.Path, c.Err = program, nil // the program exists only in the container
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c
}

// start runs the image's entry point, or another one, with arguments instead of its command. It waits for the line that
// Testcontainers' module for Rust expects, and returns the port of the server.
func (i *image) start(t *testing.T, entrypoint, cmd []string) (port string) {
	t.Helper()
	c := i.command(t.Context(), t, append(slices.Clone(entrypoint), cmd...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	initializing := false
	limit := time.After(startWait)
	for port == "" {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatal("it ended before it listened")
			}
			initializing = initializing || strings.Contains(line, "Initializing DynamoDB Local with the following configuration")
			if rest, ok := strings.CutPrefix(line, "Port:\t"); ok && initializing {
				port = rest
			}
		case <-limit:
			t.Fatal("it has not printed its configuration")
		}
	}
	go func() {
		for range lines {
		}
	}()
	return port
}

// status runs a command in the container and returns its exit status and output.
func (i *image) status(t *testing.T, args ...string) (int, string) {
	t.Helper()
	output, err := i.command(t.Context(), t, args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(output)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(output)
}

// TestLocalImageConfig compares the configuration with that of amazon/dynamodb-local.
func TestLocalImageConfig(t *testing.T) {
	i := unpack(t, "-dynamodb-local")
	if !slices.Equal(i.Entrypoint, []string{"java"}) || !slices.Equal(i.Cmd, []string{"-jar", "DynamoDBLocal.jar", "-inMemory"}) || i.WorkingDir != "/home/dynamodblocal" {
		t.Errorf("entry point %q, command %q, directory %q", i.Entrypoint, i.Cmd, i.WorkingDir)
	}
	_, api := i.ExposedPorts["8000/tcp"]
	_, other := i.ExposedPorts["8080/tcp"]
	if _, volume := i.Volumes["/data"]; !api || !other || !volume {
		t.Errorf("ports %v, volumes %v", i.ExposedPorts, i.Volumes)
	}
}

// TestTestcontainers starts the image like each module and runs its waits; docs/dynamodb-local.md names their sources.
func TestTestcontainers(t *testing.T) {
	i := unpack(t, "-dynamodb-local")
	for _, module := range []struct {
		name            string
		entrypoint, cmd []string
	}{
		{"Go", []string{"java", "-Djava.library.path=./DynamoDBLocal_lib"}, []string{"-jar", "DynamoDBLocal.jar", "-sharedDb", "-disableTelemetry"}},
		{"Java, Node, .NET, Rust, Python", i.Entrypoint, i.Cmd},
		{"a Compose file with a directory", i.Entrypoint, []string{"-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", "."}},
	} {
		t.Run(module.name, func(t *testing.T) {
			port := i.start(t, module.entrypoint, append(slices.Clone(module.cmd), "-port", "0")) // port 8000 may be in use here
			// .NET: GET / has to respond with 400.
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusBadRequest {
				t.Errorf("GET /: %s", response.Status)
			}
			hex := port
			if n, err := strconv.Atoi(port); err == nil {
				hex = fmt.Sprintf("%04x", n)
			}
			// Go and Java: one command tries three methods. Node: each method runs separately, and one must succeed.
			proc, nc, bash := "cat /proc/net/tcp* | awk '{print $2}' | grep -i :"+hex, "nc -vz -w 1 localhost "+port, "</dev/tcp/127.0.0.1/"+port
			for name, command := range map[string][]string{
				"Go":   {"/bin/sh", "-c", "true && (\n\t" + proc + " ||\n\t" + nc + " ||\n\t/bin/sh -c '" + bash + "'\n)\n"},
				"Java": {"/bin/sh", "-c", "true &&  (" + proc + " || " + nc + " || /bin/bash -c '" + bash + "')"},
				"Node": {"/bin/bash", "-c", bash},
			} {
				if status, said := i.status(t, command...); status != 0 {
					t.Errorf("%s's wait for the port: status %d, %s", name, status, said)
				}
			}
			if status, said := i.status(t, "monotable", "health", "--endpoint", "http://127.0.0.1:"+port); status != 0 {
				t.Errorf("health: status %d, %s", status, said)
			}
		})
	}
}

// TestShell checks that waits fail while nothing listens on the port.
func TestShell(t *testing.T) {
	i := unpack(t, "-dynamodb-local")
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := closed.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // a TCP listener's
	_ = closed.Close()
	for _, test := range []struct {
		command []string
		status  int
	}{
		{[]string{"/bin/sh", "-c", "exit 3"}, 3},
		{[]string{"/bin/sh", "-c", "no-such-program"}, 127},
		{[]string{"/bin/bash", "-c", fmt.Sprintf("</dev/tcp/127.0.0.1/%d", port)}, 1},
		{[]string{"/bin/sh", "-c", "cd /home/dynamodblocal && echo $HOME >file && read line <file && test $line = /home/dynamodblocal"}, 0},
	} {
		if status, said := i.status(t, test.command...); status != test.status {
			t.Errorf("%q: status %d, want %d; %s", test.command, status, test.status, said)
		}
	}
}

// TestServerImage starts the server's image; its health check fails before and succeeds after.
func TestServerImage(t *testing.T) {
	i := unpack(t, "")
	if !slices.Equal(i.Entrypoint, []string{"/usr/local/bin/monotable"}) || !slices.Equal(i.Healthcheck.Test, []string{"CMD", "monotable", "health"}) {
		t.Errorf("entry point %q, health check %q", i.Entrypoint, i.Healthcheck.Test)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "start", "docker.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`ghcr\.io/monotable/monotable (serve .*)|command: (serve .*)`).FindAllStringSubmatch(string(page), -1)
	if len(shown) != 3 || slices.ContainsFunc(shown, func(s []string) bool { return s[1]+s[2] != shown[0][1] }) {
		t.Fatalf("docs/start/docker.md starts the image with %q", shown)
	}
	arguments := strings.Fields(strings.Replace(shown[0][1], ":8000", "127.0.0.1:0", 1)) // any free port
	c := i.command(t.Context(), t, slices.Concat(i.Entrypoint, arguments, []string{"--metrics-addr", "127.0.0.1:0"})...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, ok := strings.Cut(line, "DynamoDB API at ")
	if err != nil || !ok || !strings.Contains(rest, "data in /data") {
		t.Fatalf("it printed %q, %v", line, err)
	}
	endpoint, _, _ := strings.Cut(rest, " ")
	if status, said := i.status(t, "monotable", "health", "--endpoint", endpoint); status != 0 {
		t.Errorf("while it runs: status %d, %s", status, said)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	_, _ = io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if status, _ := i.status(t, "monotable", "health", "--endpoint", endpoint); status != 1 {
		t.Errorf("afterwards: status %d, want 1", status)
	}
}
