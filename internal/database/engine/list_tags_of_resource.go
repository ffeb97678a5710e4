package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// ListTagsOfResource lists the tags of a table ordered by key, all in one response as AWS does. A token can only
// be invalid, and AWS ignores those.
func (e *Engine) ListTagsOfResource(ctx context.Context, in *api.ListTagsOfResourceInput) (*api.ListTagsOfResourceOutput, error) {
	name, err := e.catalog.NameOfResource(*in.ResourceArn)
	if err != nil {
		return nil, err
	}
	d, err := e.find(ctx, name)
	if err != nil {
		return nil, resourceError(err, *in.ResourceArn)
	}
	return &api.ListTagsOfResourceOutput{Tags: schema.DescribeTags(d.Tags)}, nil
}

// resourceError converts an error of the catalog for the tag operations, which name a missing table by its ARN.
func resourceError(err error, arn string) error {
	if isNotFound(err) {
		return apierr.ResourceNotFound.With(arn)
	}
	return err
}
