package table

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// question is a read with what it is asked with, checked.
type question struct {
	read  *Read
	input Input
	// at are what the filter's params stand for.
	at    inputs
	equal filled
	span  span
	// here is set where the filter is evaluated by this package and not by the request.
	here bool
}

// ask checks what a read is asked with.
func ask(r *Read, in Input, now time.Time) (*question, error) {
	q := &question{read: r, input: in, at: inputs{values: in.Values, now: now}}
	for _, name := range q.inputs() {
		f := r.Entity.field(name)
		switch {
		case in.Values[name] == nil:
			return nil, missing(name)
		case f == nil:
			continue // the descriptor's fault, which the keys will tell
		}
		if err := f.Type.checkValue(name, in.Values[name], f.MaxBytes); err != nil {
			return nil, err
		}
	}
	var err error
	if q.equal, err = fill(r.Entity, known(r), r.By, in.Values); err != nil {
		return nil, err
	}
	q.span, err = spanOf(r, in)
	return q, err
}

// inputs are the fields that must be given.
func (q *question) inputs() []string {
	names := slices.Concat(q.read.By, q.read.FilterBy)
	if q.read.Owner != "" {
		names = append(names, q.read.Owner)
	}
	return names
}

// names are the inputs that say what the answer is.
func (q *question) names() []string {
	names := q.inputs()
	if q.read.Prefix != "" {
		names = append(names, q.read.Prefix)
	}
	if q.read.Filter != nil {
		for _, p := range q.read.Filter.Params {
			names = append(names, p.Input)
		}
	}
	return names
}

// known are the templates of which inputs fill parts.
func known(r *Read) []Template {
	templates := each(slices.Concat(r.Key, r.PK), func(a KeyAttribute) Template { return a.Template })
	for _, c := range r.SK {
		templates = append(templates, c.Known)
	}
	return templates
}

// matches reports whether an item's values are what was asked for. Keys tell it only where no value can be taken for
// a part of the next one, and no function cuts a bound. Values that the place does not have are not asked for, those of
// a whole item are.
func (q *question) matches(v Values, whole bool) bool {
	return q.equal.hold(q.read.Entity, v, whole) && q.span.holds(q.read.Entity, v, whole)
}

// admits reports whether an item, with its values, passes the filter and is the owner's.
func (q *question) admits(it Item, v Values) (bool, error) {
	if name := q.read.Owner; name != "" && !equal(v[name], q.input.Values[name]) {
		return false, nil
	}
	if !q.here {
		return true, nil
	}
	for _, name := range q.read.FilterBy {
		if !equal(v[name], q.input.Values[name]) {
			return false, nil
		}
	}
	if q.read.Filter == nil {
		return true, nil
	}
	return q.read.Filter.holds(it, q.at)
}

// filter gives the filter to the request, unless the items that are found do not have what it is about, or DynamoDB refuses
// it there: then it is evaluated here.
func (q *question) filter(s *source, request *dynamodb.QueryInput) error {
	q.here = q.here || q.filtersKeys(s)
	if q.here {
		return nil
	}
	var terms []string
	names, values := request.ExpressionAttributeNames, request.ExpressionAttributeValues
	for i, name := range q.read.FilterBy {
		f := q.read.Entity.field(name)
		if f == nil {
			continue
		}
		steps := each(f.Path, func(step string) string { return aliasIn(names, step) })
		placeholder := ":f" + strconv.Itoa(i)
		values[placeholder] = q.input.Values[name]
		terms = append(terms, strings.Join(steps, ".")+" = "+placeholder)
	}
	if q.read.Filter != nil {
		text, err := q.read.Filter.bind(q.at, names, values)
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
func (q *question) filtersKeys(s *source) bool {
	for _, name := range q.read.FilterBy {
		if f := q.read.Entity.field(name); f != nil && s.keys(f.Path[0]) {
			return true
		}
	}
	if q.read.Filter == nil {
		return false
	}
	for _, name := range q.read.Filter.Names {
		if s.keys(name) {
			return true
		}
	}
	return false
}
