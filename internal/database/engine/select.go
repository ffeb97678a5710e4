package engine

import "github.com/monotable/monotable/internal/database/dynamo/apierr"

// The values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// selection is what a Query or Scan says about the attributes of its answer.
type selection struct {
	selects    string // Select; "" where it is not given
	legacy     bool   // AttributesToGet is given
	expression bool   // ProjectionExpression is given
	hasIndex   bool
}

func selectionOf(sel *string, attributesToGet []string, projection, indexName *string) selection {
	s := selection{legacy: attributesToGet != nil, expression: projection != nil, hasIndex: indexName != nil}
	if sel != nil {
		s.selects = *sel
	}
	return s
}

// check refuses what the request alone shows wrong with the combination. AWS puts an envelope around the
// sentence for a Query and none for a Scan, where it speaks of Querying nevertheless.
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

// checkNested refuses a filter or projection that goes below a key attribute.
func (p *pagePlan) checkNested() error {
	if err := nestedKeyFault(p.source.table, p.filter.NestedAttributes()); err != nil {
		return err
	}
	return nestedKeyFault(p.source.table, p.shape.nested)
}

// shapeFrom sets whether the plan only counts, and what it must fetch of each item from the table.
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
