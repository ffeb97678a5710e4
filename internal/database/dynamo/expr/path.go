package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Path is a document path: the name of a top-level attribute and the steps from there.
type Path struct {
	Steps []Step
	Pos   int
}

// StepKind is the kind of a step.
type StepKind uint8

// The kinds of steps.
const (
	StepIndex StepKind = iota // into a list
	StepName                  // into a map, by a literal name
	StepAlias                 // into a map, by the name of an alias
)

// Step is one step of a path. The first step is never an index.
type Step struct {
	Kind StepKind
	// Name is the name, or the alias with its #.
	Name string
	// Number is the list index of StepIndex, or the slot in Expression.Aliases of StepAlias.
	Number int
}

// Resolve returns the attribute name of a step other than an index; names are the aliased names by slot.
func (s *Step) Resolve(names []string) string {
	if s.Kind == StepAlias {
		return names[s.Number]
	}
	return s.Name
}

// Literal returns the path of one step with a literal attribute name, including any dots.
func Literal(name string) *Path {
	return &Path{Steps: []Step{{Kind: StepName, Name: name}}}
}

// Root returns the name of the top-level attribute.
func (p *Path) Root(names []string) string { return p.Steps[0].Resolve(names) }

// Format returns the path as in AWS's messages: [a, [1], b].
func (p *Path) Format(names []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range p.Steps {
		if i > 0 {
			b.WriteString(", ")
		}
		s := &p.Steps[i]
		if s.Kind == StepIndex {
			b.WriteString("[" + strconv.Itoa(s.Number) + "]")
		} else {
			b.WriteString(s.Resolve(names))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// ComparePaths compares paths step by step: indexes before names, indexes by number, names by bytes, a path before its
// extensions.
func ComparePaths(a, b *Path, names []string) int {
	for i := range min(len(a.Steps), len(b.Steps)) {
		if c := compareSteps(&a.Steps[i], &b.Steps[i], names); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.Steps), len(b.Steps))
}

func compareSteps(a, b *Step, names []string) int {
	switch {
	case a.Kind == StepIndex && b.Kind == StepIndex:
		return cmp.Compare(a.Number, b.Number)
	case a.Kind == StepIndex:
		return -1
	case b.Kind == StepIndex:
		return 1
	default:
		return strings.Compare(a.Resolve(names), b.Resolve(names))
	}
}

// clash returns KindOverlap if one path equals or extends the other, KindConflict if they diverge as a name and an index, so that
// they cannot both be in one item, else KindNone.
func clash(a, b *Path, names []string) Kind {
	for i := range min(len(a.Steps), len(b.Steps)) {
		x, y := &a.Steps[i], &b.Steps[i]
		if (x.Kind == StepIndex) != (y.Kind == StepIndex) {
			return KindConflict
		}
		if compareSteps(x, y, names) != 0 {
			return KindNone
		}
	}
	return KindOverlap
}

// CheckPaths rejects paths of which two overlap or conflict. paths are in the order of the text; sorted are the same in the order
// of ComparePaths, in which such paths are adjacent.
func CheckPaths(s Surface, paths, sorted []*Path, names []string) error {
	for i := 1; i < len(sorted); i++ {
		if clash(sorted[i-1], sorted[i], names) != KindNone {
			return firstClash(s, paths, names)
		}
	}
	return nil
}

// firstClash reports the first such pair in the text.
func firstClash(s Surface, paths []*Path, names []string) error {
	for i, p := range paths {
		for _, earlier := range paths[:i] {
			if kind := clash(earlier, p, names); kind != KindNone {
				return &Error{Surface: s, Kind: kind, Pos: p.Pos, Operand: earlier.Format(names), Other: p.Format(names)}
			}
		}
	}
	return nil
}

// SortPaths returns paths in the order of ComparePaths, in a new slice if that differs.
func SortPaths(paths []*Path, names []string) []*Path {
	order := func(a, b *Path) int { return ComparePaths(a, b, names) }
	if slices.IsSortedFunc(paths, order) {
		return paths
	}
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, order)
	return sorted
}
