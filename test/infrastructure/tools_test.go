package infrastructure

import (
	"bytes"
	"flag"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/monotabletest"
)

var withTools = flag.Bool("tools", false, "run the tools themselves; make infrastructure-test installs them")

// tool runs a program in a directory with additional environment variables, and returns its output.
func tool(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return string(output)
}

// TestCDKTemplate compares the template of TestCloudFormation with the output of the pinned version of CDK.
func TestCDKTemplate(t *testing.T) {
	if !*withTools {
		t.Skip("needs CDK: make infrastructure-test")
	}
	file := filepath.Join(t.TempDir(), "template.json")
	tool(t, "cdk", nil, "node", "app.mjs", file)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "cdk.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("testdata/cdk.template.json is not what cdk/app.mjs writes:\n%s", got)
	}
}

// TestServerless creates and seeds the table of serverless/serverless.yml with Serverless and its plugin serverless-dynamodb.
func TestServerless(t *testing.T) {
	if !*withTools {
		t.Skip("needs Serverless: make infrastructure-test")
	}
	server := httptest.NewServer(monotabletest.New(t).Handler())
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{
		"MONOTABLE_HOST=" + address.Hostname(), "MONOTABLE_PORT=" + address.Port(), "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x",
		"SLS_TELEMETRY_DISABLED=1", "SLS_NOTIFICATIONS_MODE=off", "HOME=" + t.TempDir(),
	}
	serverless := func(args ...string) string {
		t.Helper()
		return tool(t, "serverless", env, filepath.Join("node_modules", ".bin", "serverless"), args...)
	}
	if said := serverless("dynamodb", "migrate"); !strings.Contains(said, "created table notes") {
		t.Error(said)
	}
	serverless("dynamodb", "seed")
	if said := serverless("dynamodb", "migrate"); !strings.Contains(said, "already exists") { // as in every later start
		t.Error(said)
	}
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("x", "x", ""),
	})
	described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("notes")})
	if err != nil {
		t.Fatal(err)
	}
	if d := described.Table; len(d.GlobalSecondaryIndexes) != 1 || d.StreamSpecification == nil || d.StreamSpecification.StreamViewType != types.StreamViewTypeNewImage {
		t.Errorf("the table is %+v", d)
	}
	items, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("notes"), IndexName: aws.String("by_kind")})
	if err != nil || items.Count != 2 {
		t.Errorf("%d items, %v; want those of notes.json", items.Count, err)
	}
}
