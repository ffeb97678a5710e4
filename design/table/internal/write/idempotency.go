package write

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// requestField is the field of an idempotency record with the fingerprint of the request.
const requestField = "request"

// record is the creation of the idempotency record.
func (r *Call) record() (*change, error) {
	e := r.Write.Idempotent.Record
	knownFields := r.knownFields()
	v := make(schema.Values, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		value, err := r.recorded(f, knownFields)
		if err != nil {
			return nil, schema.Named("idempotency record", err)
		}
		if value != nil {
			v[f.Name] = value
		}
	}
	if err := e.Check(v); err != nil {
		return nil, schema.Named("idempotency record", err)
	}
	primary, err := e.KeyOf(e.Key, v)
	if err != nil {
		return nil, schema.Named("idempotency record", err)
	}
	return &change{
		call: r, number: -1, line: -1, action: schema.Create, refusedAs: schema.Create, entity: e, values: v, primary: primary,
		in: schema.Inputs{Values: r.Input.Values, Now: r.now},
	}, nil
}

// knownFields are fields of the items that the write touches once, by name: all fields of created items, otherwise key fields. The
// first occurrence counts.
func (r *Call) knownFields() schema.Values {
	out := schema.Values{}
	for _, creates := range []bool{true, false} {
		for _, c := range r.changes {
			if c.line >= 0 || creates != (c.action == schema.Create || c.action == schema.Put) {
				continue
			}
			own := maps.Clone(c.values)
			maps.Copy(own, out)
			out = own
		}
	}
	return out
}

// recorded is the value of a record's field.
func (r *Call) recorded(f *schema.Field, knownFields schema.Values) (types.AttributeValue, error) {
	ttl := r.Write.Idempotent.Record.TTL
	switch v := r.Input.Values[f.Name]; {
	case f.Name == requestField:
		return &types.AttributeValueMemberS{Value: r.fingerprint()}, nil
	case v != nil:
		return v, nil
	case knownFields[f.Name] != nil:
		return knownFields[f.Name], nil
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		return nowAs(f.Type.Kind, f.Name, r.now.Add(ttl.After))
	case f.Type.Kind == schema.KindTime || f.Type.Kind == schema.KindDate:
		return nowAs(f.Type.Kind, f.Name, r.now)
	case f.Optional || f.Counter || f.Type.Kind.Collection():
		return nil, nil //nolint:nilnil // an optional field without a value is absent
	default:
		return nil, schema.Missing(f.Name)
	}
}

// fingerprint is the same for requests of one write with equal inputs, as the design compares them: the SHA-256, in
// hexadecimal, of the write's name and the inputs' names and canonical forms.
func (r *Call) fingerprint() string {
	b := schema.AppendText(nil, schema.TagText, r.Write.Pattern)
	for _, name := range r.Write.Idempotent.Request {
		b = schema.AppendText(b, schema.TagText, name)
		if name != "lines" {
			b = schema.AppendValue(b, r.Input.Values[name])
			continue
		}
		b = schema.AppendValue(b, &types.AttributeValueMemberL{Value: schema.Each(r.Input.Lines, given)})
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isRecord reports whether the change is the creation of an idempotency record.
func (c *change) isRecord() bool { return c.number < 0 && c.action == schema.Create }

// replay takes the record of a first request that this one repeats. It is an error if that was a different request.
func (a *Attempt) replay(e *effect, old schema.Item) error {
	v := e.entity.ValuesOf(old)
	if i := e.call.Write.Idempotent; len(i.Request) > 0 && !schema.SameValue(v[requestField], e.values[requestField]) {
		return a.refusal(e, errorOr(i.Reused, schema.ErrReused), old)
	}
	a.replayed[e.call] = v
	return nil
}

// isRepetition reports whether the record of a first request was found.
func (a *Attempt) isRepetition() bool { return len(a.replayed) > 0 }

// repetition is the outcome of a repetition, which does nothing. A call that keeps no record has no outcome.
func (a *Attempt) repetition() []schema.Outcome {
	return schema.Each(a.given, func(r *Call) schema.Outcome { return schema.Outcome{Replayed: true, Record: a.replayed[r]} })
}
