package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Call turns an access pattern into a route's function. Its input is filled by name from path, query, header and body. Own names
// the input fields that are set to the caller's sub.
func Call[In, P, Out any](pattern func(context.Context, P) (Out, error), own ...string) func(context.Context, auth.Principal, In) (Out, error) {
	b := bindAll[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) (out Out, err error) {
		p, err := b.input(who, in)
		if err != nil {
			return out, err
		}
		return pattern(ctx, p)
	}
}

// Do is Call for a pattern that returns nothing.
func Do[In, P any](pattern func(context.Context, P) error, own ...string) func(context.Context, auth.Principal, In) error {
	b := bindAll[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) error {
		p, err := b.input(who, in)
		if err != nil {
			return err
		}
		return pattern(ctx, p)
	}
}

// Pages is Call for a pattern that returns pages.
func Pages[In pager, P, Out any](pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), own ...string) func(context.Context, auth.Principal, In) (table.Page[Out], error) {
	b := bindAll[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) (table.Page[Out], error) {
		return pagesOf(ctx, b, pattern, who, in)
	}
}

// All adapts a pattern without input for Pages and Either.
func All[Out any](pattern func(context.Context, table.PageOptions) (table.Page[Out], error)) func(context.Context, None, table.PageOptions) (table.Page[Out], error) {
	return func(ctx context.Context, _ None, page table.PageOptions) (table.Page[Out], error) {
		return pattern(ctx, page)
	}
}

// Either is Pages for two patterns: it calls the first if the request has a parameter that only the first takes, otherwise the
// second.
func Either[Shown any, In pager, P, Q, Out, Other any](
	narrow func(context.Context, P, table.PageOptions) (table.Page[Out], error), wide func(context.Context, Q, table.PageOptions) (table.Page[Other], error), own ...string,
) func(context.Context, auth.Principal, In) (table.Page[Shown], error) {
	first, second := bind[In, P](own), bind[In, Q](own)
	must(unused(reflect.TypeFor[In](), first.plan, second.plan))
	show, showOther := byname.Copy[Out, Shown](), byname.Copy[Other, Shown]()
	var only [][]int
	for _, f := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		if !f.Anonymous && first.plan.Uses(f.Name) && !second.plan.Uses(f.Name) {
			only = append(only, f.Index)
		}
	}
	return func(ctx context.Context, who auth.Principal, in In) (table.Page[Shown], error) {
		said := reflect.ValueOf(&in).Elem()
		if slices.ContainsFunc(only, func(path []int) bool { return !said.FieldByIndex(path).IsZero() }) {
			found, err := pagesOf(ctx, first, narrow, who, in)
			return Show(found, show), err
		}
		found, err := pagesOf(ctx, second, wide, who, in)
		return Show(found, showOther), err
	}
}

// pagesOf returns a page of a pattern.
func pagesOf[In pager, P, Out any](
	ctx context.Context, b binding[In, P], pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), who auth.Principal, in In,
) (page table.Page[Out], err error) {
	p, err := b.input(who, in)
	if err != nil {
		return page, err
	}
	return pattern(ctx, p, in.Options())
}

// Show converts the items of a page.
func Show[Out, Shown any](page table.Page[Out], show func(Out) Shown) table.Page[Shown] {
	shown := table.Page[Shown]{Items: make([]Shown, len(page.Items)), Next: page.Next}
	for i := range page.Items {
		shown.Items[i] = show(page.Items[i])
	}
	return shown
}

// binding fills a pattern's input from a request.
type binding[In, P any] struct {
	plan    *byname.Plan
	callers reflect.Type // a struct of the fields that are set to the caller's sub
}

// bind prepares a binding.
func bind[In, P any](own []string) binding[In, P] {
	members := make([]reflect.StructField, len(own))
	for i, name := range own {
		members[i] = reflect.StructField{Name: name, Type: reflect.TypeFor[string]()}
	}
	callers := reflect.StructOf(members)
	plan, err := byname.Make(reflect.TypeFor[P](), false, callers, reflect.TypeFor[In]())
	must(err)
	must(unused(callers, plan))
	return binding[In, P]{plan, callers}
}

// bindAll is bind for a request whose fields must all be used, so that a misspelt name on one side shows up on the other.
func bindAll[In, P any](own []string) binding[In, P] {
	b := bind[In, P](own)
	must(unused(reflect.TypeFor[In](), b.plan))
	return b
}

func (b binding[In, P]) input(who auth.Principal, in In) (p P, err error) {
	caller := reflect.New(b.callers).Elem()
	if caller.NumField() > 0 && who.Sub == "" {
		return p, problem.MissingToken()
	}
	for _, field := range caller.Fields() {
		field.SetString(who.Sub)
	}
	b.plan.Fill(reflect.ValueOf(&p).Elem(), caller, reflect.ValueOf(&in).Elem())
	return p, nil
}

// must panics at startup if a route table contains a wrong name.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// unused returns the request fields that no plan uses. The fields of PageQuery become the pattern's options.
func unused(t reflect.Type, plans ...*byname.Plan) error {
	var faults []error
	for f := range t.Fields() {
		used := slices.ContainsFunc(plans, func(p *byname.Plan) bool { return p.Uses(f.Name) })
		switch {
		case f.Type == reflect.TypeFor[PageQuery](), t == reflect.TypeFor[Seen]() && f.Name == "IfMatch":
		case f.Anonymous, f.Name == "Body" && f.Type.Kind() == reflect.Struct:
			faults = append(faults, unused(f.Type, plans...))
		case t != reflect.TypeFor[PageQuery]() && !used:
			faults = append(faults, fmt.Errorf("%s of %s goes nowhere", f.Name, t))
		}
	}
	return errors.Join(faults...)
}
