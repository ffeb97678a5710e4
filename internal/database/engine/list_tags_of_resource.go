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
	name, err := e.tagged(ctx, *in.ResourceArn)
	if err != nil {
		return nil, err
	}
	d, err := e.catalog.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if in.NextToken != nil {
		return nil, apierr.InvalidNextToken.With()
	}
	return &api.ListTagsOfResourceOutput{Tags: schema.DescribeTags(d.Tags)}, nil
}

// tagged returns the name of the table that a ResourceArn names, which must be there.
func (e *Engine) tagged(ctx context.Context, text string) (string, error) {
	name, err := e.catalog.NameOfResource(text)
	if err != nil {
		return "", err
	}
	if _, err := e.catalog.Get(ctx, name); err != nil {
		if isNotFound(err) {
			return "", apierr.ResourceNotFound.With(text)
		}
		return "", err
	}
	return name, nil
}
