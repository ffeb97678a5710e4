package engine

import (
	"cmp"
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// UpdateContributorInsights enables contributor insights of a table or global index in one of their modes, or disables them. If
// there would be too many rules they become FAILED.
func (e *Engine) UpdateContributorInsights(ctx context.Context, in *api.UpdateContributorInsightsInput) (*api.UpdateContributorInsightsOutput, error) {
	on, mode := *in.ContributorInsightsAction == "ENABLE", cmp.Or(catalog.InsightsMode(valueOf(in.ContributorInsightsMode)), catalog.AccessedAndThrottled)
	var s insightsSetting
	var status string
	d, err := e.catalog.Change(ctx, *in.TableName, func(_ kv.Txn, d *catalog.Descriptor) (err error) {
		switch {
		case d.GoneAt != 0 && on:
			return apierr.InsightsTableNotActive.With()
		case d.GoneAt != 0:
			return apierr.TableNotFound.With(d.Name)
		}
		if err := e.checkRestored(d); err != nil {
			return err
		}
		if s, err = insightsOf(d, valueOf(in.IndexName)); err != nil {
			return err
		}
		now := e.options.Now()
		if on && d.Status(now) == catalog.StatusCreating {
			return apierr.InsightsTableNotActive.With()
		}
		if on && s.index != "" && d.Index(s.index).State != catalog.IndexActive {
			return apierr.InsightsIndexNotActive.With()
		}
		status = s.turn(on, mode, now, e.settledAt(now))
		if e.rulesElsewhere(&s)+len(s.rules()) > insightsRulesMax {
			s.refuse()
		}
		s.save(d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.hot.retain(e.catalog.Tables())
	return &api.UpdateContributorInsightsOutput{
		TableName: &d.Name, IndexName: in.IndexName, ContributorInsightsStatus: &status, ContributorInsightsMode: nonEmpty(s.Mode),
	}, nil
}
