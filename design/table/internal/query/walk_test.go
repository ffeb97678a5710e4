package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// TestPeriods tests that a walk has every period that overlaps the bounds, in its order.
func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		over, from, to string
		reverse        bool
		want           string
	}{
		{"yyyy", "2023-12-31T23:59:59.999Z", "2025-01-01T00:00:00.000Z", false, "2023 2024 2025"},
		{"yyyy-MM", "2024-01-31T10:00:00.000Z", "2024-03-01T00:00:00.000Z", true, "2024-03 2024-02 2024-01"},
		{"yyyy-MM-dd", "2024-02-28T10:00:00.000Z", "2024-03-01T09:00:00.000Z", false, "2024-02-28 2024-02-29 2024-03-01"},
		{"yyyy-MM-ddTHH", "2024-02-28T23:30:00.000Z", "2024-02-29T00:30:00.000Z", true, "2024-02-29T00 2024-02-28T23"},
		{"yyyy-MM-dd", "2024-02-28T10:00:00.000Z", "2024-02-28T10:00:00.000Z", false, "2024-02-28"},
		{"yyyy-MM-dd", "2024-02-28T10:00:00.000Z", "2024-02-28T09:00:00.000Z", false, ""},
		{"yyyy", "9998-02-28T10:00:00.000Z", "9999-12-28T10:00:00.000Z", false, "9998 9999"},
		{"yyyy-MM-dd", "2024-02-28T10:00:00.000Z", "2024-03-02T00:00:00.000Z", false, "at has bounds that are more than 3 partitions apart"},
		{"yyyy-MM-dd", "", "2024-03-02T00:00:00.000Z", false, "at needs both bounds"},
		{"yyyy-MM-dd", "2024-03-02T00:00:00.000Z", "", false, "at needs both bounds"},
	} {
		s := &Source{over: c.over, maxBuckets: 3, ranged: "at", Reverse: c.reverse}
		in := schema.Input{}
		for text, to := range map[*string]*types.AttributeValue{&c.from: &in.From, &c.to: &in.To} {
			if *text != "" {
				*to = &types.AttributeValueMemberS{Value: *text}
			}
		}
		s.Entity = &schema.Entity{}
		w, err := s.Walk(in, "")
		got := []string{}
		for err == nil {
			var at string
			if at, _, err = w.Next(); at == "" {
				break
			}
			got = append(got, at[:len(c.over)])
		}
		if _, is := errors.AsType[*schema.ValueError](err); is {
			got = []string{err.Error()}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s from %s to %s: %s", c.over, c.from, c.to, diff)
		}
	}
}
