package engine

import (
	"strings"

	"github.com/monotable/monotable/internal/dynamo/apierr"
)

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

// fault says what the request alone shows wrong with the combination, "" where nothing is. AWS puts an
// envelope around the sentence for a Query and none for a Scan, where it speaks of Querying nevertheless.
func (s *selection) fault() string {
	switch {
	case s.selects == selectProjected && !s.hasIndex:
		return "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
	case s.selects == selectSpecific && !s.legacy && !s.expression:
		return "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
	case s.selects == "" || s.selects == selectSpecific:
		return ""
	}
	what := s.selects
	if what == selectCount {
		what = "only the Count"
	}
	switch {
	case s.legacy:
		return "Cannot specify the AttributesToGet when choosing to get " + what
	case s.expression:
		return "Cannot specify the ProjectionExpression when choosing to get " + what
	default:
		return ""
	}
}

// shapeFrom sets what the plan returns of each item, and what it must fetch for it from the table.
func (p *pagePlan) shapeFrom(selects string, sh shape) error {
	s := &p.source
	p.shape = sh
	p.count = selects == selectCount
	if s.index == nil || s.index.All {
		return nil
	}
	wanted := s.unprojected(sh.reads)
	if !s.isGlobalIndex() {
		p.fetchToReturn = selects == selectAll || len(wanted) > 0
		p.fetchToFilter = p.filter != nil && len(s.unprojected(p.filter.Attributes())) > 0
		return nil
	}
	if selects == selectAll {
		return apierr.InvalidParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index " + s.index.Name +
			" because its projection type is not ALL")
	}
	if len(wanted) > 0 {
		return apierr.InvalidParameter("Global secondary index " + s.index.Name + " does not project [" + strings.Join(wanted, ", ") + "]")
	}
	if p.filter == nil {
		return nil
	}
	if wanted = s.unprojected(p.filter.Attributes()); len(wanted) > 0 {
		return apierr.InvalidParameter("Global secondary index " + s.index.Name + " does not project one or more filter attributes: [" +
			strings.Join(wanted, ", ") + "]")
	}
	return nil
}
