package kinesis

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
)

// Service is a sink that puts records into Kinesis Data Streams or a compatible service.
type Service struct{ client *kinesis.Client }

// responseTime is the timeout for a response. The SDK would wait forever, and with it the deliveries of a table.
const responseTime = time.Minute

// NewService returns a sink that sends records to an endpoint. The Region of requests is that of the stream.
func NewService(endpoint string, credentials aws.CredentialsProvider) *Service {
	return &Service{kinesis.New(kinesis.Options{
		BaseEndpoint: &endpoint, Credentials: credentials, Region: "us-east-1",
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = responseTime }),
	})}
}

// coded is an error of the service.
type coded interface {
	error
	ErrorCode() string
}

// Put implements Sink.
func (s *Service) Put(ctx context.Context, streamARN string, records []Record) (failed []Record, err error) {
	entries := make([]types.PutRecordsRequestEntry, len(records))
	for i := range records {
		entries[i] = types.PutRecordsRequestEntry{Data: records[i].Data, PartitionKey: &records[i].Key}
	}
	_, region, name := splitARN(streamARN)
	out, err := s.client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamARN: &streamARN, StreamName: &name, Records: entries},
		func(o *kinesis.Options) { o.Region = region })
	if known, ok := errors.AsType[coded](err); ok && (known.ErrorCode() == "ValidationException" || known.ErrorCode() == "InvalidArgumentException") {
		return records, fmt.Errorf("kinesis: %w: %w", errRefused, err)
	}
	if err != nil {
		return records, fmt.Errorf("kinesis: %w", err)
	}
	if len(out.Records) != len(records) {
		return records, fmt.Errorf("kinesis: the response to %d records has %d", len(records), len(out.Records))
	}
	for i := range out.Records {
		if result := &out.Records[i]; result.ErrorCode != nil {
			failed = append(failed, records[i])
			err = fmt.Errorf("kinesis: %s: %s", *result.ErrorCode, aws.ToString(result.ErrorMessage))
		}
	}
	return failed, err
}

// splitARN returns the account, Region and name of a data stream's ARN.
func splitARN(arn string) (account, region, name string) {
	parts := strings.SplitN(arn, ":", 6)
	return parts[4], parts[3], strings.TrimPrefix(parts[5], "stream/")
}
