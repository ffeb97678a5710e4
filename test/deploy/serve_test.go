package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/jackc/pgx/v5"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

// leaveTime limits the time that a server takes after its last request to write its last metrics (3 s) and give up its leases (2
// s).
const leaveTime = 5 * time.Second

// installation is the environment of a manifest's servers: a database that requires the password of new-secrets.
type installation struct {
	manifest

	binary  string
	secrets string
	root    aws.CredentialsProvider
	trusted *x509.CertPool
	store   string // URL of the store
}

// install creates secrets, and a database with deploy/postgres.sql.
func install(t *testing.T, binary string, m manifest) *installation {
	t.Helper()
	in := &installation{manifest: m, binary: binary, secrets: filepath.Join(t.TempDir(), "secrets"), trusted: x509.NewCertPool()}
	run(t, filepath.Join(files, "new-secrets"), in.secrets)
	ca, err := os.ReadFile(filepath.Join(in.secrets, "ca.crt"))
	if err != nil || !in.trusted.AppendCertsFromPEM(ca) {
		t.Fatalf("ca.crt: %v", err)
	}
	env, err := os.ReadFile(filepath.Join(in.secrets, "root.env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(env)) { // parsed like env_file
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		t.Setenv(name, value)
	}
	in.root = credentials.NewStaticCredentialsProvider(os.Getenv("MONOTABLE_ROOT_ACCESS_KEY_ID"), os.Getenv("MONOTABLE_ROOT_SECRET_ACCESS_KEY"), "")
	in.store = in.createDatabase(t)
	return in
}

// createDatabase runs deploy/postgres.sql as the superuser, and makes PostgreSQL require the role's password.
func (in *installation) createDatabase(t *testing.T) (address string) {
	t.Helper()
	superuser := postgrestest.URL("public", postgres)
	u, err := url.Parse(superuser)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), superuser)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	var hba string
	err = errors.Join(
		c.QueryRow(t.Context(), "show hba_file").Scan(&hba),
		os.WriteFile(hba, []byte("local all postgres trust\nlocal all monotable scram-sha-256\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"select pg_reload_conf()", "drop database if exists monotable", "drop role if exists monotable"} {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(t.TempDir(), "postgres.sql")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(read(t, "postgres.sql"), "/run/secrets", in.secrets)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", u.Query().Get("host"), "-U", "postgres", "-f", script)
	return "postgres://monotable@/monotable?host=" + u.Query().Get("host")
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// node is a server with the ports that replace the manifest's.
type node struct {
	*serverproc.Server
	api, metrics int
	run          string // the control socket's directory
}

// start runs a server according to the manifest, on the ports of a stopped node or on new ones.
func (in *installation) start(t *testing.T, at *node) *node {
	t.Helper()
	if at == nil {
		at = &node{api: freePort(t), metrics: freePort(t), run: t.TempDir()}
	}
	replace := []string{"--addr=:8000", fmt.Sprintf("--addr=:%d", at.api), "--metrics-addr=:9464", fmt.Sprintf("--metrics-addr=:%d", at.metrics)}
	for path, what := range in.mounts {
		replace = append(replace, path, map[string]string{"": at.run, "secrets": in.secrets}[what])
	}
	place := strings.NewReplacer(replace...)
	var args []string
	for _, arg := range in.args[1:] {
		if isStore(arg) {
			arg = "--store=" + in.store
		}
		args = append(args, place.Replace(arg))
	}
	for _, name := range slices.Sorted(maps.Keys(in.env)) {
		value := in.env[name]
		switch {
		case name == "MONOTABLE_STORE":
			value = in.store
		case name == "PGPASSWORD": // from a secret
			text, err := os.ReadFile(filepath.Join(in.secrets, "postgres-password"))
			if err != nil {
				t.Fatal(err)
			}
			value = strings.TrimSpace(string(text))
		case value == "": // from a secret, set by install
			continue
		}
		t.Setenv(name, place.Replace(value))
	}
	return &node{serverproc.Start(t, in.binary, args...), at.api, at.metrics, at.run}
}

// freePort returns a port below the system's ephemeral range, so that it stays free while its server restarts.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(15000)
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}

// client returns a client that signs as the root and trusts only the installation's certificate. If dial is not nil, it opens the
// connections.
func (in *installation) client(endpoint string, dial func() (net.Conn, error)) *dynamodb.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: in.trusted, ServerName: "monotable", MinVersion: tls.VersionTLS12}}
	if dial != nil {
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return dial() }
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: in.root,
		HTTPClient: &http.Client{Transport: transport}, RetryMaxAttempts: 10, // for slow machines; three attempts are normally enough
	})
}

// get returns the response to a GET on the metrics port.
func (n *node) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", n.metrics, path), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// testKubernetes: a server started like the Deployment's requires signatures and TLS, responds to the probes, and exits well
// within the grace period.
func testKubernetes(t *testing.T, binary string) {
	t.Helper()
	in := install(t, binary, kubernetesManifest(t))
	pod := readDeployment(t).Spec.Template
	c := pod.Spec.Containers[0]
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if ports["https"] != 8000 || ports["metrics"] != 9464 || pod.Metadata.Annotations["prometheus.io/port"] != "9464" {
		t.Errorf("the ports are %v and %v", ports, pod.Metadata.Annotations)
	}
	n := in.start(t, nil)
	for name, p := range map[string]probe{"startup": c.Startup, "readiness": c.Readiness, "liveness": c.Liveness} {
		if p.HTTPGet.Port != "metrics" {
			t.Errorf("the %s probe asks port %q", name, p.HTTPGet.Port)
		}
		if status, text := n.get(t, p.HTTPGet.Path); status != http.StatusOK {
			t.Errorf("the %s probe, %s: %d %s", name, p.HTTPGet.Path, status, text)
		}
	}
	if status, text := n.get(t, pod.Metadata.Annotations["prometheus.io/path"]); status != http.StatusOK || !strings.Contains(text, "monotable_ready 1") {
		t.Errorf("metrics: %d\n%s", status, text)
	}
	if _, err := in.client(n.Endpoint, nil).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Errorf("the root over TLS: %v", err)
	}
	in.root = aws.AnonymousCredentials{}
	_, err := in.client(n.Endpoint, nil).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if refused, is := errors.AsType[smithy.APIError](err); !is || refused.ErrorCode() != "MissingAuthenticationTokenException" {
		t.Errorf("a request without a signature: %v", err)
	}
	n.Signal(t, syscall.SIGTERM)
	status, printed := n.Wait(t)
	if status != 0 {
		t.Errorf("after SIGTERM the server ended with status %d", status)
	}
	drain := drainTime(t, printed)
	given := time.Duration(pod.Spec.Grace-c.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if drain+leaveTime > given || c.Lifecycle.PreStop.Sleep.Seconds == 0 {
		t.Errorf("requests may take %v to end and leases %v, and there are %v after a preStop of %d s", drain, leaveTime, given, c.Lifecycle.PreStop.Sleep.Seconds)
	}
	grace, err := time.ParseDuration(readCompose(t).Services["monotable-1"].Grace)
	if err != nil || drain+leaveTime > grace {
		t.Errorf("compose.yaml gives %v, %v", grace, err)
	}
}

// drainTime returns the maximum time that a stopping server waits for requests, according to its log.
func drainTime(t *testing.T, printed string) time.Duration {
	t.Helper()
	found := regexp.MustCompile(`"msg":"stopping","wait_max":(\d+)`).FindStringSubmatch(printed)
	if found == nil {
		t.Fatalf("the server does not say how long it waits for requests:\n%s", printed)
	}
	ns, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ns)
}
