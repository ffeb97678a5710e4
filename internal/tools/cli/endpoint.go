package cli

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// credentialsOf are those of the environment, else placeholders, for a server that does not check them.
func credentialsOf(env Environment) aws.CredentialsProvider {
	id, secret := ownKey(env)
	token := ""
	if id == env.Getenv("AWS_ACCESS_KEY_ID") {
		token = env.Getenv("AWS_SESSION_TOKEN")
	}
	return credentials.NewStaticCredentialsProvider(id, secret, token)
}

// regionOf is the region that a flag names, or the environment.
func regionOf(env Environment, flag string) string {
	return cmp.Or(flag, env.Getenv("AWS_REGION"), env.Getenv("AWS_DEFAULT_REGION"), defaultRegion)
}

// databaseClient is a client of the database at the endpoint that a flag names, or the environment.
func databaseClient(env Environment, endpoint, region string) *dynamodb.Client {
	endpoint = cmp.Or(endpoint, env.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), env.Getenv("AWS_ENDPOINT_URL"), defaultEndpoint)
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &endpoint, Region: regionOf(env, region), Credentials: credentialsOf(env),
	})
}
