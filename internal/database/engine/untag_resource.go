package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// UntagResource removes tags of a table; keys without a tag are ignored. AWS's response body is empty.
func (e *Engine) UntagResource(ctx context.Context, in *api.UntagResourceInput) (*api.UntagResourceOutput, error) {
	name, err := e.catalog.NameOfResource(*in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.TagKeys) == 0 {
		return nil, apierr.NoTagKeys.With()
	}
	if err := schema.CheckTagKeys(in.TagKeys); err != nil {
		return nil, err
	}
	_, err = e.catalog.Change(ctx, name, func(_ kv.Txn, d *catalog.Descriptor) error {
		if err := e.checkTaggable(d); err != nil {
			return err
		}
		d.Tags = slices.DeleteFunc(d.Tags, func(t catalog.Tag) bool { return slices.Contains(in.TagKeys, t.Key) })
		return nil
	})
	if err != nil {
		return nil, resourceError(err, *in.ResourceArn)
	}
	return &api.UntagResourceOutput{}, nil
}
