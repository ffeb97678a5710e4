// Package sdk uses Debian's AWS CLI and boto3 to create, write, query, page and transact over HTTP against the built
// server. Both are years older than the newest SDKs, like many SDKs in use.
package sdk

import (
	"os"
	"os/exec"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// Debian's own: another aws or python3 may come first in PATH.
const (
	awsCLI = "/usr/bin/aws"
	python = "/usr/bin/python3"
)

func TestAWSCLI(t *testing.T) {
	if _, err := os.Stat(awsCLI); err != nil {
		t.Fatalf("%v: run `make setup`, which installs awscli", err)
	}
	run(t, "bash", "awscli.sh", awsCLI)
}

// TestProvision: the AWS CLI makes the tables that monotable provision --as createtable writes, one and several.
func TestProvision(t *testing.T) {
	if _, err := os.Stat(awsCLI); err != nil {
		t.Fatalf("%v: run `make setup`, which installs awscli", err)
	}
	run(t, "bash", "provision.sh", awsCLI)
}

func TestBoto3(t *testing.T) {
	if output, err := exec.CommandContext(t.Context(), python, "-c", "import boto3").CombinedOutput(); err != nil {
		t.Fatalf("%s has no boto3: run `make setup`, which installs python3-boto3\n%s", python, output)
	}
	run(t, python, "-B", "boto3_test.py")
}

// run gives a script a server of its own in AWS_ENDPOINT_URL_DYNAMODB, and its program in MONOTABLE. The CLI spends most of its time on
// starting, so the scripts run side by side.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	t.Parallel()
	binary := serverproc.Build(t)
	server := serverproc.Start(t, binary, "--memory")
	script := exec.CommandContext(t.Context(), name, args...)
	script.Env = append(server.Env(), "MONOTABLE="+binary)
	if output, err := script.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", script, err, output)
	}
}
