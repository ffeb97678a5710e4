package sdk

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/test/internal/serverproc"
)

const (
	anaKey    = "AKIAIOSFODNN7EXAMPLE"
	anaSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// identities declares ana, with a secret and all permissions, and a role that she may assume.
func identities(secret string) string {
	return strings.ReplaceAll(`
users:
  - name: ana
    accessKeys: [{id: `+anaKey+`, secret: SECRET}]
    policies: [&all {Version: "2012-10-17", Statement: [{Effect: Allow, Action: "*", Resource: "*"}]}]
roles:
  - name: loader
    trust: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {AWS: "000000000000"}, Action: ["sts:AssumeRole", "sts:TagSession"]}]}
    policies: [*all]
`, "SECRET", secret)
}

// startGuarded starts a server that requires signatures.
func startGuarded(t *testing.T) (server *serverproc.Server, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "iam.yaml")
	if err := os.WriteFile(file, []byte(identities(anaSecret)), 0o600); err != nil {
		t.Fatal(err)
	}
	return serverproc.Start(t, serverproc.Build(t), "--memory", "--auth", "required", "--iam", file), file
}

// asAna returns the environment of a program that signs with ana's key.
func asAna(server *serverproc.Server, more ...string) []string {
	env := append(server.Env(), "AWS_ACCESS_KEY_ID="+anaKey, "AWS_SECRET_ACCESS_KEY="+anaSecret, "AWS_ENDPOINT_URL_STS="+server.Endpoint)
	return append(env, more...)
}

func TestAuthAWSCLI(t *testing.T) { runAsAna(t, "bash", "auth.sh", awsCLI) }

func TestAuthBoto3(t *testing.T) { runAsAna(t, python, "-B", "auth_test.py") }

func runAsAna(t *testing.T, name string, args ...string) {
	t.Helper()
	t.Parallel()
	server, _ := startGuarded(t)
	script := exec.CommandContext(t.Context(), name, args...)
	script.Env = asAna(server)
	if output, err := script.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", script, err, output)
	}
}

// roleProfile writes a configuration in which the profile work assumes the role with ana's key.
func roleProfile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("[profile ana]\naws_access_key_id = %s\naws_secret_access_key = %s\n"+
		"[profile work]\nrole_arn = arn:aws:iam::000000000000:role/loader\nrole_session_name = work\nsource_profile = ana\n", anaKey, anaSecret)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRoleProfileGo: the SDK for Go assumes a role as configured in the shared configuration.
func TestRoleProfileGo(t *testing.T) {
	server, _ := startGuarded(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", server.Endpoint)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.Endpoint)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"} {
		t.Setenv(name, "")
	}
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"),
		config.WithSharedConfigFiles([]string{roleProfile(t)}), config.WithSharedConfigProfile("work"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); err != nil {
		t.Error(err)
	}
	issued, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || !strings.HasPrefix(issued.AccessKeyID, "ASIA") || !issued.CanExpire || time.Until(issued.Expires) > time.Hour {
		t.Errorf("%s until %v, %v", issued.AccessKeyID, issued.Expires, err)
	}
}

// TestRoleProfileJS does the same with the SDK for JavaScript.
func TestRoleProfileJS(t *testing.T) {
	t.Parallel()
	const packages = "../languages"
	if _, err := os.Stat(filepath.Join(packages, "node_modules/@aws-sdk/client-dynamodb")); err != nil {
		t.Fatalf("%v: run `make setup`, which installs the JavaScript SDK", err)
	}
	server, _ := startGuarded(t)
	script := exec.CommandContext(t.Context(), "node", "role_profile.mjs")
	script.Dir = packages
	script.Env = append(server.Env(), "AWS_ENDPOINT_URL_STS="+server.Endpoint, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=",
		"AWS_CONFIG_FILE="+roleProfile(t), "AWS_PROFILE=work")
	if output, err := script.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", script, err, output)
	}
}

// TestIAMFileReloadsOnSIGHUP: the file is reloaded on SIGHUP. If it is invalid, the error is reported and the previous
// configuration stays in effect.
func TestIAMFileReloadsOnSIGHUP(t *testing.T) {
	t.Parallel()
	server, file := startGuarded(t)
	lists := func(secret string) error {
		_, err := dynamodb.New(dynamodb.Options{
			BaseEndpoint: &server.Endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(anaKey, secret, ""), Retryer: aws.NopRetryer{},
		}).ListTables(t.Context(), nil)
		return err
	}
	if err := lists(anaSecret); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ text, logged string }{
		{"users: 1\n", "cannot load the --iam file"},
		{identities("another"), "reloaded the --iam file"},
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		server.Signal(t, syscall.SIGHUP)
		server.Printed(t, step.logged)
		want := map[string]bool{anaSecret: step.logged != "reloaded the --iam file", "another": step.logged == "reloaded the --iam file"}
		for secret, served := range want {
			if err := lists(secret); (err == nil) != served {
				t.Errorf("%s, secret %s: %v", step.logged, secret, err)
			}
		}
	}
}

// TestIAMAfterCrash: a key printed by monotable iam is still valid after the server is killed.
func TestIAMAfterCrash(t *testing.T) {
	t.Parallel()
	binary, dir := serverproc.Build(t), t.TempDir()
	policy := filepath.Join(t.TempDir(), "all.json")
	if err := os.WriteFile(policy, []byte(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	iam := func(args ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), binary, append(append([]string{"iam"}, args...), "--data", dir, "--json")...)
		output, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", command, err, output)
		}
		return output
	}
	server := serverproc.Start(t, binary, "--data", dir, "--auth", "required")
	iam("policy", "create", "all", "--document", policy)
	iam("user", "create", "ana", "--policy", "all")
	var issued struct{ Keys []struct{ ID, Secret string } }
	if err := json.Unmarshal(iam("key", "create", "ana"), &issued); err != nil || len(issued.Keys) != 1 {
		t.Fatalf("%+v, %v", issued, err)
	}
	server.Kill(t)
	server = serverproc.Start(t, binary, "--data", dir, "--auth", "required")
	_, err := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &server.Endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(issued.Keys[0].ID, issued.Keys[0].Secret, ""),
	}).ListTables(t.Context(), nil)
	if err != nil {
		t.Error(err)
	}
}
