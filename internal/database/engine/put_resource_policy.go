package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/policy"
)

// PutResourcePolicy attaches a policy to a table or a stream. An identical document keeps its revision.
func (e *Engine) PutResourcePolicy(ctx context.Context, in *api.PutResourcePolicyInput) (*api.PutResourcePolicyOutput, error) {
	r, err := e.policyResource(ctx, *in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if err := policy.Check(*in.Policy, r.kind, r.arn); err != nil {
		return nil, err
	}
	var revision string
	err = e.changePolicy(ctx, r, in.ExpectedRevisionId, func(d *catalog.Descriptor, current *catalog.Policy) {
		put := catalog.Policy{Stream: r.label, Document: *in.Policy, Revision: e.nextRevision(current)}
		switch {
		case current == nil:
			d.Policies = append(d.Policies, put)
		case current.Document == put.Document:
			put = *current
		default:
			*current = put
		}
		revision = put.Revision
	})
	if err != nil {
		return nil, err
	}
	return &api.PutResourcePolicyOutput{RevisionId: &revision}, nil
}
