package api

// UpdateContributorInsightsInput turns contributor insights of a table or a global index on or off.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContributorInsights.html
type UpdateContributorInsightsInput struct {
	TableName                 *string `required:"true" min:"1" max:"1024" name:"table"`
	IndexName                 *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ContributorInsightsAction *string `required:"true" enum:"ENABLE|DISABLE"`
	// ContributorInsightsMode is ACCESSED_AND_THROTTLED_KEYS by default.
	ContributorInsightsMode *string `enum:"THROTTLED_KEYS|ACCESSED_AND_THROTTLED_KEYS"`
}

// UpdateContributorInsightsOutput shows the setting as it becomes.
type UpdateContributorInsightsOutput struct {
	TableName                 *string
	IndexName                 *string
	ContributorInsightsStatus *string
	ContributorInsightsMode   *string
}

// DescribeContributorInsightsInput asks for the setting of a table or a global index.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContributorInsights.html
type DescribeContributorInsightsInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
	IndexName *string `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
}

// DescribeContributorInsightsOutput is the setting with the names of its rules.
type DescribeContributorInsightsOutput struct {
	TableName                   *string
	IndexName                   *string
	ContributorInsightsRuleList []string
	ContributorInsightsStatus   *string
	LastUpdateDateTime          *Timestamp
	FailureException            *FailureException
	ContributorInsightsMode     *string
}

// FailureException says why something could not be turned on.
type FailureException struct {
	ExceptionName        *string
	ExceptionDescription *string
}

// ListContributorInsightsInput asks for a page of settings: of a table and its global indexes, or of all tables.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListContributorInsights.html
type ListContributorInsightsInput struct {
	TableName  *string `min:"1" max:"1024" name:"table"`
	NextToken  *string
	MaxResults *int64 `integer:"32" max:"100"`
}

// ListContributorInsightsOutput is one page.
type ListContributorInsightsOutput struct {
	ContributorInsightsSummaries []ContributorInsightsSummary
	NextToken                    *string
}

// ContributorInsightsSummary is the setting of a table or index.
type ContributorInsightsSummary struct {
	TableName                 *string
	IndexName                 *string
	ContributorInsightsStatus *string
	ContributorInsightsMode   *string
}
