package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// GetResourcePolicy returns the policy of a table or a stream.
func (e *Engine) GetResourcePolicy(ctx context.Context, in *api.GetResourcePolicyInput) (*api.GetResourcePolicyOutput, error) {
	r, err := e.policyResource(ctx, *in.ResourceArn)
	if err != nil {
		return nil, err
	}
	d, err := e.find(ctx, r.table)
	if err != nil {
		return nil, err
	}
	p := d.Policy(r.label)
	if p == nil {
		return nil, apierr.PolicyNotFound.With(r.arn)
	}
	return &api.GetResourcePolicyOutput{Policy: &p.Document, RevisionId: &p.Revision}, nil
}
