package trial

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// samplesOf are the samples of a design as records. The error is design.Errors: each value that does not match its field's
// type, with its position.
func samplesOf(p *lower.Program, now time.Time) ([]*record, error) {
	var out []*record
	var faults design.Errors
	for _, s := range p.Design.Samples {
		r := newRecord(p, p.Design.Entity(s.Entity))
		before := len(faults)
		for _, name := range slices.Sorted(maps.Keys(s.Values)) {
			f := r.entity.Field(name)
			v, err := lower.Value(p.Design, f.Type, s.Values[name])
			if err != nil {
				faults = append(faults, sampleFault(p.Design, s, name, err.Error()))
			} else if v != nil {
				r.values[name] = v
			}
		}
		r.expire(now)
		if len(faults) > before {
			continue
		}
		if _, err := table.Items(r.run, r.values); err != nil {
			wrong, is := errors.AsType[*table.ValueError](err)
			if !is {
				return nil, err
			}
			faults = append(faults, sampleFault(p.Design, s, wrong.Field, wrong.Reason))
			continue
		}
		out = append(out, r)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

// expire sets the expiry time of a record that has none, if the design declares the lifetime.
func (r *record) expire(now time.Time) {
	if ttl := r.entity.TTL; ttl != nil && ttl.After > 0 && r.values[ttl.Field] == nil {
		r.values[ttl.Field] = numberValue(fmt.Sprint(now.Add(ttl.After).Unix()))
	}
}

// sampleFault is an error at the value of a field, or at the sample if the value is missing.
func sampleFault(d *design.Design, s *design.Sample, path, reason string) *design.Error {
	root, _, _ := strings.Cut(path, ".")
	root, _, _ = strings.Cut(root, "[")
	at := s.Pos
	if v, given := s.Values[root]; given {
		at = v.Pos
	}
	return &design.Error{Source: d.Source, Pos: at, Message: fmt.Sprintf("sample of %s: %s %s", s.Entity, path, reason)}
}

// setValue is a set of scalars of a type.
func setValue(elem design.Type, members []types.AttributeValue) types.AttributeValue {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = scalarText(m)
	}
	switch {
	case elem.Numeric():
		return &types.AttributeValueMemberNS{Value: texts}
	case elem.Kind == design.KindBytes:
		set := &types.AttributeValueMemberBS{}
		for _, s := range texts {
			set.Value = append(set.Value, []byte(s))
		}
		return set
	default:
		return &types.AttributeValueMemberSS{Value: texts}
	}
}

// timeText is a time in stored form.
func timeText(at time.Time) string { return at.UTC().Format(keytext.TimeLayout) }
