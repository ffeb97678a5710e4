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

// Question is a read with what it is asked with, checked.
type Question struct {
	Read  *schema.Read
	Input schema.Input
	// at are what the filter's params stand for.
	at    schema.Inputs
	equal Filled
	Span  span
	// Here is set where the filter is evaluated by this package and not by the request.
	Here bool
}

// Ask checks what a read is asked with.
func Ask(r *schema.Read, in schema.Input, now time.Time) (*Question, error) {
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
			continue // the descriptor's fault, which the keys will tell
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

// inputs are the fields that must be given.
func (q *Question) inputs() []string {
	names := slices.Concat(q.Read.By, q.Read.FilterBy)
	if q.Read.Owner != "" {
		names = append(names, q.Read.Owner)
	}
	return names
}

// Names are the inputs that say what the answer is.
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

// known are the templates of which inputs fill parts.
func known(r *schema.Read) []schema.Template {
	templates := schema.Each(slices.Concat(r.Key, r.PK), func(a schema.KeyAttribute) schema.Template { return a.Template })
	for _, c := range r.SK {
		templates = append(templates, c.Known)
	}
	return templates
}

// Matches reports whether an item's values are what was asked for. Keys tell it only where no value can be taken for
// a part of the next one, and no function cuts a bound. Values that the place does not have are not asked for, those of
// a whole item are.
func (q *Question) Matches(v schema.Values, whole bool) bool {
	return q.equal.Hold(q.Read.Entity, v, whole) && q.Span.holds(q.Read.Entity, v, whole)
}

// Admits reports whether an item, with its values, passes the filter and is the owner's.
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

// Filter gives the filter to the request, unless the items that are found do not have what it is about, or DynamoDB refuses
// it there: then it is evaluated here.
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

// filtersKeys reports whether the filter is about attributes of the keys of what is queried.
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
