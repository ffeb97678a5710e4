package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/policy"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// noPolicy is the expected revision of a resource without a policy.
const noPolicy = "NO_POLICY"

// policyResource is what a policy can be attached to: a table or one of its streams.
type policyResource struct {
	arn   string
	kind  policy.Kind
	table string // its name
	label string // the stream's; "" for the table
}

// policyResource returns the resource of an ARN, which must exist.
func (e *Engine) policyResource(ctx context.Context, text string) (policyResource, error) {
	arn, ok := catalog.ParseARN(text)
	switch {
	case ok && arn.Account != e.options.AccountID:
		return policyResource{}, apierr.RestoreSourceForeign.With()
	case ok && (arn.Region != e.options.Region || !arn.Native()):
		return policyResource{}, apierr.PolicyResourceElsewhere.With(text)
	}
	if !ok || !strings.HasPrefix(arn.Rest, "/stream/") {
		name, err := e.catalog.NameOfResource(text)
		if err == nil {
			_, err = e.find(ctx, name)
		}
		return policyResource{arn: text, kind: policy.Table, table: name}, err
	}
	table, label, err := e.catalog.ParseStreamARN(text)
	if err != nil {
		return policyResource{}, err
	}
	id, err := e.findStream(ctx, text)
	if isNotFound(err) {
		err = apierr.PolicyStreamNotFound.With(label, table)
	}
	if err != nil {
		return policyResource{}, err
	}
	if d, err := e.catalog.Get(ctx, table); isNotFound(err) || err == nil && d.ID != id.table { // the table has been deleted
		return policyResource{}, apierr.PolicyStreamNotFound.With(label, table)
	} else if err != nil {
		return policyResource{}, err
	}
	return policyResource{arn: text, kind: policy.Stream, table: table, label: label}, nil
}

// changePolicy changes the policies of a resource's table if the resource's policy has the expected revision. It also removes the
// policies of streams that no longer exist.
func (e *Engine) changePolicy(ctx context.Context, r policyResource, expected *string, edit func(d *catalog.Descriptor, current *catalog.Policy)) error {
	streams, err := e.streams(ctx)
	if err != nil {
		return err
	}
	_, err = e.catalog.Change(ctx, r.table, func(_ kv.Txn, d *catalog.Descriptor) error {
		if err := e.checkSettled(d, e.options.Now(), !d.Global.Settling()); err != nil {
			return err
		}
		d.Policies = slices.DeleteFunc(d.Policies, func(p catalog.Policy) bool {
			return p.Stream != "" && p.Stream != d.Stream.Label && !hasStream(streams, d.ID, p.Stream)
		})
		current := d.Policy(r.label)
		if expected != nil && !hasRevision(current, *expected) {
			if current == nil {
				return apierr.PolicyNoRevision.With(*expected, r.table)
			}
			return apierr.PolicyOtherRevision.With(*expected, r.table)
		}
		edit(d, current)
		return nil
	})
	return err
}

func hasRevision(p *catalog.Policy, expected string) bool {
	if p == nil {
		return expected == noPolicy
	}
	return p.Revision == expected
}

// nextRevision returns the revision of a policy that replaces another: the time in milliseconds, but greater than before.
func (e *Engine) nextRevision(before *catalog.Policy) string {
	now := e.options.Now().UnixMilli()
	if before != nil {
		if last, err := strconv.ParseInt(before.Revision, 10, 64); err == nil {
			now = max(now, last+1)
		}
	}
	return strconv.FormatInt(now, 10)
}

// hasStream reports whether a stream of a table can still be read.
func hasStream(streams []*stream.Stream, table keyenc.TableID, label string) bool {
	return slices.ContainsFunc(streams, func(s *stream.Stream) bool { return s.Table == table && s.Label == label })
}
