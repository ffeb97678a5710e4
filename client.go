package monotable

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/internal/inprocess"
)

// endpoint is never looked up: the requests stay in the process. Handler accepts every name below localhost.
const endpoint = "http://monotable.localhost"

// Client returns a client of the AWS SDK that calls the database without a socket. Each of options may
// change the SDK's own options (retries, middleware, …); region, endpoint, credentials and transport are
// set already.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient:   inprocess.Client{Handler: db.server.Owner()},
	}, options...)
}
