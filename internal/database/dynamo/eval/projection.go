package eval

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// Projection is a bound projection expression (or AttributesToGet). Safe for concurrent use.
type Projection struct {
	scope
	paths []*expr.Path // sorted; none is part of another
	// columns are the names of the paths in the result; nil keeps the paths.
	columns []string
}

// Projection binds a ProjectionExpression.
func (b *Binder) Projection(text string) (*Projection, error) {
	e, sc, err := b.bind(expr.Projection, text)
	if err != nil {
		return nil, err
	}
	p := &Projection{scope: sc, paths: expr.SortPaths(e.Paths, sc.names)}
	if err := expr.CheckPaths(expr.Projection, e.Paths, p.paths, sc.names); err != nil {
		return nil, err
	}
	return p, nil
}

// Names returns the sorted top-level names if the projection has only those: then the stored form is projected without decoding.
// ok is false if a path is nested.
func (p *Projection) Names() (names []string, ok bool) {
	if slices.ContainsFunc(p.paths, func(path *expr.Path) bool { return len(path.Steps) > 1 }) {
		return nil, false
	}
	return p.Attributes(), true
}

// Attributes returns the top-level names that the projection reads, sorted, including those of nested paths.
func (p *Projection) Attributes() []string { return p.roots(p.paths) }

// roots returns the distinct top-level names of sorted paths, sorted.
func (sc *scope) roots(paths []*expr.Path) []string {
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		if name := path.Root(sc.names); len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// Apply returns the projected item: never nil for a non-nil item, empty if no path matches. The remaining elements of a list keep
// their order and are closed up.
func (p *Projection) Apply(it attr.Item) attr.Item {
	if it == nil {
		return nil
	}
	if p.columns != nil {
		return p.applyColumns(it)
	}
	out := p.projectItem(it, p.paths, 0)
	if out == nil {
		return attr.Item{}
	}
	return out
}

// group returns how many of the sorted paths start with the same step at depth as the first.
func (sc *scope) group(paths []*expr.Path, depth int) int {
	first := &paths[0].Steps[depth]
	for n := 1; n < len(paths); n++ {
		if !sc.sameStep(first, &paths[n].Steps[depth]) {
			return n
		}
	}
	return len(paths)
}

func (sc *scope) sameStep(a, b *expr.Step) bool {
	if a.Kind == expr.StepIndex || b.Kind == expr.StepIndex {
		return a.Kind == b.Kind && a.Number == b.Number
	}
	return a.Resolve(sc.names) == b.Resolve(sc.names)
}

// projectItem returns the part of a map that the paths reach from depth on, or nil.
func (sc *scope) projectItem(it attr.Item, paths []*expr.Path, depth int) attr.Item {
	var out attr.Item
	for len(paths) > 0 {
		n := sc.group(paths, depth)
		step := &paths[0].Steps[depth]
		if step.Kind != expr.StepIndex {
			name := step.Resolve(sc.names)
			if v, ok := it.Get(name); ok {
				if part, ok := sc.project(v, paths[:n], depth+1); ok {
					out = append(out, attr.Field{Name: name, Value: part})
				}
			}
		}
		paths = paths[n:]
	}
	return out
}

func (sc *scope) projectList(elems []attr.Value, paths []*expr.Path, depth int) []attr.Value {
	var out []attr.Value
	for len(paths) > 0 {
		n := sc.group(paths, depth)
		step := &paths[0].Steps[depth]
		if step.Kind == expr.StepIndex && step.Number < len(elems) {
			if part, ok := sc.project(elems[step.Number], paths[:n], depth+1); ok {
				out = append(out, part)
			}
		}
		paths = paths[n:]
	}
	return out
}

// project returns the part of v that the paths reach; a path that ends here reaches all of it, and is the only one.
func (sc *scope) project(v attr.Value, paths []*expr.Path, depth int) (attr.Value, bool) {
	if len(paths[0].Steps) == depth {
		return v, true
	}
	switch v.Kind() {
	case attr.KindMap:
		out := sc.projectItem(v.Item(), paths, depth)
		return attr.Map(out), out != nil
	case attr.KindList:
		out := sc.projectList(v.Elems(), paths, depth)
		return attr.List(out), out != nil
	default:
		return attr.Value{}, false
	}
}
