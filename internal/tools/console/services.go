package console

import (
	"net/url"
	"strings"
)

// service is the service of an operation: it determines the target, the host and the signature of requests.
type service struct {
	target string // prefix of X-Amz-Target
	signed string
	host   string // prefix of its host on AWS; "" for DynamoDB. Other endpoints have one host for all services.
}

var (
	ofDynamoDB   = service{target: "DynamoDB_20120810.", signed: "dynamodb"}
	ofStreams    = service{target: "DynamoDBStreams_20120810.", signed: "dynamodb", host: "streams.dynamodb."}
	ofMonotable  = service{target: "Monotable_20261127.", signed: "dynamodb"}
	ofSTS        = service{host: "sts."} // the SDK's client fills in the rest
	ofCloudWatch = service{target: "GraniteServiceVersion20100801.", signed: "monitoring", host: "monitoring."}
)

// others are the operations of services other than DynamoDB.
var others = map[string]service{
	"DescribeStream":   ofStreams,
	"GetShardIterator": ofStreams,
	"GetRecords":       ofStreams,

	"DescribeServer":  ofMonotable,
	"ListWarnings":    ofMonotable,
	"ListItemChanges": ofMonotable,
	"ListRequests":    ofMonotable,
	"CompareTable":    ofMonotable,

	"GetInsightRuleReport": ofCloudWatch,
	"GetMetricData":        ofCloudWatch,
	"ListMetrics":          ofCloudWatch,
	"DescribeAlarms":       ofCloudWatch,
}

func serviceOf(operation string) service {
	if s, is := others[operation]; is {
		return s
	}
	return ofDynamoDB
}

const (
	awsHost     = "dynamodb."
	awsSuffix   = ".amazonaws.com"
	chinaSuffix = ".amazonaws.com.cn"
)

// endpoint returns the URL of a service, given the URL of DynamoDB.
func (s service) endpoint(dynamodb string) string {
	u, err := url.Parse(dynamodb)
	if err != nil || s.host == "" {
		return dynamodb
	}
	region, is := strings.CutPrefix(u.Host, awsHost)
	if !is || !ofAWS(u.Host) {
		return dynamodb
	}
	u.Host = s.host + region
	return u.String()
}

// ofAWS reports whether a host belongs to AWS.
func ofAWS(host string) bool {
	return strings.HasSuffix(host, awsSuffix) || strings.HasSuffix(host, chinaSuffix)
}
