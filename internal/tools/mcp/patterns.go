package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// pattern is a tool in the making.
type pattern struct {
	*server
	tool   *sdk.Tool
	inputs []lower.Input
	lines  []lower.Input
	ranged *design.Field
	paged  bool
	// The names of arguments that are not inputs; an input of such a name gives way to no one.
	from, to, limit, after string
}

func (s *server) patternTools() {
	for _, r := range s.program.Reads {
		p := s.pattern(explain.Read(s.Design, r.Design), r.Inputs)
		p.ranged, p.paged = r.Range, r.Design.Many
		p.reads()
		fields := entityFields(r.Fields)
		p.add(func(ctx context.Context, in table.Input, o table.PageOptions) (any, error) {
			if !r.Design.Many {
				v, err := s.db.Get(ctx, r.Run, in)
				return map[string]any{"item": s.shown(fields, v)}, err
			}
			page, err := s.db.Page(ctx, r.Run, in, o)
			items := []any{}
			for _, v := range page.Items {
				items = append(items, s.shown(fields, v))
			}
			return map[string]any{"items": items, "next": page.Next}, err
		})
	}
	for _, c := range s.program.Collections {
		p := s.pattern(explain.Collection(s.Design, c.Design), c.Inputs)
		p.paged = true
		p.reads()
		p.add(func(ctx context.Context, in table.Input, o table.PageOptions) (any, error) {
			page, err := s.db.Collect(ctx, c.Run, in, o)
			items := []any{}
			for _, found := range page.Items {
				m := c.Members[found.Member]
				items = append(items, map[string]any{"entity": m.Entity.Name, "item": s.shown(entityFields(m.Fields), found.Values)})
			}
			return map[string]any{"items": items, "next": page.Next}, err
		})
	}
	if s.ReadOnly {
		return
	}
	for _, w := range s.program.Writes {
		p := s.pattern(explain.Write(s.Design, w.Design), w.Inputs)
		p.lines = w.Lines
		destroys := true
		p.tool.Annotations = &sdk.ToolAnnotations{DestructiveHint: &destroys, IdempotentHint: w.Design.Idempotent != nil}
		p.add(func(ctx context.Context, in table.Input, _ table.PageOptions) (any, error) {
			outcome, err := s.db.Write(ctx, w.Run, in)
			steps := []any{}
			for i, items := range outcome.Items {
				e := s.Design.Entity(w.Design.Steps[i].Entity)
				left := []any{}
				for _, v := range items {
					left = append(left, s.shown(entityFields(e.Fields), v))
				}
				steps = append(steps, map[string]any{"action": w.Design.Steps[i].Action, "entity": e.Name, "items": left})
			}
			return map[string]any{"done": err == nil, "replayed": outcome.Replayed, "steps": steps}, err
		})
	}
}

// pattern begins a tool.
func (s *server) pattern(p explain.Pattern, inputs []lower.Input) *pattern {
	var words strings.Builder
	_ = explain.WriteText(&words, p) // a builder fails never
	name := p.Name
	if slices.Contains([]string{"check", "explain", "cost", "test"}, name) {
		name = "pattern_" + name
	}
	return &pattern{server: s, inputs: inputs, tool: &sdk.Tool{Name: name, Description: strings.TrimSpace(words.String())}}
}

func (p *pattern) reads() {
	p.tool.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
}

// free is a name that no input has.
func (p *pattern) free(name string) string {
	for slices.ContainsFunc(p.inputs, func(i lower.Input) bool { return i.Name == name }) {
		name = "_" + name
	}
	return name
}

// add completes the schema and adds the tool.
func (p *pattern) add(run func(context.Context, table.Input, table.PageOptions) (any, error)) {
	schema := p.inputSchema(p.inputs)
	properties := schema["properties"].(map[string]any) //nolint:forcetypeassert // inputSchema made it
	if p.ranged != nil {
		p.from, p.to = p.free("from"), p.free("to")
		properties[p.from] = describe(p.typeSchema(p.ranged.Type, 0), "the least "+p.ranged.Name+"; may be left out")
		properties[p.to] = describe(p.typeSchema(p.ranged.Type, 0), "the greatest "+p.ranged.Name+"; may be left out")
	}
	if p.paged {
		p.limit, p.after = p.free("limit"), p.free("after")
		properties[p.limit] = describe(map[string]any{"type": "integer", "minimum": 1}, "how many items a page has at most")
		properties[p.after] = describe(map[string]any{"type": "string"}, "next of the page before")
	}
	if len(p.lines) > 0 {
		properties["lines"] = map[string]any{"type": "array", "items": p.inputSchema(p.lines)}
		schema["required"] = append(schema["required"].([]string), "lines") //nolint:forcetypeassert // inputSchema made it
	}
	p.tool.InputSchema = schema
	p.mcp.AddTool(p.tool, func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, err error) {
		out, err := p.call(ctx, r.Params.Arguments, run)
		if err != nil { // the model's to read, not the protocol's
			failed := &sdk.CallToolResult{}
			failed.SetError(err)
			return failed, nil
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(text), Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
	})
}

func (p *pattern) call(ctx context.Context, arguments json.RawMessage, run func(context.Context, table.Input, table.PageOptions) (any, error)) (out any, err error) {
	defer p.recovered(p.tool.Name, &err)
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
	return run(ctx, in, options)
}

// input is what the arguments ask the pattern.
func (p *pattern) input(given map[string]any) (in table.Input, o table.PageOptions, err error) {
	take := func(name string) (any, bool) {
		v, there := given[name]
		delete(given, name)
		return v, there && v != nil && name != ""
	}
	if v, there := take(p.from); there {
		if in.From, err = p.stored(p.ranged.Type, v, p.from); err != nil {
			return in, o, err
		}
	}
	if v, there := take(p.to); there {
		if in.To, err = p.stored(p.ranged.Type, v, p.to); err != nil {
			return in, o, err
		}
	}
	if v, there := take(p.limit); there {
		n, is := v.(json.Number)
		limit, err := n.Int64()
		if !is || err != nil || limit < 1 {
			return in, o, fmt.Errorf("%s is a whole number of at least 1", p.limit)
		}
		o.Limit = int(min(limit, table.MaxPage))
	}
	if v, there := take(p.after); there {
		cursor, is := v.(string)
		if !is {
			return in, o, fmt.Errorf("%s is a text", p.after)
		}
		o.After = table.Cursor(cursor)
	}
	if len(p.lines) > 0 {
		v, _ := take("lines")
		list, is := v.([]any)
		if !is {
			return in, o, fmt.Errorf("lines is a list")
		}
		for i, line := range list {
			object, is := line.(map[string]any)
			if !is {
				return in, o, fmt.Errorf("lines[%d] is no object", i)
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

// values are those of inputs; what is missing the runtime says.
func (p *pattern) values(inputs []lower.Input, given map[string]any) (table.Values, error) {
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
		stored, err := p.stored(i.Type, v, i.Name)
		if err != nil {
			return nil, err
		}
		out[i.Name] = stored
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		return nil, fmt.Errorf("there is no argument %s", name)
	}
	return out, nil
}

func (p *pattern) inputSchema(inputs []lower.Input) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, i := range inputs {
		words := i.Doc
		if words == "" && i.Of != "" {
			words = "for " + i.Of
		}
		properties[i.Name] = describe(p.typeSchema(i.Type, 0), words)
		if !i.Optional {
			required = append(required, i.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func describe(schema map[string]any, words string) map[string]any {
	if words != "" {
		schema["description"] = words
	}
	return schema
}
