package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
)

const (
	// pollHere is the polling interval of a stream in this process. pollAway stays below AWS's limit of five reads per second and
	// shard.
	pollHere = 50 * time.Millisecond
	pollAway = 400 * time.Millisecond
)

// Database is a DynamoDB with its streams.
type Database struct {
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	// Own means that tables may be created without asking.
	Own bool
	// Poll is the streams' polling interval.
	Poll time.Duration

	// items is what systems use instead of DynamoDB, if it is set.
	items table.Client
	close func() error
}

// Close closes the database if it belongs to this process.
func (d *Database) Close() error {
	if d.close == nil {
		return nil
	}
	return d.close()
}

// itemClient returns the client for systems' items.
func (d *Database) itemClient() table.Client {
	if d.items != nil {
		return d.items
	}
	return d.DynamoDB
}

// InProcess wraps a database that the caller closes.
func InProcess(db *monotable.DB) *Database {
	client := db.Client()
	return &Database{DynamoDB: client, Streams: db.StreamsClient(), Own: true, Poll: pollHere, items: directly(client)}
}

// OpenDatabase opens the configured database.
func OpenDatabase(ctx context.Context, c *Config, getenv func(string) string, logger *slog.Logger) (*Database, error) {
	if c.local(getenv) {
		return c.openHere(logger)
	}
	if u, err := url.Parse(c.Endpoint); c.Endpoint != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return nil, fmt.Errorf("--endpoint %s: want http://host:port", c.Endpoint)
	}
	options := []func(*awsconfig.LoadOptions) error{awsconfig.WithRegion(c.Region)}
	if c.Endpoint != "" && getenv("AWS_ACCESS_KEY_ID") == "" && getenv("AWS_PROFILE") == "" {
		// Custom endpoints require a signature but do not check it.
		options = append(options, awsconfig.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("local", "local", "")))
	}
	config, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if c.Endpoint != "" {
		config.BaseEndpoint = aws.String(c.Endpoint)
	}
	return &Database{
		DynamoDB: dynamodb.NewFromConfig(config), Streams: dynamodbstreams.NewFromConfig(config),
		Own: c.Endpoint != "", Poll: pollAway,
	}, nil
}

// unreachable returns advice for an endpoint where nothing listens, instead of the SDK's chain of retry errors.
func (d *Database) unreachable(err error) error {
	var dial *net.OpError
	if !d.Own || !errors.As(err, &dial) || dial.Op != "dial" {
		return err
	}
	return fmt.Errorf("no database is running: %w (start it, or use another --endpoint)", dial)
}

// lockedError is monotable.ErrLocked with advice.
type lockedError struct{ data string }

func (e lockedError) Error() string {
	return e.data + " is open in another process: stop it, or use another --data directory; " +
		"if it is demo serve or monotable serve, use its database with --endpoint and the address that it printed"
}

func (lockedError) Unwrap() error { return monotable.ErrLocked }

func (c *Config) openHere(logger *slog.Logger) (*Database, error) {
	durability, err := monotable.ParseDurability(c.Durability)
	if err != nil {
		return nil, fmt.Errorf("--durability: %w", err)
	}
	options := &monotable.Options{Region: c.Region, Durability: durability, Logger: logger}
	open := func() (*monotable.DB, error) { return monotable.Open(c.Data, options) }
	if c.Memory {
		open = func() (*monotable.DB, error) { return monotable.OpenMemory(options) }
	}
	db, err := open()
	if errors.Is(err, monotable.ErrLocked) {
		return nil, lockedError{c.Data}
	}
	if err != nil {
		return nil, err
	}
	opened := InProcess(db)
	opened.close = db.Close
	return opened, nil
}
