package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// Call runs the pattern with arguments, a JSON object that matches Schema.
func (p *Pattern) Call(ctx context.Context, db *table.DB, arguments []byte) (any, error) {
	given := map[string]any{}
	if len(arguments) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(arguments))
		decoder.UseNumber()
		if err := decoder.Decode(&given); err != nil {
			return nil, err
		}
	}
	in, options, err := p.input(given)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, db, in, options)
}

// Schema is the JSON Schema of the arguments.
func (p *Pattern) Schema() map[string]any {
	schema, properties := p.inputSchema(p.inputs)
	if p.ranged != nil {
		properties[p.from] = describe(p.of.typeSchema(p.ranged.Type, 0), "lower bound of "+p.ranged.Name+", inclusive; optional")
		properties[p.to] = describe(p.of.typeSchema(p.ranged.Type, 0), "upper bound of "+p.ranged.Name+", inclusive; optional")
	}
	if p.paged {
		properties[p.limit] = describe(map[string]any{"type": "integer", "minimum": 1}, "maximum number of items per page")
		properties[p.after] = describe(map[string]any{"type": "string"}, "the value of next in the previous page")
	}
	if len(p.lines) > 0 {
		line, _ := p.inputSchema(p.lines)
		properties["lines"] = map[string]any{"type": "array", "items": line}
		schema["required"] = append(schema["required"].([]string), "lines") //nolint:forcetypeassert // inputSchema made it
	}
	return schema
}

// free is a name that no input has.
func (p *Pattern) free(name string) string {
	for slices.ContainsFunc(p.inputs, func(i lower.Input) bool { return i.Name == name }) {
		name = "_" + name
	}
	return name
}

// input converts the arguments to the pattern's input.
func (p *Pattern) input(given map[string]any) (in table.Input, o table.PageOptions, err error) {
	take := func(name string) (any, bool) {
		v, there := given[name]
		delete(given, name)
		return v, there && v != nil && name != ""
	}
	if v, there := take(p.from); there {
		if in.From, err = p.of.stored(p.ranged.Type, v, p.from); err != nil {
			return in, o, err
		}
	}
	if v, there := take(p.to); there {
		if in.To, err = p.of.stored(p.ranged.Type, v, p.to); err != nil {
			return in, o, err
		}
	}
	if v, there := take(p.limit); there {
		n, is := v.(json.Number)
		limit, err := n.Int64()
		if !is || err != nil || limit < 1 {
			return in, o, fmt.Errorf("%s must be a whole number of at least 1", p.limit)
		}
		o.Limit = int(min(limit, table.MaxPage))
	}
	if v, there := take(p.after); there {
		cursor, is := v.(string)
		if !is {
			return in, o, fmt.Errorf("%s must be a string", p.after)
		}
		o.After = table.Cursor(cursor)
	}
	if len(p.lines) > 0 {
		v, _ := take("lines")
		list, is := v.([]any)
		if !is {
			return in, o, errors.New("lines must be a list")
		}
		for i, line := range list {
			object, is := line.(map[string]any)
			if !is {
				return in, o, fmt.Errorf("lines[%d] must be an object", i)
			}
			values, err := p.values(p.lines, object)
			if err != nil {
				return in, o, fmt.Errorf("lines[%d]: %w", i, err)
			}
			in.Lines = append(in.Lines, values)
		}
	}
	in.Values, err = p.values(p.inputs, given)
	return in, o, err
}

// values converts inputs; the runtime reports missing ones.
func (p *Pattern) values(inputs []lower.Input, given map[string]any) (table.Values, error) {
	out := table.Values{}
	for _, i := range inputs {
		v, there := given[i.Name]
		delete(given, i.Name)
		if !there || v == nil {
			if !i.Optional {
				return nil, fmt.Errorf("%s is missing", i.Name)
			}
			continue
		}
		stored, err := p.of.stored(i.Type, v, i.Name)
		if err != nil {
			return nil, err
		}
		out[i.Name] = stored
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		return nil, fmt.Errorf("unknown argument %s", name)
	}
	return out, nil
}

func (p *Pattern) inputSchema(inputs []lower.Input) (schema, properties map[string]any) {
	properties = map[string]any{}
	required := []string{}
	for _, i := range inputs {
		words := i.Doc
		if words == "" && i.Of != "" {
			words = "for " + i.Of
		}
		properties[i.Name] = describe(p.of.typeSchema(i.Type, 0), words)
		if !i.Optional {
			required = append(required, i.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, properties
}

func describe(schema map[string]any, words string) map[string]any {
	if words != "" {
		schema["description"] = words
	}
	return schema
}

// Given builds arguments from an item's values, for all required inputs. ok is false if one is missing, or if nothing is
// required.
func (p *Pattern) Given(values table.Values) (arguments map[string]any, ok bool) {
	arguments = map[string]any{}
	for _, i := range p.inputs {
		value := values[i.Name]
		if i.Optional {
			continue
		}
		if value == nil || !i.Type.Scalar() || i.Type.Kind == design.KindSecret {
			return nil, false
		}
		arguments[i.Name] = p.of.json(i.Type, value)
	}
	return arguments, len(arguments) > 0 && len(p.lines) == 0
}
