package engine

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// expressionError turns what is wrong with an expression, or with a legacy parameter lowered to one, into the
// answer a client sees. Other errors pass.
func expressionError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return apierr.Validation(e.Error())
	}
	return err
}

// expressionErrorIn is expressionError for the operations that word some faults in their own way.
func expressionErrorIn(operation string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*expr.Error](err)
	switch {
	case !ok:
		return err
	case e.Kind == expr.KindFaultyValue:
		return apierr.InvalidExpressionValue(operation, e.Subject, e.Fault)
	case e.Kind == expr.KindFaultyArgument:
		return apierr.InvalidValue(operation, e.Fault)
	case operation == "Scan" || operation == "TransactWriteItems":
		return apierr.Validation(e.Older())
	default:
		return apierr.Validation(e.Error())
	}
}

// parameter says whether a request has a parameter.
type parameter struct {
	name  string
	given bool
}

// refuseMixing refuses a request that uses legacy parameters and expressions at once.
func refuseMixing(legacy, expressions []parameter) error {
	if !anyGiven(legacy) || !anyGiven(expressions) {
		return nil
	}
	return expressionError(eval.CheckMixed(namesGiven(expressions), namesGiven(legacy)))
}

func anyGiven(ps []parameter) bool {
	return slices.ContainsFunc(ps, func(p parameter) bool { return p.given })
}

func namesGiven(ps []parameter) []string {
	var names []string
	for _, p := range ps {
		if p.given {
			names = append(names, p.name)
		}
	}
	return names
}
