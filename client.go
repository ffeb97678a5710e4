package monotable

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/internal/inprocess"
)

// endpoint is never resolved: requests stay in the process. Handler accepts every name below localhost.
const endpoint = "http://monotable.localhost"

// Client returns a client of the AWS SDK that calls the database without a socket. The options may change the SDK's options
// (retries, middleware, …). Region, endpoint, credentials and transport are already set.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient:   inprocess.Client{Handler: db.server.Owner()},
	}, options...)
}
