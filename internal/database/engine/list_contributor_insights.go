package engine

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const listInsightsMax = 100

// ListContributorInsights lists the contributor insights settings that are not DISABLED, of a table and its global indexes, or of
// all tables, by name.
func (e *Engine) ListContributorInsights(ctx context.Context, in *api.ListContributorInsightsInput) (*api.ListContributorInsightsOutput, error) {
	limit := listInsightsMax
	if in.MaxResults != nil && *in.MaxResults > 0 {
		limit = int(*in.MaxResults)
	}
	afterTable, afterIndex, err := parseInsightsToken(in.NextToken)
	if err != nil {
		return nil, err
	}
	tables, err := e.insightsTables(ctx, in.TableName, afterTable, limit)
	if err != nil {
		return nil, err
	}
	now := e.options.Now()
	out := &api.ListContributorInsightsOutput{ContributorInsightsSummaries: []api.ContributorInsightsSummary{}}
	for _, d := range tables {
		for _, s := range insightsSettings(d) {
			if in.NextToken != nil && (s.table < afterTable || s.table == afterTable && s.index <= afterIndex) {
				continue
			}
			if s.Status(now) == "DISABLED" { // the same as never enabled
				continue
			}
			if n := len(out.ContributorInsightsSummaries); n == limit {
				last := &out.ContributorInsightsSummaries[n-1]
				out.NextToken = new(insightsToken(*last.TableName, valueOf(last.IndexName)))
				return out, nil
			}
			out.ContributorInsightsSummaries = append(out.ContributorInsightsSummaries, api.ContributorInsightsSummary{
				TableName: &d.Name, IndexName: nonEmpty(s.index),
				ContributorInsightsStatus: new(s.Status(now)), ContributorInsightsMode: nonEmpty(s.Mode),
			})
		}
	}
	return out, nil
}

// insightsTables returns enough tables for a page of at most limit settings: one, or those with settings from a name on.
func (e *Engine) insightsTables(ctx context.Context, nameOrARN *string, from string, limit int) ([]*catalog.Descriptor, error) {
	if nameOrARN != nil {
		d, err := e.find(ctx, *nameOrARN)
		if err != nil {
			return nil, err
		}
		return []*catalog.Descriptor{d}, nil
	}
	now := e.options.Now()
	var tables []*catalog.Descriptor
	for _, name := range slices.Sorted(maps.Keys(e.catalog.Tables())) {
		if name < from || len(tables) > limit+1 { // the first may have been listed, and one more shows that the list continues
			continue
		}
		d, err := e.catalog.Get(ctx, name)
		switch {
		case isNotFound(err): // deleted concurrently
		case err != nil:
			return nil, err
		case slices.ContainsFunc(insightsSettings(d), func(s insightsSetting) bool { return s.Status(now) != "DISABLED" }):
			tables = append(tables, d)
		}
	}
	return tables, nil
}

// insightsToken names the last setting of a page.
func insightsToken(table, index string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(table + "/" + index))
}

func parseInsightsToken(token *string) (table, index string, err error) {
	if token == nil {
		return "", "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*token)
	table, index, ok := strings.Cut(string(text), "/")
	if err != nil || !ok || !catalog.ValidName(table) {
		return "", "", apierr.InvalidNextToken.With()
	}
	return table, index, nil
}
