package query

import (
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Walk is the sequence of partitions of the periods between two bounds, grouped by period, in reading order. They are
// generated on demand: an open walk may cover very many.
type Walk struct {
	source *Source
	values schema.Values
	keys   [][]schema.KeyAttribute
	next   time.Time // start of the next period
	last   time.Time
	ended  bool
}

// Walks reports whether the source has a partition per period.
func (s *Source) Walks() bool { return s.over != "" }

// Walk starts a walk, at the period that another one reached; "" is the first one.
func (s *Source) Walk(in schema.Input, at string) (*Walk, error) {
	from, to, err := s.bounds(in)
	if err != nil {
		return nil, err
	}
	w := &Walk{source: s, values: in.Values, keys: s.spread(s.pk), next: period(from, s.over), last: period(to, s.over), ended: from.After(to)}
	s.Shards = len(w.keys)
	if !s.open {
		n := 0
		for next := w.next; !next.After(w.last) && !w.ended; next = s.following(next, 1) {
			if n++; n > s.maxBuckets {
				return nil, &schema.ValueError{Field: s.ranged, Reason: fmt.Sprintf("has bounds that are more than %d partitions apart", s.maxBuckets)}
			}
		}
	}
	if s.Reverse {
		w.next, w.last = w.last, w.next
	}
	if at == "" {
		return w, nil
	}
	start, err := keytext.ParseTime(at)
	if err != nil {
		return nil, schema.ErrCursor
	}
	w.next = start
	return w, nil
}

// Next returns the partitions of the next period, with its start; "" at the end.
func (w *Walk) Next() (at string, partitions []schema.Item, err error) {
	if w.ended {
		return "", nil, nil
	}
	if at, err = keytext.OfTime(w.next); err != nil {
		return "", nil, err
	}
	v := schema.Values{}
	maps.Copy(v, w.values)
	v[w.source.ranged] = &types.AttributeValueMemberS{Value: at}
	for _, key := range w.keys {
		partition, err := w.source.Entity.KeyOf(key, v)
		if err != nil {
			return "", nil, err
		}
		partitions = append(partitions, partition)
	}
	w.ended = w.next.Equal(w.last)
	if !w.ended {
		step := 1
		if w.source.Reverse {
			step = -1
		}
		w.next = w.source.following(w.next, step)
	}
	return at, partitions, nil
}

// Ended reports whether there are no more periods.
func (w *Walk) Ended() bool { return w.ended }

// bounds are the times between which a walk runs.
func (s *Source) bounds(in schema.Input) (from, to time.Time, err error) {
	var at [2]time.Time
	for i, bound := range []types.AttributeValue{in.From, in.To} {
		text, is := bound.(*types.AttributeValueMemberS)
		if !is {
			return from, to, &schema.ValueError{Field: s.ranged, Reason: "needs both bounds"}
		}
		if at[i], err = keytext.ParseTime(text.Value); err != nil {
			return from, to, &schema.ValueError{Field: s.ranged, Reason: err.Error()}
		}
	}
	return at[0], at[1], nil
}

// period is the start of the period of a time.
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

// following is the start of the period n periods after another, or before it.
func (s *Source) following(at time.Time, n int) time.Time {
	switch s.over {
	case "yyyy":
		return at.AddDate(n, 0, 0)
	case "yyyy-MM":
		return at.AddDate(0, n, 0)
	case "yyyy-MM-dd":
		return at.AddDate(0, 0, n)
	default:
		return at.Add(time.Duration(n) * time.Hour)
	}
}

// since adds the default bounds to a read that may be called without bounds: from its floor to now. Nothing before the floor
// is found in any case.
func since(r *schema.Read, in schema.Input, now time.Time) (schema.Input, error) {
	if !r.Open() {
		return in, nil
	}
	floor := r.Since
	if r.Back > 0 {
		text, err := keytext.OfTime(now.Add(-r.Back))
		if err != nil {
			return in, err
		}
		floor = text
	}
	if from, is := in.From.(*types.AttributeValueMemberS); in.From == nil || is && from.Value < floor {
		in.From = &types.AttributeValueMemberS{Value: floor}
	}
	if in.To == nil {
		text, err := keytext.OfTime(now)
		if err != nil {
			return in, err
		}
		in.To = &types.AttributeValueMemberS{Value: text}
	}
	return in, nil
}
