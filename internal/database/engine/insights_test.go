package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// printRankings prints the rankings of a table and its indexes, one key per line.
func printRankings(ctx context.Context, e *engine.Engine, table string) (string, error) {
	all, err := e.Insights(ctx, table)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, r := range all {
		fmt.Fprintf(&out, "%s index %q\n", r.Mode, r.Index)
		for _, ranking := range []struct {
			name  string
			ranks []insights.Rank
		}{
			{"accessed partition", r.AccessedPartitions},
			{"accessed", r.AccessedItems},
			{"throttled partition", r.ThrottledPartitions},
			{"throttled", r.ThrottledItems},
		} {
			for _, rank := range ranking.ranks {
				fmt.Fprintf(&out, "  %s %v %v\n", ranking.name, rank.Key, rank.Amount)
			}
		}
	}
	return out.String(), nil
}

// TestRulesHaveAQuota: insights beyond CloudWatch's quota become FAILED, and can be enabled when there is room.
func TestRulesHaveAQuota(t *testing.T) {
	e, err := engine.Open(t.Context(), memkv.New(), engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	do := func(directive, body string) string {
		t.Helper()
		out, err := perform(t.Context(), e, directive, body)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	change := func(table, action string) string {
		t.Helper()
		do("update-contributor-insights", `{"TableName": "`+table+`", "ContributorInsightsAction": "`+action+`"}`)
		return do("describe-contributor-insights", `{"TableName": "`+table+`"}`)
	}
	const tables = 51 // two rules each
	for i := range tables {
		table := fmt.Sprintf("T%02d", i)
		do("create-table", `{"TableName": "`+table+`", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
			"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}`)
		want := `"ContributorInsightsStatus": "ENABLED"`
		if i == tables-1 {
			want = `"ExceptionName": "LimitExceededException"`
		}
		if got := change(table, "ENABLE"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	change("T00", "DISABLE")
	if got := change("T50", "ENABLE"); !strings.Contains(got, `"ContributorInsightsStatus": "ENABLED"`) {
		t.Errorf("with room again: %s", got)
	}
}

// TestInsightsOfCreatingTable: insights can only be enabled once the table is ACTIVE (DDB-TABLE-442).
func TestInsightsOfCreatingTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TTLInterval: -1, TableDelay: 10 * time.Second})
		createTable(t, e, musicTable())
		in := &api.UpdateContributorInsightsInput{TableName: new("Music"), ContributorInsightsAction: new("ENABLE")}
		_, err := e.UpdateContributorInsights(t.Context(), in)
		if err == nil || !strings.HasSuffix(err.Error(), "TableStatus must be ACTIVE to enable ContributorInsights.") {
			t.Errorf("of a table that is being created: %v", err)
		}
		advance(10 * time.Second)
		if _, err := e.UpdateContributorInsights(t.Context(), in); err != nil {
			t.Error(err)
		}
	})
}

// TestSettingsOfUnsettledTable: which settings a table has, and can get, while it is being created or deleted (DDB-TABLE-101, 104,
// 111, 374 and 455).
func TestSettingsOfUnsettledTable(t *testing.T) {
	const (
		target   = `{"TableName":"Music"`
		resource = `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Music"`
		inUse    = "ResourceInUseException: Attempt to change a resource which is still in use: Table is being "
	)
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TTLInterval: -1, TableDelay: 10 * time.Second})
		expect := func(directive, body, want string) {
			t.Helper()
			got, err := perform(t.Context(), e, directive, body)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, want %s", directive, body, got, want)
			}
		}
		createTable(t, e, musicTable())
		expect("tag-resource", resource+`,"Tags":[{"Key":"a","Value":"b"}]}`, inUse+"created: Music")
		expect("untag-resource", resource+`,"TagKeys":["a"]}`, "{}")
		expect("describe-continuous-backups", target+`}`, `"ContinuousBackupsStatus": "DISABLED"`)
		advance(10 * time.Second)
		expect("tag-resource", resource+`,"Tags":[{"Key":"a","Value":"b"}]}`, "{}")
		expect("describe-continuous-backups", target+`}`, `"ContinuousBackupsStatus": "ENABLED"`)
		if _, err := e.DeleteTable(t.Context(), &api.DeleteTableInput{TableName: new("Music")}); err != nil {
			t.Fatal(err)
		}
		expect("tag-resource", resource+`,"Tags":[{"Key":"a","Value":"b"}]}`, "{}")
		expect("tag-resource", resource+`,"Tags":[{"Key":"a","Value":"c"}]}`, inUse+"deleted: Music")
		expect("update-contributor-insights", target+`,"ContributorInsightsAction":"ENABLE"}`, "TableStatus must be ACTIVE")
	})
}

// TestInsightsOfChangingIndex: insights can only be enabled while the index is ACTIVE.
func TestInsightsOfChangingIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{TTLInterval: -1, TableDelay: 10 * time.Second})
		createTable(t, e, musicTable())
		advance(10 * time.Second)
		createIndex(t, e, "b")
		in := &api.UpdateContributorInsightsInput{TableName: new("Music"), IndexName: new("b"), ContributorInsightsAction: new("ENABLE")}
		var refusals []string
		for range 12 {
			if _, err := e.UpdateContributorInsights(t.Context(), in); err != nil && !slices.Contains(refusals, err.Error()) {
				refusals = append(refusals, err.Error())
			}
			advance(time.Second)
		}
		if diff := cmp.Diff([]string{
			"ResourceNotFoundException: Requested resource not found: Index: b not found for table: Music",
		}, refusals); diff != "" {
			t.Error(diff)
		}
		if _, err := e.UpdateContributorInsights(t.Context(), in); err != nil {
			t.Error(err)
		}
		_, err := e.UpdateTable(t.Context(), &api.UpdateTableInput{
			TableName:                   new("Music"),
			GlobalSecondaryIndexUpdates: []api.GlobalSecondaryIndexUpdate{{Delete: &api.DeleteGlobalSecondaryIndexAction{IndexName: new("b")}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.UpdateContributorInsights(t.Context(), in)
		if err == nil || !strings.HasSuffix(err.Error(), "IndexStatus must be ACTIVE to enable ContributorInsights.") {
			t.Errorf("of an index that is being deleted: %v", err)
		}
	})
}
