package cli

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

const (
	defaultEndpoint = "http://" + defaultAddr
	// endpointAWS is the value of a flag for DynamoDB on AWS, in the region of the other flags and of the configuration.
	endpointAWS = "aws"
	awsSuffix   = ".amazonaws.com"
	// endpointDefaults describes in help texts where the default endpoint comes from.
	endpointDefaults = "AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, DYNAMO_ENDPOINT, LOCALSTACK_HOST, " + defaultEndpoint
	regionDefaults   = "AWS_REGION, AWS_DEFAULT_REGION, " + defaultRegion
	localStackPort   = "4566"
)

// endpointOf is the endpoint named by a flag, or by the environment: in the variables of the SDKs, of dynamodb-admin, and
// of LocalStack's tools. variables come before the common ones.
func endpointOf(env Environment, flag string, variables ...string) string {
	if flag != "" {
		return flag
	}
	if !strings.EqualFold(env.Getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"), "true") {
		for _, name := range append(variables, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL") {
			if endpoint := env.Getenv(name); endpoint != "" {
				return endpoint
			}
		}
	}
	if endpoint := env.Getenv("DYNAMO_ENDPOINT"); endpoint != "" {
		return endpoint
	}
	if host := env.Getenv("LOCALSTACK_HOST"); host != "" {
		if !strings.Contains(host, ":") {
			host += ":" + localStackPort
		}
		return "http://" + host
	}
	return defaultEndpoint
}

// credentialsOf are the credentials in the environment, otherwise placeholders, for a server that does not check them.
func credentialsOf(env Environment) aws.CredentialsProvider {
	id, secret := ownKey(env)
	token := ""
	if id == env.Getenv("AWS_ACCESS_KEY_ID") {
		token = env.Getenv("AWS_SESSION_TOKEN")
	}
	return credentials.NewStaticCredentialsProvider(id, secret, token)
}

// regionOf is the region named by a flag, or by the environment.
func regionOf(env Environment, flag string) string {
	return cmp.Or(flag, env.Getenv("AWS_REGION"), env.Getenv("AWS_DEFAULT_REGION"), defaultRegion)
}

// connection is the endpoint of a database, and the identity with which to call it.
type connection struct {
	// endpoint is a URL without a trailing slash.
	endpoint string
	region   string
	// aws means that it is DynamoDB on AWS, at one of AWS's hosts.
	aws         bool
	credentials aws.CredentialsProvider
	http        aws.HTTPClient
}

// connectionFlags are the flags for a connection; all may be empty. flag is the name of the endpoint's flag, for messages.
type connectionFlags struct{ flag, endpoint, region, profile string }

// connect resolves a connection: AWS's endpoints, and those with a profile, are called with the credentials of the AWS
// configuration, others with those in the environment.
func connect(ctx context.Context, env Environment, f connectionFlags) (connection, error) {
	endpoint := strings.TrimSuffix(endpointOf(env, f.endpoint), "/")
	c := connection{endpoint: endpoint, credentials: credentialsOf(env), region: regionOf(env, f.region)}
	if endpoint != endpointAWS {
		isAWS, region, err := parseEndpoint(f.flag, endpoint)
		c.aws = isAWS
		if err != nil {
			return c, err
		}
		client, err := newHTTPClient(env, endpoint)
		if err != nil {
			return c, err
		}
		if c.http = client; !c.aws && f.profile == "" {
			return c, nil
		}
		f.region = cmp.Or(f.region, region)
	}
	var options []func(*config.LoadOptions) error
	if region := cmp.Or(f.region, env.Getenv("AWS_REGION"), env.Getenv("AWS_DEFAULT_REGION")); region != "" {
		options = append(options, config.WithRegion(region))
	}
	if f.profile != "" {
		options = append(options, config.WithSharedConfigProfile(f.profile))
	}
	configured, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return c, fmt.Errorf("the AWS configuration: %w", err)
	}
	c.credentials, c.http = aws.NewCredentialsCache(configured.Credentials), configured.HTTPClient
	c.region = cmp.Or(configured.Region, c.region)
	if endpoint == endpointAWS {
		if configured.Region == "" {
			return c, fmt.Errorf("no AWS region given: use --%s, AWS_REGION or a profile with a region", strings.TrimPrefix(f.flag+"-region", "endpoint-"))
		}
		c.aws, c.endpoint = true, "https://dynamodb."+c.region+awsSuffix
	}
	return c, nil
}

// newHTTPClient returns a client for an endpoint. Like the AWS CLI and the SDKs, it trusts the authorities in the file AWS_CA_BUNDLE, if
// that is set, instead of the system's.
func newHTTPClient(env Environment, endpoint string) (*awshttp.BuildableClient, error) {
	client, file := awshttp.NewBuildableClient(), env.Getenv("AWS_CA_BUNDLE")
	if file == "" || !strings.HasPrefix(endpoint, "https://") {
		return client, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate in PEM", file)
	}
	return client.WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig.RootCAs = authorities }), nil
}

func serverURL(endpoint string) (u *url.URL, ok bool) {
	u, err := url.Parse(endpoint)
	return u, err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// checkServerURL checks an --endpoint that must be a monotable server.
func checkServerURL(endpoint string) error {
	if _, ok := serverURL(endpoint); !ok {
		return fmt.Errorf("--endpoint %q: want a URL such as %s", endpoint, defaultEndpoint)
	}
	return nil
}

// parseEndpoint checks an endpoint's URL, and returns the region if it is one of AWS's.
func parseEndpoint(flag, endpoint string) (isAWS bool, region string, err error) {
	u, ok := serverURL(endpoint)
	if !ok {
		return false, "", fmt.Errorf("--%s %q: want a URL such as %s, or %s", flag, endpoint, defaultEndpoint, endpointAWS)
	}
	name, isAWS := strings.CutSuffix(u.Hostname(), awsSuffix)
	switch {
	case !isAWS:
		return false, "", nil
	case u.Scheme != "https":
		return true, "", fmt.Errorf("--%s: want https for AWS", flag)
	}
	_, region, _ = strings.Cut(strings.TrimPrefix(name, "streams."), ".")
	return true, region, nil
}

func (c connection) database(more ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &c.endpoint, Region: c.region, Credentials: c.credentials, HTTPClient: c.http}, more...)
}

// streams is a client of the streams of the same database: on AWS they have their own endpoint.
func (c connection) streams() *dynamodbstreams.Client {
	o := dynamodbstreams.Options{Region: c.region, Credentials: c.credentials, HTTPClient: c.http}
	if !c.aws {
		o.BaseEndpoint = &c.endpoint
	}
	return dynamodbstreams.New(o)
}

// databaseClient is a client of the database at the endpoint named by a flag, or by the environment.
func databaseClient(ctx context.Context, env Environment, endpoint, region string) (*dynamodb.Client, error) {
	c, err := connect(ctx, env, connectionFlags{flag: "endpoint", endpoint: endpoint, region: region})
	if err != nil {
		return nil, err
	}
	return c.database(), nil
}
