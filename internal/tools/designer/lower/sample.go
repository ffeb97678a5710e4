package lower

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
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Invalid returns why a field cannot have the value of a constant: "is not one of open, paid"; "" if it can. Generated code
// decides the same.
func Invalid(d *design.Design, f *design.Field, c design.Constant) string {
	l := &lowerer{program: &Program{Design: d}, structs: map[string]*[]table.Field{}}
	run := l.fields([]*design.Field{f})[0]
	err := run.Type.CheckValue(f.Name, constant(c), run.MinBytes, run.MaxBytes)
	if wrong, is := errors.AsType[*table.ValueError](err); is {
		for stored, called := range map[string]string{"S": "a text", "N": "a number", "BOOL": "a boolean"} {
			if rest, is := strings.CutPrefix(wrong.Reason, "is a value of type "+stored+", "); is {
				return "is " + called + ", " + rest
			}
		}
		return wrong.Reason
	}
	return ""
}

// Entities compiles only a design's entities.
func Entities(d *design.Design) *Program {
	l := newLowerer(d)
	l.items()
	return l.program
}

// Sample returns the values of a sample. The error is design.Errors: each value that does not fit its field, with its position. Its
// message begins with the field.
func (p *Program) Sample(s *design.Sample, now time.Time) (table.Values, error) {
	e := p.Design.Entity(s.Entity)
	out := table.Values{}
	var faults design.Errors
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		v, err := Value(p.Design, e.Field(name).Type, s.Values[name])
		if err != nil {
			faults = append(faults, sampleFault(p.Design, s, name, err.Error()))
		} else if v != nil {
			out[name] = v
		}
	}
	Expire(e, out, now)
	if len(faults) > 0 {
		return nil, faults
	}
	if _, err := table.Items(p.Entity(e.Name), out); err != nil {
		wrong, is := errors.AsType[*table.ValueError](err)
		if !is {
			return nil, err
		}
		return nil, design.Errors{sampleFault(p.Design, s, wrong.Field, wrong.Reason)}
	}
	return out, nil
}

// Expire sets the expiry time of an item that has none, if the design declares the lifetime.
func Expire(e *design.Entity, values table.Values, now time.Time) {
	if ttl := e.TTL; ttl != nil && ttl.After > 0 && values[ttl.Field] == nil {
		values[ttl.Field] = &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(ttl.After).Unix())}
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
	return &design.Error{Source: d.Source, Pos: at, Message: path + " " + reason}
}

// Lossy returns what a put of an entity's item cannot maintain, because it does not know the item that it overwrites; "" if
// nothing.
func Lossy(d *design.Design, e *design.Entity) string {
	for _, c := range e.Copies {
		fields := slices.Concat(c.Key.PK.Fields(), fieldsOf(c.Key.SK))
		if slices.ContainsFunc(fields, func(f string) bool { return !slices.Contains(plan.KeyFields(e), f) }) {
			return "copy " + c.Name
		}
	}
	for _, m := range e.Unique {
		return "marker " + m.Name
	}
	for _, holder := range d.Entities {
		for _, c := range holder.Counters {
			if c.Of == e.Name {
				return "counter " + holder.Name + "." + c.Field
			}
		}
	}
	if len(e.Counters) > 0 {
		return "its own counters"
	}
	return ""
}
