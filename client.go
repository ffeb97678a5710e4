package monotable

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/internal/inprocess"
)

// endpoint is never resolved: requests stay in the process. Handler accepts every name below localhost.
const endpoint = "http://monotable.localhost"

// Client returns a client of the AWS SDK that calls the database without a socket. The options may change the SDK's options
// (retries, middleware, …). Region, endpoint, credentials and transport are already set; a Region of Options.Regions selects the
// tables of that Region.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	options = append(slices.Clip(options), func(o *dynamodb.Options) { o.Credentials = db.forRegion(o.Region, o.Credentials) })
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient:   inprocess.Client{Handler: db.server.Owner()},
	}, options...)
}

// forRegion returns the credentials of a client for a Region. Only a signature tells the server of another Region than the default
// one; it is not verified in the process.
func (db *DB) forRegion(region string, c aws.CredentialsProvider) aws.CredentialsProvider {
	if region == db.region || !aws.IsCredentialsProvider(c, aws.AnonymousCredentials{}) {
		return c
	}
	return credentials.NewStaticCredentialsProvider("inprocess", "inprocess", "")
}
