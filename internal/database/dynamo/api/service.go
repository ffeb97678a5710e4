package api

// DescribeLimitsInput asks for the account's limits in the region.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeLimits.html
type DescribeLimitsInput struct{}

// DescribeLimitsOutput has the most capacity units a second that provisioned tables may have.
type DescribeLimitsOutput struct {
	AccountMaxReadCapacityUnits  *int64
	AccountMaxWriteCapacityUnits *int64
	TableMaxReadCapacityUnits    *int64
	TableMaxWriteCapacityUnits   *int64
}

// DescribeEndpointsRequest asks which address serves the account.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeEndpoints.html
type DescribeEndpointsRequest struct{}

// DescribeEndpointsResponse has one endpoint: the address that the request came to.
type DescribeEndpointsResponse struct {
	Endpoints []Endpoint
}

// Endpoint is a host, with its port unless that is the scheme's default.
type Endpoint struct {
	Address              *string
	CachePeriodInMinutes *int64
}
