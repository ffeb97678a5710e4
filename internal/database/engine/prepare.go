package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// given holds the parameters of a write other than its key or item: expressions in current requests, legacy parameters in those
// from before 2014.
type given struct {
	condition *string
	update    *string
	names     map[string]string
	values    attr.Item
	// updatable means that the operation has update expressions, transacted that it is a transaction.
	updatable, transacted bool

	expected map[string]api.ExpectedAttributeValue
	operator *string
	updates  map[string]api.AttributeValueUpdate
}

// refuseCombination rejects parameters that cannot be combined: expressions and legacy parameters, or names or values without an
// expression.
func (g *given) refuseCombination() error {
	err := refuseMixing(
		[]parameter{
			{"AttributeUpdates", g.updates != nil},
			{"Expected", g.expected != nil},
			{"ConditionalOperator", g.operator != nil},
		},
		[]parameter{
			{"UpdateExpression", g.update != nil},
			{"ConditionExpression", g.condition != nil},
		})
	if err != nil || g.condition != nil || g.update != nil {
		return err
	}
	return expressionError(eval.CheckAlone(g.names, g.values, g.possible()...))
}

// refuseFaults rejects legacy parameters whose value is not an attribute value.
func (g *given) refuseFaults(operation string) error {
	if len(g.updates) == 0 && len(g.expected) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.updates)) {
		if err := refuseFaulty(operation, g.updates[name].Value); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.expected)) {
		x := g.expected[name]
		if err := refuseFaulty(operation, x.Value); err != nil {
			return err
		}
		for i := range x.AttributeValueList {
			if err := refuseFaulty(operation, &x.AttributeValueList[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func refuseFaulty(operation string, v *attr.Value) error {
	if v == nil {
		return nil
	}
	if fault, found := v.Fault(); found {
		return apierr.InvalidValue(operation, fault)
	}
	return nil
}

// bindTo parses and binds the parameters.
func (g *given) bindTo(operation string, w *write) error {
	err := g.bindLegacy(w)
	if err == nil {
		err = g.bindExpressions(w)
	}
	if err == nil {
		return nil
	}
	var e *expr.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Kind == expr.KindFaultyValue || e.Kind == expr.KindFaultyArgument || e.Kind == expr.KindValueTooDeep:
		return expressionErrorIn(operation, e) // already has its envelope, or never gets one
	default:
		return requestFault(operation, expressionErrorIn(operation, e))
	}
}

func (g *given) bindLegacy(w *write) error {
	var err error
	if len(g.updates) > 0 {
		if w.update, err = eval.LowerUpdates(g.updates); err != nil {
			return err
		}
	}
	if g.expected != nil || g.operator != nil {
		w.condition, err = eval.LowerExpected(g.expected, g.operator)
	}
	return err
}

func (g *given) bindExpressions(w *write) error {
	if g.condition == nil && g.update == nil {
		return nil
	}
	b, err := eval.NewBinder(g.names, g.values)
	if err != nil {
		return err
	}
	if g.update != nil {
		if w.update, err = b.Update(*g.update); err != nil {
			return err
		}
	}
	if g.condition != nil {
		if w.condition, err = b.Condition(expr.Condition, *g.condition); err != nil {
			return err
		}
	}
	err = b.Done()
	if e, ok := errors.AsType[*expr.Error](err); ok && g.transacted && e.Kind == expr.KindValueTooDeep {
		w.acceptTooDeep(e)
		return nil
	}
	return err
}

// acceptTooDeep accepts a value that is nested too deeply, as AWS does in a transaction: in an update it cancels the transaction,
// in a condition it is a value that no item has.
func (w *write) acceptTooDeep(e *expr.Error) {
	if w.kind == updateWrite {
		w.cancels = expressionErrorIn("TransactWriteItems", e)
	}
}

// possible returns the names of the expressions that the request may have.
func (g *given) possible() []string {
	if g.updatable {
		return []string{"UpdateExpression", "ConditionExpression"}
	}
	return []string{"ConditionExpression"}
}

// encodeItem encodes the item of a put, or rejects it as too large.
func (w *write) encodeItem() error {
	if w.item.Size() > maxItemBytes {
		return apierr.ItemTooLarge.With()
	}
	w.stored = itemenc.Encode(w.stored[:0], w.item)
	return nil
}

// returnValues is the ReturnValues parameter.
type returnValues string

// The values of ReturnValues.
const (
	returnNone       returnValues = "NONE"
	returnAllOld     returnValues = "ALL_OLD"
	returnAllNew     returnValues = "ALL_NEW"
	returnUpdatedOld returnValues = "UPDATED_OLD"
	returnUpdatedNew returnValues = "UPDATED_NEW"
)

func returnValuesOf(parameter *string) returnValues {
	if parameter == nil {
		return returnNone
	}
	return returnValues(*parameter)
}

// checkOldOnly rejects values that a put or delete cannot return.
func (r returnValues) checkOldOnly() error {
	if r != returnNone && r != returnAllOld {
		return apierr.ReturnsOnlyOld.With()
	}
	return nil
}

// returnsOld evaluates the ReturnValuesOnConditionCheckFailure parameter.
func returnsOld(parameter *string) bool { return parameter != nil && *parameter == "ALL_OLD" }

// refuseFault rejects an item or key with a value that is not an attribute value, with AWS's message for the operation.
func refuseFault(operation string, it attr.Item) error {
	if _, fault, found := it.Fault(); found {
		return apierr.InvalidValue(operation, fault)
	}
	return nil
}

// requestFault words an error in the request of a write: PutItem, UpdateItem and DeleteItem have used the envelope of one
// validation error since 2026, the other operations return the bare sentence.
func requestFault(operation string, err error) error {
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		return enveloped(err)
	default:
		return err
	}
}

// enveloped puts the envelope of one validation error around a ValidationException; other errors are returned unchanged.
func enveloped(err error) error {
	var e *apierr.Error
	if !errors.As(err, &e) || e.Code != apierr.ValidationException {
		return err
	}
	return apierr.Enveloped.With(e.Message)
}
