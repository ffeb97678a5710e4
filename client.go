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
// (retries, middleware, …). Region, endpoint, credentials and transport are already set; a Region of Options.Regions, also in the
// options of a call, selects the tables of that Region. After Close, calls return ErrClosed, wrapped.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	options = append(slices.Clip(options), func(o *dynamodb.Options) { o.Credentials = db.signing(o.Credentials) })
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient:   inprocess.Client{Handler: db.server.Owner(), Closed: db.closedError},
	}, options...)
}

// signing returns the credentials of an in-process client. Only a signature tells the server which of several Regions a call is
// for, and the options of a call can change the client's Region. The signature is not verified in the process.
func (db *DB) signing(c aws.CredentialsProvider) aws.CredentialsProvider {
	if len(db.regions) == 0 || !aws.IsCredentialsProvider(c, aws.AnonymousCredentials{}) {
		return c
	}
	return credentials.NewStaticCredentialsProvider("inprocess", "inprocess", "")
}

// closedError returns the error of in-process calls after Close; nil before.
func (db *DB) closedError() error {
	if db.closed.Load() {
		return closedError{}
	}
	return nil
}

// closedError is ErrClosed for the SDK, which would retry it for seconds like an error of a connection.
type closedError struct{}

func (closedError) Error() string        { return "monotable: " + ErrClosed.Error() }
func (closedError) Unwrap() error        { return ErrClosed }
func (closedError) RetryableError() bool { return false }
