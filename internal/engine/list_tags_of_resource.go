package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/dynamo/api"
	"github.com/monotable/monotable/internal/dynamo/apierr"
	"github.com/monotable/monotable/internal/engine/catalog"
)

// tagsPage is how many tags one answer holds.
const tagsPage = 10

// ListTagsOfResource tells the tags of a table in order of key, a page at a time. The token of the next page
// is the last key told.
func (e *Engine) ListTagsOfResource(ctx context.Context, in *api.ListTagsOfResourceInput) (*api.ListTagsOfResourceOutput, error) {
	name, err := e.tagged(ctx, *in.ResourceArn)
	if err != nil {
		return nil, err
	}
	d, err := e.catalog.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	tags := d.Tags
	if in.NextToken != nil {
		i, found := slices.BinarySearchFunc(tags, *in.NextToken, func(t catalog.Tag, key string) int { return strings.Compare(t.Key, key) })
		if !found {
			return nil, apierr.Validation("Invalid NextToken provided as input")
		}
		tags = tags[i+1:]
	}
	out := &api.ListTagsOfResourceOutput{Tags: describeTags(tags[:min(len(tags), tagsPage)])}
	if len(tags) > tagsPage {
		out.NextToken = &tags[tagsPage-1].Key
	}
	return out, nil
}

// tagged returns the name of the table that a ResourceArn names, which must be there.
func (e *Engine) tagged(ctx context.Context, text string) (string, error) {
	name, err := e.catalog.NameOfResource(text)
	if err != nil {
		return "", err
	}
	if _, err := e.catalog.Get(ctx, name); err != nil {
		if isNotFound(err) {
			return "", apierr.ResourceNotFoundByARN(text)
		}
		return "", err
	}
	return name, nil
}
