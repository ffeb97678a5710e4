package engine

import (
	"crypto/sha256"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
)

// statement is one PartiQL statement of a request, with its parameters' values. Statements are lowered to other operations: a
// SELECT becomes pages like those of Query and Scan, or reads like those of TransactGetItems (statement_select.go); the others
// become a write (statement_write.go). Their conditions, columns and changes become expressions (statement_expression.go), and
// their key is extracted from the WHERE clause (statement_key.go).
type statement struct {
	*partiql.Statement
	source     partiql.Source
	operation  string // of the request
	text       string
	parameters []attr.Value
	showOld    bool // ReturnValuesOnConditionCheckFailure

	shape shape // the columns of a SELECT
	write write // the part of the write that the statement alone determines
}

// bindStatement parses a statement and rejects what is invalid without knowing its table.
func bindStatement(operation string, text *string, parameters []attr.Value, showOld *string) (*statement, error) {
	parsed, err := partiql.Parse(*text)
	if err != nil {
		return nil, apierr.Validation(err.Error())
	}
	if parsed.Parameters != len(parameters) {
		return nil, apierr.StatementParameters.With()
	}
	for i := range parameters {
		if err := refuseFaulty(operation, &parameters[i]); err != nil {
			return nil, err
		}
	}
	s := &statement{
		Statement: parsed, source: parsed.Source(), operation: operation, text: *text, parameters: parameters, showOld: returnsOld(showOld),
	}
	return s, s.bind()
}

// bind checks the statement and its parameters without the table.
func (s *statement) bind() error {
	switch d := s.Delete; {
	case s.source.Index != "" && s.Exists:
		return apierr.TransactExistsOfIndex.With()
	case s.source.Index != "" && s.Insert != nil:
		return apierr.InsertIntoIndex.With()
	case s.source.Index != "" && !s.Reads():
		return apierr.WriteOfIndex.With()
	case d != nil && d.Returning != partiql.ReturnNothing && d.Returning != partiql.ReturnAllOld:
		return apierr.ReturningOnlyAllOld.With(d.Returning)
	}
	surface := expr.Condition
	if s.Reads() {
		surface = expr.Filter
	}
	if _, err := s.condition(surface, conjuncts(s.where())); err != nil {
		return err
	}
	if s.Select == nil || s.Exists {
		return s.bindWrite()
	}
	var err error
	s.shape, err = s.columns()
	return err
}

// where returns the WHERE clause, or nil.
func (s *statement) where() partiql.Node {
	switch {
	case s.Select != nil:
		return s.Select.Where
	case s.Update != nil:
		return s.Update.Where
	case s.Delete != nil:
		return s.Delete.Where
	default:
		return nil
	}
}

// returning returns the RETURNING clause, or ReturnNothing.
func (s *statement) returning() partiql.Returning {
	switch {
	case s.Update != nil:
		return s.Update.Returning
	case s.Delete != nil:
		return s.Delete.Returning
	default:
		return partiql.ReturnNothing
	}
}

// size returns the statement's share of the request size.
func (s *statement) size() int {
	size := len(s.text)
	for _, v := range s.parameters {
		size += v.Size()
	}
	return size
}

// digest adds the statement and its parameters to d.
func (s *statement) digest(d *digest) {
	d.text(&s.text)
	d.item(attr.Item{{Name: "parameters", Value: attr.List(s.parameters)}})
}

// fingerprintOf returns a digest of the content of a transaction of statements.
func fingerprintOf(statements []*statement) [sha256.Size]byte {
	d := digest{hash: sha256.New()}
	for _, s := range statements {
		s.digest(&d)
		d.bytes([]byte{bit(s.showOld)})
	}
	var sum [sha256.Size]byte
	d.hash.Sum(sum[:0])
	return sum
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// mixesReads reports whether some statements read and others write; nil statements are ignored.
func mixesReads(statements []*statement) bool {
	var first *statement
	for _, s := range statements {
		switch {
		case s == nil:
		case first == nil:
			first = s
		case s.Reads() != first.Reads():
			return true
		}
	}
	return false
}

// value returns the attribute value of an expression.
func (s *statement) value(n partiql.Node) (attr.Value, error) {
	v, err := s.literal(n)
	if err != nil {
		return v, err
	}
	if err := refuseFaulty(s.operation, &v); err != nil {
		return v, err
	}
	if v.Depth() > attr.MaxDepth {
		return v, statementExpressionError(&expr.Error{Kind: expr.KindValueTooDeep})
	}
	return v, nil
}

// literal is value without a check of the value as a whole, which may be faulty.
func (s *statement) literal(n partiql.Node) (attr.Value, error) {
	switch n := n.(type) {
	case *partiql.Parameter:
		return s.parameters[n.Number], nil
	case *partiql.String:
		return attr.String(n.Text), nil
	case *partiql.Number:
		return attr.ParseNumber(n.Text), nil
	case *partiql.Bool:
		return attr.Bool(n.True), nil
	case *partiql.Null:
		return attr.Null(), nil
	case *partiql.List:
		elems, err := s.literals(n.Elems)
		return attr.List(elems), err
	case *partiql.Set:
		return s.set(n)
	case *partiql.Map:
		return s.mapOf(n)
	default:
		return attr.Value{}, apierr.StatementNoValue.With()
	}
}

func (s *statement) literals(nodes []partiql.Node) ([]attr.Value, error) {
	values := make([]attr.Value, len(nodes))
	for i, n := range nodes {
		var err error
		if values[i], err = s.literal(n); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// set returns a set with the type of its first member.
func (s *statement) set(n *partiql.Set) (attr.Value, error) {
	members, err := s.literals(n.Elems)
	if err != nil {
		return attr.Value{}, err
	}
	kind := attr.KindStringSet
	for i, m := range members {
		if fault, faulty := m.Fault(); faulty {
			return attr.Value{}, apierr.InvalidValue(s.operation, fault)
		}
		if i == 0 {
			kind = setOf(m.Kind())
		}
		if m.Kind() != kind.Member() || kind == attr.KindInvalid {
			return attr.Value{}, apierr.SetOfOther.With()
		}
	}
	return attr.NewSet(kind, members), nil
}

// setOf returns the kind of a set whose members have a kind.
func setOf(member attr.Kind) attr.Kind {
	for _, k := range [...]attr.Kind{attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet} {
		if k.Member() == member {
			return k
		}
	}
	return attr.KindInvalid
}

func (s *statement) mapOf(n *partiql.Map) (attr.Value, error) {
	fields := make([]attr.Field, len(n.Fields))
	seen := make(map[string]struct{}, len(n.Fields))
	for i, f := range n.Fields {
		if _, twice := seen[f.Name]; twice {
			return attr.Value{}, apierr.MapNameTwice.With(f.Name)
		}
		seen[f.Name] = struct{}{}
		v, err := s.literal(f.Value)
		if err != nil {
			return attr.Value{}, err
		}
		fields[i] = attr.Field{Name: f.Name, Value: v}
	}
	item, _ := attr.NewItem(fields)
	return attr.Map(item), nil
}

// isValue reports whether an expression is constant, that is, independent of the item.
func isValue(n partiql.Node) bool {
	switch n.(type) {
	case *partiql.Parameter, *partiql.String, *partiql.Number, *partiql.Bool, *partiql.Null, *partiql.List, *partiql.Set, *partiql.Map:
		return true
	default:
		return false
	}
}
