package access

import (
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// batch rejects those statements of a batch that the principal may not execute.
func (c *call) batch(who *policy.Principal, in *api.BatchExecuteStatementInput) {
	for i := range in.Statements {
		alone := *c
		alone.in = &api.BatchExecuteStatementInput{Statements: in.Statements[i : i+1], ReturnConsumedCapacity: in.ReturnConsumedCapacity}
		in.Statements[i].Refuse(alone.decideAll(who, alone.statements()))
	}
}

// statements returns the needs of PartiQL statements, one for each. A statement that cannot be parsed needs nothing, because the
// operation rejects it with the same message.
func (c *call) statements() []need {
	var needs []need
	add := func(text *string, parameters []attr.Value, showOld, consumed *string, enclosing string) {
		if text == nil {
			return
		}
		if r, err := c.database.Reach(c.operation, text, parameters, showOld); err == nil {
			needs = append(needs, c.statement(&r, showOld, consumed, enclosing))
		}
	}
	switch in := c.in.(type) {
	case *api.ExecuteStatementInput:
		add(in.Statement, in.Parameters, in.ReturnValuesOnConditionCheckFailure, in.ReturnConsumedCapacity, "")
	case *api.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			add(s.Statement, s.Parameters, s.ReturnValuesOnConditionCheckFailure, in.ReturnConsumedCapacity, c.operation)
		}
	case *api.ExecuteTransactionInput:
		for _, s := range in.TransactStatements {
			add(s.Statement, s.Parameters, s.ReturnValuesOnConditionCheckFailure, in.ReturnConsumedCapacity, c.operation)
		}
	}
	return needs
}

var partiqlActions = map[engine.Verb]string{
	engine.Selects: "PartiQLSelect", engine.Inserts: "PartiQLInsert", engine.Updates: "PartiQLUpdate", engine.Deletes: "PartiQLDelete",
}

func (c *call) statement(r *engine.Reach, showOld, consumed *string, enclosing string) need {
	n := need{action: partiqlActions[r.Verb], resource: c.resource(r.Table).index(&r.Index)}
	n.facts = facts{
		everyKey: r.EveryKey, attributes: r.Attributes, everyAttribute: r.EveryAttribute,
		consumed: valueOr(consumed, none), enclosing: enclosing, returns: []string{valueOr(showOld, none)},
	}
	if r.Verb == engine.Selects {
		n.facts.scans = strconv.FormatBool(r.EveryKey)
		switch {
		case !r.Star:
			n.facts.selects = selectSpecific
		case r.Index != "":
			n.facts.selects = selectProjected
		default:
			n.facts.selects = selectAll
		}
	} else if r.EveryAttribute {
		n.facts.returns = append(n.facts.returns, "ALL_OLD")
	}
	for _, v := range r.Keys {
		n.facts.key1(v)
	}
	return n
}
