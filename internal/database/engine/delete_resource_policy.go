package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// DeleteResourcePolicy deletes the policy of a table or a stream. Without an expected revision it also succeeds if there is no
// policy.
func (e *Engine) DeleteResourcePolicy(ctx context.Context, in *api.DeleteResourcePolicyInput) (*api.DeleteResourcePolicyOutput, error) {
	r, err := e.policyResource(ctx, *in.ResourceArn)
	if err != nil {
		return nil, err
	}
	out := &api.DeleteResourcePolicyOutput{}
	err = e.changePolicy(ctx, r, in.ExpectedRevisionId, func(d *catalog.Descriptor, current *catalog.Policy) {
		out.RevisionId = nil
		if current == nil {
			return
		}
		out.RevisionId = new(current.Revision)
		d.Policies = slices.DeleteFunc(d.Policies, func(p catalog.Policy) bool { return p.Stream == r.label })
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
