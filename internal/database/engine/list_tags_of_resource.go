package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// ListTagsOfResource tells the tags of a table in order of key, all at once as AWS does: there is no token that
// it could have given out.
func (e *Engine) ListTagsOfResource(ctx context.Context, in *api.ListTagsOfResourceInput) (*api.ListTagsOfResourceOutput, error) {
	name, err := e.catalog.NameOfResource(*in.ResourceArn)
	if err != nil {
		return nil, err
	}
	d, err := e.find(ctx, name)
	if err != nil {
		return nil, resourceError(err, *in.ResourceArn)
	}
	if in.NextToken != nil {
		return nil, apierr.InvalidNextToken.With()
	}
	return &api.ListTagsOfResourceOutput{Tags: schema.DescribeTags(d.Tags)}, nil
}

// resourceError is an error of the catalog as the operations on tags word it: they name a missing table by its ARN.
func resourceError(err error, arn string) error {
	if isNotFound(err) {
		return apierr.ResourceNotFound.With(arn)
	}
	return err
}
