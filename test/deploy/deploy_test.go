// Package deploy checks that the files in deploy work with the program: servers run with the arguments and variables of
// the manifests, with the secrets created by deploy/new-secrets, behind the proxy's own configuration. Only ports, paths
// and PostgreSQL's address differ. Package schema, a separate module, checks the files against the schemas of Compose and
// Kubernetes.
package deploy

import (
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/serverproc"
)

const files = "../../deploy"

var postgres *postgrestest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(postgrestest.Run(func(s *postgrestest.Server) int {
		postgres = s
		return m.Run()
	}))
}

// manifest is the part of a manifest that describes a server.
type manifest struct {
	args   []string
	env    map[string]string // without the values of secrets
	mounts map[string]string // by directory in the container: "" for the control socket's directory, otherwise the directory of secrets
}

// composeFile is the part of compose.yaml that the tests check.
type composeFile struct {
	Services map[string]struct {
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		User        string            `yaml:"user"`
		Tmpfs       []string          `yaml:"tmpfs"`
		Grace       string            `yaml:"stop_grace_period"`
	} `yaml:"services"`
}

func readCompose(t *testing.T) (c composeFile) {
	t.Helper()
	decode(t, "compose.yaml", &c)
	return c
}

func composeManifest(t *testing.T) manifest {
	t.Helper()
	s := readCompose(t).Services["monotable-1"]
	return manifest{s.Command, s.Environment, map[string]string{"/run/monotable": "", "/run/secrets": "secrets"}}
}

type probe struct {
	HTTPGet struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
}

// deployment is the part of deployment.yaml that the tests check.
type deployment struct {
	Spec struct {
		Template struct {
			Metadata struct {
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"metadata"`
			Spec struct {
				Grace           int `yaml:"terminationGracePeriodSeconds"`
				SecurityContext struct {
					RunAsUser int `yaml:"runAsUser"`
				} `yaml:"securityContext"`
				Containers []struct {
					Args []string `yaml:"args"`
					Env  []struct {
						Name  string `yaml:"name"`
						Value string `yaml:"value"`
					} `yaml:"env"`
					Ports []struct {
						Name          string `yaml:"name"`
						ContainerPort int    `yaml:"containerPort"`
					} `yaml:"ports"`
					Startup   probe `yaml:"startupProbe"`
					Readiness probe `yaml:"readinessProbe"`
					Liveness  probe `yaml:"livenessProbe"`
					Lifecycle struct {
						PreStop struct {
							Sleep struct {
								Seconds int `yaml:"seconds"`
							} `yaml:"sleep"`
						} `yaml:"preStop"`
					} `yaml:"lifecycle"`
					VolumeMounts []struct {
						Name      string `yaml:"name"`
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				} `yaml:"containers"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

func readDeployment(t *testing.T) (d deployment) {
	t.Helper()
	decode(t, "kubernetes/deployment.yaml", &d)
	return d
}

func kubernetesManifest(t *testing.T) manifest {
	t.Helper()
	c := readDeployment(t).Spec.Template.Spec.Containers[0]
	m := manifest{c.Args, map[string]string{}, map[string]string{}}
	for _, v := range c.Env {
		m.env[v.Name] = v.Value
	}
	for _, v := range c.VolumeMounts {
		if m.mounts[v.MountPath] = "secrets"; v.Name == "run" {
			m.mounts[v.MountPath] = ""
		}
	}
	var k struct {
		Generators []struct {
			Literals []string `yaml:"literals"`
		} `yaml:"configMapGenerator"`
	}
	decode(t, "kubernetes/kustomization.yaml", &k)
	for _, literal := range k.Generators[0].Literals {
		name, value, _ := strings.Cut(literal, "=")
		m.env[name] = value
	}
	return m
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(files, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestServers runs the tests that start the program.
func TestServers(t *testing.T) {
	binary := serverproc.Build(t)
	t.Run("flags", func(t *testing.T) { testFlags(t, binary) })
	t.Run("kubernetes", func(t *testing.T) { testKubernetes(t, binary) })
	t.Run("compose", func(t *testing.T) { testCompose(t, binary) })
	t.Run("store lost", func(t *testing.T) { testStoreLost(t, binary) })
}

// testFlags: the program accepts each flag and each variable in the manifests.
func testFlags(t *testing.T, binary string) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), binary, "serve", "-h").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	knows := func(flag string) bool {
		return regexp.MustCompile(`(?m)^ +` + regexp.QuoteMeta(flag) + ` `).Match(help)
	}
	for name, m := range map[string]manifest{"compose.yaml": composeManifest(t), "kubernetes": kubernetesManifest(t)} {
		if m.args[0] != "serve" || len(m.args) < 5 {
			t.Errorf("%s: the arguments are %q", name, m.args)
		}
		for _, arg := range m.args[1:] {
			if flag, _, is := strings.Cut(arg, "="); !is || !knows(flag) {
				t.Errorf("%s: serve does not know %s", name, arg)
			}
		}
		for variable := range m.env {
			flag, own := strings.CutPrefix(variable, "MONOTABLE_")
			root := slices.Contains([]string{"ROOT_ACCESS_KEY_ID", "ROOT_SECRET_ACCESS_KEY"}, flag) && strings.Contains(string(help), variable)
			if flag = "--" + strings.ToLower(strings.ReplaceAll(flag, "_", "-")); own && !root && !knows(flag) {
				t.Errorf("%s: serve does not know %s", name, variable)
			}
			if !own && !strings.HasPrefix(variable, "PG") {
				t.Errorf("%s: %s is neither a flag's nor PostgreSQL's", name, variable)
			}
		}
	}
}

// TestStores: the store URLs in the manifests contain no password, and PostgreSQL's certificate is verified unless it runs on the
// same machine.
func TestStores(t *testing.T) {
	_, compose, _ := strings.Cut(composeManifest(t).args[slices.IndexFunc(composeManifest(t).args, isStore)], "=")
	for name, address := range map[string]string{"compose.yaml": compose, "kubernetes": kubernetesManifest(t).env["MONOTABLE_STORE"]} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := u.User.Password(); has || u.User.Username() != "monotable" || u.Path != "/monotable" {
			t.Errorf("%s: the store is %s", name, address)
		}
		if u.Hostname() != "postgres" && u.Query().Get("sslmode") != "verify-full" {
			t.Errorf("%s: PostgreSQL's certificate is not verified: %s", name, address)
		}
	}
}

func isStore(arg string) bool { return strings.HasPrefix(arg, "--store=") }

// TestImage: the image has the program at the expected path, the user of the manifests, and the toolchain required by go.mod.
func TestImage(t *testing.T) {
	text := read(t, "Dockerfile")
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)[1]
	for _, want := range []string{
		"FROM golang:" + string(version) + "-", "-o /monotable ./cmd/monotable", "COPY --from=build /monotable /usr/local/bin/monotable\n",
		"ENTRYPOINT [\"/usr/local/bin/monotable\"]\n", "USER 65532:65532\n", "EXPOSE 8000 9464\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile does not have %q", want)
		}
	}
	server := readCompose(t).Services["monotable-1"]
	if server.User != "65532:65532" || !slices.Contains(server.Tmpfs, "/run/monotable:uid=65532,gid=65532,mode=0700") {
		t.Errorf("compose.yaml runs the server as %s, with %q", server.User, server.Tmpfs)
	}
	if user := readDeployment(t).Spec.Template.Spec.SecurityContext.RunAsUser; user != 65532 {
		t.Errorf("deployment.yaml runs the server as %d", user)
	}
}
