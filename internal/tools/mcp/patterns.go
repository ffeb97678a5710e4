package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/monotable/monotable/internal/tools/designer/call"
	"github.com/monotable/monotable/internal/tools/designer/explain"
)

// patternTools adds a tool for each pattern.
func (s *server) patternTools() {
	for _, p := range s.patterns.All() {
		if p.Writes && s.ReadOnly {
			continue
		}
		t := &sdk.Tool{Name: toolName(p), Description: description(p), InputSchema: p.Schema()}
		if p.Writes {
			destroys := true
			t.Annotations = &sdk.ToolAnnotations{DestructiveHint: &destroys, IdempotentHint: p.Idempotent}
		} else {
			t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
		}
		s.mcp.AddTool(t, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			out, err := s.call(ctx, t.Name, p, r.Params.Arguments)
			if err != nil { // for the model to read, not a protocol error
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
}

func (s *server) call(ctx context.Context, tool string, p *call.Pattern, arguments json.RawMessage) (out any, err error) {
	defer s.recovered(tool, &err)
	return p.Call(ctx, s.db, arguments)
}

// toolName is the pattern's name, unless a tool for designs has the same name.
func toolName(p *call.Pattern) string {
	if slices.Contains([]string{"check", "explain", "cost", "test"}, p.Explained.Name) {
		return "pattern_" + p.Explained.Name
	}
	return p.Explained.Name
}

func description(p *call.Pattern) string {
	var words strings.Builder
	_ = explain.WriteText(&words, p.Explained) // a strings.Builder never fails
	return strings.TrimSpace(words.String())
}
