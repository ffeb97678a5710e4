package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// DescribeContributorInsights returns the contributor insights setting of a table or global index.
func (e *Engine) DescribeContributorInsights(ctx context.Context, in *api.DescribeContributorInsightsInput) (*api.DescribeContributorInsightsOutput, error) {
	d, err := e.find(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	s, err := insightsOf(d, valueOf(in.IndexName))
	if err != nil {
		return nil, err
	}
	out := &api.DescribeContributorInsightsOutput{
		TableName: &d.Name, IndexName: in.IndexName, ContributorInsightsRuleList: s.rules(),
		ContributorInsightsStatus: new(s.Status(e.options.Now())), ContributorInsightsMode: nonEmpty(s.Mode),
	}
	if s.Changed != 0 {
		out.LastUpdateDateTime = api.TimestampOf(s.Changed)
	}
	if s.Refused {
		why := apierr.TooManyRules.With()
		out.FailureException = &api.FailureException{ExceptionName: new(string(why.Code)), ExceptionDescription: &why.Message}
	}
	return out, nil
}
