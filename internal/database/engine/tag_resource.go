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

// checkTaggable rejects a table that is being restored or imported, which AWS does not find.
func (e *Engine) checkTaggable(d *catalog.Descriptor) error {
	if d.Importing {
		return apierr.TableNotFound.With(d.Name)
	}
	return e.checkRestored(d)
}

// TagResource sets tags of a table. While the table is being created or deleted, it only accepts tags that the table has. AWS's
// response body is empty.
func (e *Engine) TagResource(ctx context.Context, in *api.TagResourceInput) (*api.TagResourceOutput, error) {
	name, err := e.catalog.NameOfResource(*in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, apierr.NoTags.With()
	}
	if err := schema.CheckTags(in.Tags); err != nil {
		return nil, err
	}
	_, err = e.catalog.Change(ctx, name, func(_ kv.Txn, d *catalog.Descriptor) error {
		if err := e.checkTaggable(d); err != nil {
			return err
		}
		merged, err := schema.MergeTags(d.Tags, in.Tags)
		if err != nil || slices.Equal(merged, d.Tags) {
			return err
		}
		d.Tags = merged
		return e.checkSettled(d, e.options.Now(), true)
	})
	if err != nil {
		return nil, resourceError(err, *in.ResourceArn)
	}
	return &api.TagResourceOutput{}, nil
}
