package trial

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// samplesOf are the samples of a design as records. The error is design.Errors: each value that does not match its field's
// type, with its position.
func samplesOf(p *lower.Program, now time.Time) ([]*record, error) {
	var out []*record
	var faults design.Errors
	for _, s := range p.Design.Samples {
		values, err := p.Sample(s, now)
		if wrong, is := errors.AsType[design.Errors](err); is {
			for _, f := range wrong {
				f.Message = "sample of " + s.Entity + ": " + f.Message
				faults = append(faults, f)
			}
			continue
		} else if err != nil {
			return nil, err
		}
		r := newRecord(p, p.Design.Entity(s.Entity))
		r.values = values
		out = append(out, r)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
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
