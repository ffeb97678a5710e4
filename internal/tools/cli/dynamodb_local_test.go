package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestDynamoDBLocalStart starts the command as Testcontainers' modules do, waits for the line that they wait for, and finds the data again after
// a restart.
func TestDynamoDBLocalStart(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-port", "0", "-sharedDb", "-dbPath", dir, "-optimizeDbBeforeStartup", "-disableTelemetry"}
	client, stop := startLocal(t, args...)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: new("Kept"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: new("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := os.Stat(filepath.Join(dir, "shared-local-instance.monotable")); err != nil {
		t.Error(err)
	}
	client, stop = startLocal(t, args...)
	defer stop()
	tables, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || len(tables.TableNames) != 1 || tables.TableNames[0] != "Kept" {
		t.Errorf("after a restart: %v, %v", tables, err)
	}
}

// startLocal runs the command as a program named java, and returns a client of it once it has printed its configuration.
func startLocal(t *testing.T, args ...string) (client *dynamodb.Client, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- Run(ctx, args, Environment{Program: "/usr/bin/java", Getenv: func(string) string { return "" }, Stdout: in, Stderr: t.Output()})
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	var first, port string
	for port == "" && lines.Scan() {
		if first == "" {
			first = lines.Text()
		}
		port, _ = strings.CutPrefix(lines.Text(), "Port:\t")
		if port == lines.Text() {
			port = ""
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if first != "Initializing DynamoDB Local with the following configuration:" || port == "" {
		t.Fatalf("it printed %q, and the port %q", first, port)
	}
	client = dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://127.0.0.1:" + port), Region: "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("fakeMyKeyId", "fakeSecretAccessKey", ""),
	})
	return client, func() {
		cancel()
		if got := <-status; got != 0 {
			t.Errorf("exit status %d", got)
		}
	}
}
