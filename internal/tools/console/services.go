package console

import (
	"net/url"
	"strings"
)

// service is where an operation belongs: requests name it in their target, and are signed for it.
type service struct {
	target string // the prefix of X-Amz-Target
	signed string
	host   string // the beginning of its host on AWS; "" is that of DynamoDB. Other endpoints have one host for all.
}

var (
	ofDynamoDB   = service{target: "DynamoDB_20120810.", signed: "dynamodb"}
	ofStreams    = service{target: "DynamoDBStreams_20120810.", signed: "dynamodb", host: "streams.dynamodb."}
	ofMonotable  = service{target: "Monotable_20261127.", signed: "dynamodb"}
	ofSTS        = service{host: "sts."} // the SDK's client fills in the rest
	ofCloudWatch = service{target: "GraniteServiceVersion20100801.", signed: "monitoring", host: "monitoring."}
)

// others are the operations that are not DynamoDB's own.
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

// endpoint is the URL of a service, given that of DynamoDB.
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

// ofAWS tells whether a host is one of AWS's.
func ofAWS(host string) bool {
	return strings.HasSuffix(host, awsSuffix) || strings.HasSuffix(host, chinaSuffix)
}
