package query

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// walk are the partitions of the periods from bound to bound, in the order in which they are read: those of one period together.
func (s *Source) walk(in schema.Input) ([]schema.Item, error) {
	starts, err := s.periods(in)
	if err != nil {
		return nil, err
	}
	var out []schema.Item
	keys := s.spread(s.pk)
	s.Shards = len(keys)
	for _, start := range starts {
		v := maps.Clone(in.Values)
		v[s.ranged] = &types.AttributeValueMemberS{Value: start}
		for _, key := range keys {
			partition, err := s.Entity.KeyOf(key, v)
			if err != nil {
				return nil, err
			}
			out = append(out, partition)
		}
	}
	return out, nil
}

// periods are a time of each period between the bounds; none where these are the wrong way round.
func (s *Source) periods(in schema.Input) ([]string, error) {
	var at [2]time.Time
	for i, bound := range []types.AttributeValue{in.From, in.To} {
		text, is := bound.(*types.AttributeValueMemberS)
		if !is {
			return nil, &schema.ValueError{Field: s.ranged, Reason: "needs both bounds: it is walked from one to the other"}
		}
		var err error
		if at[i], err = keytext.ParseTime(text.Value); err != nil {
			return nil, &schema.ValueError{Field: s.ranged, Reason: err.Error()}
		}
	}
	var out []string
	for next := period(at[0], s.over); !next.After(at[1]) && !at[0].After(at[1]); next = following(next, s.over) {
		if len(out) == s.maxBuckets {
			return nil, &schema.ValueError{Field: s.ranged, Reason: fmt.Sprintf("has bounds that are more than %d partitions apart", s.maxBuckets)}
		}
		text, err := keytext.OfTime(next)
		if err != nil {
			break // behind the last year
		}
		out = append(out, text)
	}
	if s.Reverse {
		slices.Reverse(out)
	}
	return out, nil
}

// period is the beginning of a time's period.
func period(at time.Time, layout string) time.Time {
	at = at.UTC()
	month, day, hour := at.Month(), at.Day(), at.Hour()
	switch layout {
	case "yyyy":
		month, day, hour = time.January, 1, 0
	case "yyyy-MM":
		day, hour = 1, 0
	case "yyyy-MM-dd":
		hour = 0
	}
	return time.Date(at.Year(), month, day, hour, 0, 0, 0, time.UTC)
}

// following is the beginning of the next period.
func following(at time.Time, layout string) time.Time {
	switch layout {
	case "yyyy":
		return at.AddDate(1, 0, 0)
	case "yyyy-MM":
		return at.AddDate(0, 1, 0)
	case "yyyy-MM-dd":
		return at.AddDate(0, 0, 1)
	default:
		return at.Add(time.Hour)
	}
}
