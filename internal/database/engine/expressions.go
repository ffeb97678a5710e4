package engine

import (
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// expressionError converts an error in an expression, or in a legacy parameter lowered to one, to the client's error. Other
// errors are returned unchanged.
func expressionError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return apierr.Validation(e.Error())
	}
	return err
}

// statementExpressionError is expressionError for the expressions of a PartiQL statement.
func statementExpressionError(err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return apierr.Validation(e.OfStatement())
	}
	return err
}

// expressionErrorIn is expressionError for operations that have their own messages for some errors.
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

// checkAlone is eval.CheckAlone for a read without the possible expressions. Its projection, if it has one, uses names but no values.
func checkAlone(projection *string, names map[string]string, values attr.Item, possible ...string) error {
	if projection != nil {
		names = nil
	}
	return eval.CheckAlone(names, values, possible...)
}

// parameter is the name of a parameter and whether the request has it.
type parameter struct {
	name  string
	given bool
}

// refuseMixing rejects a request that uses both legacy parameters and expressions.
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
