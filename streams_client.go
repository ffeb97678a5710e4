package monotable

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/internal/inprocess"
)

// StreamsClient returns a client of the AWS SDK for the streams of the database's tables, which needs no socket
// either; see Client.
func (db *DB) StreamsClient(options ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	options = append(slices.Clip(options), func(o *dynamodbstreams.Options) { o.Credentials = db.signing(o.Credentials) })
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.AnonymousCredentials{},
		// Positions by time, like those of package consumer, are of the database's clock.
		HTTPClient: inprocess.Client{Handler: db.server.Owner(), Now: db.now, Closed: db.closedError},
	}, options...)
}
