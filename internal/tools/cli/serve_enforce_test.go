package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// startServer starts "monotable serve ARGS…" as a process, and returns a client of it and a function that stops it like
// Ctrl-C.
func startServer(t *testing.T, args ...string) (client *dynamodb.Client, url string, stop func()) {
	t.Helper()
	command := &exec.Cmd{Path: os.Args[0], Args: append([]string{"monotable", "serve", "--addr", "127.0.0.1:0"}, args...), Stderr: t.Output()}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	})
	url = endpointPattern.FindString(readUntil(output, "Stop with Ctrl-C.\n"))
	if url == "" {
		t.Fatal("the server does not print its address")
	}
	client = dynamodb.New(dynamodb.Options{
		BaseEndpoint: &url, Region: "us-east-1", Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("monotable", "monotable", ""),
	})
	return client, url, func() {
		t.Helper()
		ended = true
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, output)
		if err := command.Wait(); err != nil {
			t.Errorf("monotable serve %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestServeEnforcesDesign tests that the server rejects a write that its design does not know, with a message that says why
// and what to do, and that it accepts a known one, and serves items written before.
func TestServeEnforcesDesign(t *testing.T) {
	t.Parallel()
	file, data := filepath.Join(t.TempDir(), "shop.design.yaml"), filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, []byte(shopForModels), 0o600); err != nil {
		t.Fatal(err)
	}
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	n := func(number string) types.AttributeValue { return &types.AttributeValueMemberN{Value: number} }
	type item = map[string]types.AttributeValue
	table := aws.String("Shop")
	order := func() item {
		return item{"PK": s("USER#u1"), "SK": s("ORDER#o1"), "userId": s("u1"), "orderId": s("o1"), "status": s("open"), "total": n("500"), "weight": n("1.5")}
	}
	foreign := item{"PK": s("CART#1"), "SK": s("OPEN"), "note": s("older than the design")}

	client, url, stop := startServer(t, "--data", data)
	if Run(t.Context(), []string{"provision", file, "--apply", "--endpoint", url}, Environment{
		Program: "monotable", Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: t.Output(),
	}) != 0 {
		t.Fatal("the table was not created")
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: foreign}); err != nil {
		t.Fatalf("without --enforce-design, any item is accepted: %v", err)
	}
	stop()

	client, _, stop = startServer(t, "--data", data, "--design", file, "--enforce-design")
	for _, c := range []struct {
		name string
		it   item
		want string // part of the error; "" if it is written
	}{
		{"a key of no entity", item{"PK": s("CART#2"), "SK": s("OPEN")}, "PK=CART#2 SK=OPEN: no entity has such a key"},
		{"a status that is not in the enumeration", with(order(), "status", s("lost")), "Order: status"},
		{"a total of the wrong type", with(order(), "total", s("500")), "Order: total is a value of type S, not a whole number"},
		{"an order", order(), ""},
	} {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: c.it})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		said, is := errors.AsType[smithy.APIError](err)
		if !is || said.ErrorCode() != "ValidationException" || !strings.Contains(said.ErrorMessage(), c.want) ||
			!strings.Contains(said.ErrorMessage(), "shop.design.yaml") || !strings.Contains(said.ErrorMessage(), "Write an item that matches the design") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: table, Key: item{"PK": s("USER#u1"), "SK": s("ORDER#o1")}, UpdateExpression: aws.String("REMOVE #total"),
		ExpressionAttributeNames: map[string]string{"#total": "total"},
	}); err == nil || !strings.Contains(err.Error(), "Order: total is missing") {
		t.Errorf("an update that removes a required field: %v", err)
	}
	found, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: item{"PK": foreign["PK"], "SK": foreign["SK"]}})
	if err != nil || found.Item["note"] == nil {
		t.Errorf("an older item that matches no entity can be read: %v, %v", found, err)
	}
	all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: table})
	if err != nil || all.Count != 2 {
		t.Errorf("a Scan finds the older item and the order: %v, %v", all, err)
	}
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: table, Key: item{"PK": foreign["PK"], "SK": foreign["SK"]}}); err != nil {
		t.Errorf("an older item that matches no entity can be deleted: %v", err)
	}
	stop()
}

func with(it map[string]types.AttributeValue, name string, v types.AttributeValue) map[string]types.AttributeValue {
	it[name] = v
	return it
}
