package table

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// requestField is the field of an idempotency record that has the fingerprint of the request.
const requestField = "request"

// record is the creation of the idempotency record.
func (r *writing) record() (*change, error) {
	e := r.w.Idempotent.Record
	told := r.told()
	v := make(Values, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		value, err := r.recorded(f, told)
		if err != nil {
			return nil, named("idempotency record", err)
		}
		if value != nil {
			v[f.Name] = value
		}
	}
	if err := e.check(v); err != nil {
		return nil, named("idempotency record", err)
	}
	primary, err := e.keyOf(e.Key, v)
	if err != nil {
		return nil, named("idempotency record", err)
	}
	return &change{
		number: -1, line: -1, action: Create, refusedAs: Create, entity: e, values: v, primary: primary,
		in: inputs{values: r.in.Values, now: r.now},
	}, nil
}

// told are fields of the items that the write is about once, by name: all of those that are created, else those of their
// keys. What stands first counts.
func (r *writing) told() Values {
	out := Values{}
	for _, creates := range []bool{true, false} {
		for _, c := range r.changes {
			if c.line >= 0 || creates != (c.action == Create || c.action == Put) {
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
func (r *writing) recorded(f *Field, told Values) (types.AttributeValue, error) {
	ttl := r.w.Idempotent.Record.TTL
	switch v := r.in.Values[f.Name]; {
	case f.Name == requestField:
		return &types.AttributeValueMemberS{Value: r.fingerprint()}, nil
	case v != nil:
		return v, nil
	case told[f.Name] != nil:
		return told[f.Name], nil
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		return nowAs(f.Type.Kind, f.Name, r.now.Add(ttl.After))
	case f.Type.Kind == kindTime || f.Type.Kind == kindDate:
		return nowAs(f.Type.Kind, f.Name, r.now)
	case f.Optional || f.Counter || f.Type.Kind.collection():
		return nil, nil //nolint:nilnil // an optional field that nothing gives is absent
	default:
		return nil, missing(f.Name)
	}
}

// fingerprint is the same for requests of one write whose inputs are the same, as far as the design compares them: the
// SHA-256, in hexadecimal digits, of the write's name and the inputs' canonical forms with their names.
func (r *writing) fingerprint() string {
	b := appendText(nil, tagText, r.w.Pattern)
	for _, name := range r.w.Idempotent.Request {
		b = appendText(b, tagText, name)
		if name != "lines" {
			b = appendValue(b, r.in.Values[name])
			continue
		}
		lines := each(r.in.Lines, func(line Values) types.AttributeValue {
			given := maps.Clone(line)
			maps.DeleteFunc(given, func(_ string, v types.AttributeValue) bool { return v == nil })
			return &types.AttributeValueMemberM{Value: given}
		})
		b = appendValue(b, &types.AttributeValueMemberL{Value: lines})
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// replay answers a repetition by the record of the first request.
func (a *attempt) replay(e *effect, old Item) (Outcome, error) {
	v := e.entity.valuesOf(old)
	if len(a.w.Idempotent.Request) > 0 && !equal(v[requestField], e.values[requestField]) {
		return Outcome{}, a.refusal(e, errorOr(a.w.Idempotent.Reused, ErrReused), old)
	}
	return Outcome{Replayed: true, Record: v}, nil
}
