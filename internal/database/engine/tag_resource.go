package engine

import (
	"context"

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

// TagResource sets tags of a table. AWS's response body is empty.
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
		var err error
		d.Tags, err = schema.MergeTags(d.Tags, in.Tags)
		return err
	})
	if err != nil {
		return nil, resourceError(err, *in.ResourceArn)
	}
	return &api.TagResourceOutput{}, nil
}
