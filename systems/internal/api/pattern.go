package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Call makes an access pattern the function of a route: its input gets the request's by name, from path, query, header and
// body. Own names the fields of it that are the caller's sub.
func Call[In, P, Out any](pattern func(context.Context, P) (Out, error), own ...string) func(context.Context, auth.Principal, In) (Out, error) {
	bind := binder[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) (out Out, err error) {
		p, err := bind(who, in)
		if err != nil {
			return out, err
		}
		return pattern(ctx, p)
	}
}

// Do is Call for a pattern that returns nothing.
func Do[In, P any](pattern func(context.Context, P) error, own ...string) func(context.Context, auth.Principal, In) error {
	bind := binder[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) error {
		p, err := bind(who, in)
		if err != nil {
			return err
		}
		return pattern(ctx, p)
	}
}

// Pages is Call for a pattern that returns pages.
func Pages[In pager, P, Out any](pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), own ...string) func(context.Context, auth.Principal, In) (table.Page[Out], error) {
	bind := binder[In, P](own)
	return func(ctx context.Context, who auth.Principal, in In) (page table.Page[Out], err error) {
		p, err := bind(who, in)
		if err != nil {
			return page, err
		}
		return pattern(ctx, p, in.Options())
	}
}

// All is Pages for a pattern without input.
func All[Out any](pattern func(context.Context, table.PageOptions) (table.Page[Out], error)) func(context.Context, auth.Principal, PageQuery) (table.Page[Out], error) {
	return func(ctx context.Context, _ auth.Principal, in PageQuery) (table.Page[Out], error) {
		return pattern(ctx, in.Options())
	}
}

// binder makes a pattern's input of a request. Every field of both must have a use: a name that is wrong on one side shows on
// the other, when the table is built.
func binder[In, P any](own []string) func(auth.Principal, In) (P, error) {
	members := make([]reflect.StructField, len(own))
	for i, name := range own {
		members[i] = reflect.StructField{Name: name, Type: reflect.TypeFor[string]()}
	}
	request, callers := reflect.TypeFor[In](), reflect.StructOf(members)
	plan, err := byname.Make(reflect.TypeFor[P](), false, callers, request)
	if err == nil {
		err = errors.Join(unused(plan, request), unused(plan, callers))
	}
	if err != nil {
		panic(err)
	}
	return func(who auth.Principal, in In) (p P, err error) {
		if len(own) > 0 && who.Sub == "" {
			return p, problem.MissingToken()
		}
		caller := reflect.New(callers).Elem()
		for i := range own {
			caller.Field(i).SetString(who.Sub)
		}
		plan.Fill(reflect.ValueOf(&p).Elem(), caller, reflect.ValueOf(&in).Elem())
		return p, nil
	}
}

// unused tells which fields of a request go nowhere. Those of pages go to the pattern's options.
func unused(plan *byname.Plan, t reflect.Type) error {
	var faults []error
	for f := range t.Fields() {
		switch {
		case f.Type == reflect.TypeFor[PageQuery]():
		case f.Anonymous, f.Name == "Body" && f.Type.Kind() == reflect.Struct:
			faults = append(faults, unused(plan, f.Type))
		case t != reflect.TypeFor[PageQuery]() && !plan.Uses(f.Name):
			faults = append(faults, fmt.Errorf("%s of %s goes nowhere", f.Name, t))
		}
	}
	return errors.Join(faults...)
}
