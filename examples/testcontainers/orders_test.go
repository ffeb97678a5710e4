// Package testcontainers shows a Go test that runs against the container image with Testcontainers' DynamoDB module: only the image's name
// differs from a test against amazon/dynamodb-local. A Go program can also run the database in its own process, without a container: see
// package monotabletest.
package testcontainers

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/testcontainers/testcontainers-go"
	dynamodblocal "github.com/testcontainers/testcontainers-go/modules/dynamodb"
)

const image = "ghcr.io/monotable/dynamodb-local:latest"

func TestOrders(t *testing.T) {
	testcontainers.SkipIfProviderIsNotHealthy(t)
	container, err := dynamodblocal.Run(t.Context(), image, dynamodblocal.WithDisableTelemetry())
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	address, err := container.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://" + address), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("fake", "fake", ""),
	})
	tables, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tables.TableNames) != 0 {
		t.Errorf("a new database has the tables %v", tables.TableNames)
	}
}
