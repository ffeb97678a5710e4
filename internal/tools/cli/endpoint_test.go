package cli

import (
	"testing"
)

// TestEndpoint tests that the endpoint is read from the environment variables of the tools that
// users come from.
func TestEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"none":            {"", nil, "http://127.0.0.1:8000"},
		"a flag":          {"http://flag:1/", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "http://sdk:1"}, "http://flag:1"},
		"SDK, service":    {"", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "http://sdk:1", "AWS_ENDPOINT_URL": "http://all:1", "DYNAMO_ENDPOINT": "http://admin:1"}, "http://sdk:1"},
		"SDK, all":        {"", map[string]string{"AWS_ENDPOINT_URL": "http://all:1", "DYNAMO_ENDPOINT": "http://admin:1"}, "http://all:1"},
		"SDK, ignored":    {"", map[string]string{"AWS_ENDPOINT_URL": "http://all:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, "http://127.0.0.1:8000"},
		"dynamodb-admin":  {"", map[string]string{"DYNAMO_ENDPOINT": "http://admin:1", "LOCALSTACK_HOST": "localhost.localstack.cloud:4566"}, "http://admin:1"},
		"LocalStack":      {"", map[string]string{"LOCALSTACK_HOST": "localhost.localstack.cloud:4510"}, "http://localhost.localstack.cloud:4510"},
		"LocalStack host": {"", map[string]string{"LOCALSTACK_HOST": "localstack"}, "http://localstack:4566"},
	} {
		t.Run(name, func(t *testing.T) {
			env := Environment{Getenv: func(name string) string { return c.env[name] }}
			got, err := connect(t.Context(), env, connectionFlags{flag: "endpoint", endpoint: c.flag})
			if err != nil || got.endpoint != c.want || got.aws {
				t.Errorf("%+v, %v: want %s", got, err, c.want)
			}
		})
	}
}

// TestAWS tests that AWS is called in the region of its URL, a flag, the environment or a profile.
func TestAWS(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", "")
	for name, c := range map[string]struct {
		flags            connectionFlags
		env              map[string]string
		endpoint, region string
		fault            string
	}{
		"a URL":            {connectionFlags{endpoint: "https://dynamodb.eu-west-1.amazonaws.com"}, map[string]string{"AWS_REGION": "us-east-2"}, "https://dynamodb.eu-west-1.amazonaws.com", "eu-west-1", ""},
		"a URL of streams": {connectionFlags{endpoint: "https://streams.dynamodb.eu-west-1.amazonaws.com"}, nil, "https://streams.dynamodb.eu-west-1.amazonaws.com", "eu-west-1", ""},
		"aws, flag":        {connectionFlags{endpoint: "aws", region: "sa-east-1"}, map[string]string{"AWS_REGION": "us-east-2"}, "https://dynamodb.sa-east-1.amazonaws.com", "sa-east-1", ""},
		"aws, environment": {connectionFlags{endpoint: "aws"}, map[string]string{"AWS_DEFAULT_REGION": "us-east-2"}, "https://dynamodb.us-east-2.amazonaws.com", "us-east-2", ""},
		"aws, no region":   {connectionFlags{flag: "from", endpoint: "aws"}, nil, "", "", "no AWS region given: use --from-region, AWS_REGION or a profile with a region"},
		"aws, no region 2": {connectionFlags{flag: "endpoint", endpoint: "aws"}, nil, "", "", "no AWS region given: use --region, AWS_REGION or a profile with a region"},
		"plain HTTP":       {connectionFlags{flag: "endpoint", endpoint: "http://dynamodb.eu-west-1.amazonaws.com"}, nil, "", "", "--endpoint: want https for AWS"},
		"no URL":           {connectionFlags{flag: "to", endpoint: "localhost:8000"}, nil, "", "", `--to "localhost:8000": want a URL such as http://127.0.0.1:8000, or aws`},
	} {
		t.Run(name, func(t *testing.T) {
			env := Environment{Getenv: func(name string) string { return c.env[name] }}
			got, err := connect(t.Context(), env, c.flags)
			if c.fault != "" {
				if err == nil || err.Error() != c.fault {
					t.Errorf("%v, want %s", err, c.fault)
				}
				return
			}
			if err != nil || got.endpoint != c.endpoint || got.region != c.region || !got.aws {
				t.Errorf("%+v, %v: want %s in %s", got, err, c.endpoint, c.region)
			}
		})
	}
}
