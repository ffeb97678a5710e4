// Package sdk uses Debian's AWS CLI and boto3 to create, write, query, page and transact over HTTP against the built
// server. Both are years older than the newest SDKs, like many SDKs in use.
package sdk

import (
	"os"
	"os/exec"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// Debian's versions: another aws or python3 may come first in PATH.
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

// TestProvision: the AWS CLI creates the tables in the output of monotable provision --as createtable, for one table and for
// several.
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

// run runs a script with a server of its own in AWS_ENDPOINT_URL_DYNAMODB, and the program in MONOTABLE. The scripts run in
// parallel, because the CLI spends most of its time starting.
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
