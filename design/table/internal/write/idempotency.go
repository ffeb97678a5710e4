package write

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// requestField is the field of an idempotency record that has the fingerprint of the request.
const requestField = "request"

// record is the creation of the idempotency record.
func (r *Call) record() (*change, error) {
	e := r.Write.Idempotent.Record
	told := r.told()
	v := make(schema.Values, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		value, err := r.recorded(f, told)
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
		number: -1, line: -1, action: schema.Create, refusedAs: schema.Create, entity: e, values: v, primary: primary,
		in: schema.Inputs{Values: r.Input.Values, Now: r.now},
	}, nil
}

// told are fields of the items that the write is about once, by name: all of those that are created, else those of their
// keys. What stands first counts.
func (r *Call) told() schema.Values {
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
func (r *Call) recorded(f *schema.Field, told schema.Values) (types.AttributeValue, error) {
	ttl := r.Write.Idempotent.Record.TTL
	switch v := r.Input.Values[f.Name]; {
	case f.Name == requestField:
		return &types.AttributeValueMemberS{Value: r.Fingerprint()}, nil
	case v != nil:
		return v, nil
	case told[f.Name] != nil:
		return told[f.Name], nil
	case ttl != nil && ttl.Field == f.Name && ttl.After > 0:
		return nowAs(f.Type.Kind, f.Name, r.now.Add(ttl.After))
	case f.Type.Kind == schema.KindTime || f.Type.Kind == schema.KindDate:
		return nowAs(f.Type.Kind, f.Name, r.now)
	case f.Optional || f.Counter || f.Type.Kind.Collection():
		return nil, nil //nolint:nilnil // an optional field that nothing gives is absent
	default:
		return nil, schema.Missing(f.Name)
	}
}

// Fingerprint is the same for requests of one write whose inputs are the same, as far as the design compares them: the
// SHA-256, in hexadecimal digits, of the write's name and the inputs' canonical forms with their names.
func (r *Call) Fingerprint() string {
	b := schema.AppendText(nil, schema.TagText, r.Write.Pattern)
	for _, name := range r.Write.Idempotent.Request {
		b = schema.AppendText(b, schema.TagText, name)
		if name != "lines" {
			b = schema.AppendValue(b, r.Input.Values[name])
			continue
		}
		lines := schema.Each(r.Input.Lines, func(line schema.Values) types.AttributeValue {
			given := maps.Clone(line)
			maps.DeleteFunc(given, func(_ string, v types.AttributeValue) bool { return v == nil })
			return &types.AttributeValueMemberM{Value: given}
		})
		b = schema.AppendValue(b, &types.AttributeValueMemberL{Value: lines})
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// replay answers a repetition by the record of the first request.
func (a *Attempt) replay(e *effect, old schema.Item) (schema.Outcome, error) {
	v := e.entity.ValuesOf(old)
	if len(a.Write.Idempotent.Request) > 0 && !schema.SameValue(v[requestField], e.values[requestField]) {
		return schema.Outcome{}, a.refusal(e, errorOr(a.Write.Idempotent.Reused, schema.ErrReused), old)
	}
	return schema.Outcome{Replayed: true, Record: v}, nil
}
