package generate

import (
	"fmt"
	"strconv"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// scope is a set of names that must be distinct: the package, the methods of DB, the fields of a struct.
type scope struct {
	model *model
	names map[string]string // with what each one names
}

func (m *model) scope(reserved ...string) *scope {
	s := &scope{model: m, names: map[string]string{}}
	for i := 0; i < len(reserved); i += 2 {
		s.names[reserved[i]] = reserved[i+1]
	}
	return s
}

// take reserves a name that the design chooses. A conflict is a fault of owner: of says what the name is for.
func (s *scope) take(name, of, owner string, at design.Pos) string {
	if other, taken := s.names[name]; taken {
		s.model.fault(owner, at, "has two things with the name %s in %s, %s and %s: give one of them another name in the design", name, s.model.language, other, of)
		return name
	}
	s.names[name] = of
	return name
}

// local reserves a name that the generator chooses, with a number if it is taken.
func (s *scope) local(name string) string {
	unique := name
	for n := 2; ; n++ {
		if _, taken := s.names[unique]; !taken {
			break
		}
		unique = name + strconv.Itoa(n)
	}
	s.names[unique] = "the generator's"
	return unique
}

func (m *model) fault(owner string, at design.Pos, format string, args ...any) {
	m.faults = append(m.faults, &lower.FaultError{Pattern: owner, Message: fmt.Sprintf(format, args...), Pos: at})
}

// member is a field of a Go struct, with the design's value that it contains.
type member struct {
	Name     string // of the value, in the design
	Go       string
	Doc      string
	Type     design.Type
	Optional bool
	Path     []string // path of a structure's or entity's field in the item
	// Prefix is set for a prefix, which is absent if it is empty.
	Prefix bool
	// Removable is set for an input that can keep, set or remove an optional field.
	Removable bool
	// Emptied is set for an input whose empty set removes the field.
	Emptied bool
}

// members are the fields of an entity or structure as fields of a Go struct. The names of the struct's own methods are
// taken: such a field gets the suffix Value.
func (m *model) members(owner string, list []*design.Field, methods ...string) []member {
	s := m.scope()
	for _, method := range methods {
		s.names[method] = "the method " + method
	}
	var out []member
	for _, f := range list {
		name := exported(f.Name)
		for _, method := range methods {
			if name == method {
				name += "Value"
			}
		}
		s.take(name, "field "+f.Name, owner, f.Pos)
		out = append(out, member{Name: f.Name, Go: name, Doc: f.Doc, Type: f.Type, Optional: f.Optional, Path: f.Path})
	}
	return out
}

// inputs are a pattern's inputs as fields of a Go struct.
func (m *model) inputs(s *scope, owner string, at design.Pos, list []lower.Input, prefix string) []member {
	var out []member
	for _, in := range list {
		x := member{Name: in.Name, Go: exported(in.Name), Doc: in.Doc, Type: in.Type, Optional: in.Optional, Removable: in.Removable, Emptied: in.Emptied}
		if in.Name == prefix {
			x.Go, x.Prefix, x.Optional = x.Go+"Prefix", true, false
		}
		s.take(x.Go, "input "+in.Name, owner, at)
		out = append(out, x)
	}
	return out
}

// among returns those members of a list that are fields of another.
func among(list []member, fields []*design.Field) []member {
	var out []member
	for _, x := range list {
		for _, f := range fields {
			if f.Name == x.Name {
				out = append(out, x)
			}
		}
	}
	return out
}
