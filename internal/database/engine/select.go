package engine

import "github.com/monotable/monotable/internal/database/dynamo/apierr"

// The values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// selection holds the parameters with which a Query or Scan selects attributes.
type selection struct {
	selects    string // Select; "" if missing
	legacy     bool   // AttributesToGet is present
	expression bool   // ProjectionExpression is present
	hasIndex   bool
}

func selectionOf(sel *string, attributesToGet []string, projection, indexName *string) selection {
	s := selection{legacy: attributesToGet != nil, expression: projection != nil, hasIndex: indexName != nil}
	if sel != nil {
		s.selects = *sel
	}
	return s
}

// check rejects invalid combinations judging by the request alone. AWS uses the envelope for a Query but not for a Scan, although
// the message speaks of Querying there, too.
func (s *selection) check() error {
	switch {
	case s.selects == selectProjected && !s.hasIndex:
		return apierr.SelectProjectedOfTable.With()
	case s.selects == selectSpecific && !s.legacy && !s.expression:
		return apierr.SelectSpecificOfNone.With()
	case s.selects == "" || s.selects == selectSpecific:
		return nil
	}
	var names string
	switch {
	case s.legacy:
		names = "AttributesToGet"
	case s.expression:
		names = "ProjectionExpression"
	default:
		return nil
	}
	if s.selects == selectCount {
		return apierr.SelectCountWithNames.With(names)
	}
	return apierr.SelectWithNames.With(names, s.selects)
}

// checkNested rejects a filter or projection with a path below a key attribute.
func (p *pagePlan) checkNested() error {
	if err := nestedKeyFault(p.source.table, p.filter.NestedAttributes()); err != nil {
		return err
	}
	return nestedKeyFault(p.source.table, p.shape.nested)
}

// shapeFrom determines whether the plan only counts, and what it must fetch from the table.
func (p *pagePlan) shapeFrom(selects string) error {
	s := &p.source
	p.count = selects == selectCount
	if s.index == nil || s.index.All {
		return nil
	}
	wanted := s.unprojected(p.shape.reads)
	if !s.isGlobalIndex() {
		p.fetchToReturn = selects == selectAll || len(wanted) > 0
		p.fetchToFilter = p.filter != nil && len(s.unprojected(p.filter.Attributes())) > 0
		return nil
	}
	if selects == selectAll {
		return apierr.GlobalIndexNotAll.With(s.index.Name)
	}
	if len(wanted) > 0 {
		return apierr.GlobalIndexLacks.With(s.index.Name, apierr.List(wanted))
	}
	return nil
}
