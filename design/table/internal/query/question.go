package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Question is a read with validated input.
type Question struct {
	Read  *schema.Read
	Input schema.Input
	// at are the values of the filter's parameters.
	at    schema.Inputs
	equal Filled
	Span  span
	// Here is set if this package evaluates the filter instead of the request.
	Here bool
}

// NewQuestion returns the question of a read, after validating the input.
func NewQuestion(r *schema.Read, in schema.Input, now time.Time) (*Question, error) {
	in, err := since(r, in, now)
	if err != nil {
		return nil, err
	}
	q := &Question{Read: r, Input: in, at: schema.Inputs{Values: in.Values, Now: now}}
	for _, name := range q.inputs() {
		f := r.Entity.Field(name)
		switch {
		case in.Values[name] == nil:
			return nil, schema.Missing(name)
		case f == nil:
			continue // a fault of the descriptor, which the keys will report
		}
		if err := f.Type.CheckValue(name, in.Values[name], f.MinBytes, f.MaxBytes); err != nil {
			return nil, err
		}
	}
	if q.equal, err = Fill(r.Entity, known(r), r.By, r.Bucket, in.Values); err != nil {
		return nil, err
	}
	q.Span, err = spanOf(r, in)
	return q, err
}

// inputs are the required fields.
func (q *Question) inputs() []string {
	names := slices.Concat(q.Read.By, q.Read.FilterBy)
	if q.Read.Owner != "" {
		names = append(names, q.Read.Owner)
	}
	return names
}

// Names are the inputs that determine the result.
func (q *Question) Names() []string {
	names := q.inputs()
	if q.Read.Prefix != "" {
		names = append(names, q.Read.Prefix)
	}
	if q.Read.Filter != nil {
		for _, p := range q.Read.Filter.Params {
			names = append(names, p.Input)
		}
	}
	return names
}

// known are the templates with parts that inputs fill.
func known(r *schema.Read) []schema.Template {
	templates := schema.Each(slices.Concat(r.Key, r.PK), func(a schema.KeyAttribute) schema.Template { return a.Template })
	for _, c := range r.SK {
		templates = append(templates, c.Known)
	}
	return templates
}

// Matches reports whether an item's values match the input. Keys alone guarantee that only if no value can be mistaken for
// part of the next one, and no function truncates a bound. Values that the place does not have are skipped, unless the item
// is whole.
func (q *Question) Matches(v schema.Values, whole bool) bool {
	return q.equal.Hold(q.Read.Entity, v, whole) && q.Span.holds(q.Read.Entity, v, whole)
}

// Admits reports whether an item, with its values, passes the filter and belongs to the owner.
func (q *Question) Admits(it schema.Item, v schema.Values) (bool, error) {
	if name := q.Read.Owner; name != "" && !schema.SameValue(v[name], q.Input.Values[name]) {
		return false, nil
	}
	if !q.Here {
		return true, nil
	}
	for _, name := range q.Read.FilterBy {
		if !schema.SameValue(v[name], q.Input.Values[name]) {
			return false, nil
		}
	}
	if q.Read.Filter == nil {
		return true, nil
	}
	return q.Read.Filter.Holds(it, q.at)
}

// Filter adds the filter to the request, unless the items there lack its attributes, or DynamoDB would reject it: then this
// package evaluates it.
func (q *Question) Filter(s *Source, request *dynamodb.QueryInput) error {
	q.Here = q.Here || q.filtersKeys(s)
	if q.Here {
		return nil
	}
	var terms []string
	names, values := request.ExpressionAttributeNames, request.ExpressionAttributeValues
	for i, name := range q.Read.FilterBy {
		f := q.Read.Entity.Field(name)
		if f == nil {
			continue
		}
		steps := schema.Each(f.Path, func(step string) string { return schema.AliasIn(names, step) })
		placeholder := ":f" + strconv.Itoa(i)
		values[placeholder] = q.Input.Values[name]
		terms = append(terms, strings.Join(steps, ".")+" = "+placeholder)
	}
	if q.Read.Filter != nil {
		text, err := q.Read.Filter.Bind(q.at, names, values)
		if err != nil {
			return err
		}
		terms = append(terms, "("+text+")")
	}
	if len(terms) > 0 {
		request.FilterExpression = aws.String(strings.Join(terms, " AND "))
	}
	return nil
}

// filtersKeys reports whether the filter uses key attributes of the queried table or index.
func (q *Question) filtersKeys(s *Source) bool {
	for _, name := range q.Read.FilterBy {
		if f := q.Read.Entity.Field(name); f != nil && s.keys(f.Path[0]) {
			return true
		}
	}
	if q.Read.Filter == nil {
		return false
	}
	for _, name := range q.Read.Filter.Names {
		if s.keys(name) {
			return true
		}
	}
	return false
}
