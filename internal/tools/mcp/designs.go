package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/docs/rules"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/trial"
)

// subject identifies the design of a call.
type subject struct {
	File string `json:"file,omitempty" jsonschema:"the design's file, below the server's directory; default, without text: the server's own design"`
	Text string `json:"text,omitempty" jsonschema:"a design as YAML, instead of a file"`
}

type (
	checkIn struct {
		subject

		All  bool   `json:"all,omitempty" jsonschema:"also return accepted findings"`
		Rule string `json:"rule,omitempty" jsonschema:"return the page of this rule, such as ST102, instead of checking"`
	}
	explainIn struct {
		subject

		Patterns []string `json:"patterns,omitempty" jsonschema:"the names of reads, collections and writes; default: all"`
	}
	costIn struct {
		subject
	}
	testIn struct {
		subject

		Run   string `json:"run,omitempty" jsonschema:"a regular expression that selects the patterns to run"`
		Seed  uint64 `json:"seed,omitempty" jsonschema:"random seed for items and calls; default 1"`
		Items int    `json:"items,omitempty" jsonschema:"approximate number of items per entity; default 300"`
	}
)

// maxItems bounds the number of items in a call of test.
const maxItems = 1000

func (s *server) designTools() {
	reads := func(name, title, description string) *sdk.Tool {
		closed := false
		return &sdk.Tool{
			Name: name, Description: description,
			Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
		}
	}
	add(s, reads("check", "Check a design", "Find defects in a single-table design: invalid text, keys that collide, "+
		"reads that DynamoDB rejects or that return too much, hot partitions, leaking indexes, writes that lose data. "+
		"Each finding has a rule, a position, a counterexample and a fix; with rule, return the page of a rule."), s.check)
	add(s, reads("explain", "Explain a design's patterns", "Show the request of each read, collection and write of a design, its cost in capacity units, "+
		"its consistency, and the items that writes affect."), s.explain)
	add(s, reads("cost", "Price a design", "Estimate the monthly cost of a design from its declared rates and volumes."), s.cost)
	add(s, reads("test", "Test a design", "Run every pattern of a design on an in-memory database and compare the results with a reference. "+
		"Takes a few seconds, and ends after a minute: unfinished has the patterns that were not run by then."), s.test)
}

// add adds a tool that returns a value.
func add[In any](s *server, t *sdk.Tool, f func(context.Context, In) (any, error)) {
	sdk.AddTool(s.mcp, t, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (_ *sdk.CallToolResult, out any, err error) {
		defer s.recovered(t.Name, &err)
		out, err = f(ctx, in)
		return nil, out, err
	})
}

// load reads the design of a call.
func (s *server) load(in subject) (*design.Design, string, error) {
	name := in.File
	switch {
	case in.Text != "" && in.File != "":
		return nil, "", errors.New("use either file or text, not both")
	case in.Text != "":
		d, err := design.Parse("text", []byte(in.Text))
		return d, "", err
	case name == "" && s.File == "":
		return nil, "", errors.New("no design given: use file or text")
	case name == "" || name == s.File: // which may be outside of the root
		d, err := design.Load(s.File)
		return d, s.File, err
	}
	if filepath.IsAbs(name) {
		relative, err := filepath.Rel(s.Root.Name(), name)
		if err != nil {
			return nil, "", err
		}
		name = relative
	}
	data, err := s.read(name)
	if err != nil {
		return nil, "", err
	}
	parse := design.Parse
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		parse = design.ParseJSON
	case ".md", ".markdown":
		parse = design.ParseMarkdown
	case ".yaml", ".yml":
	default:
		return nil, "", fmt.Errorf("%s is not a design: want .yaml, .json or .md", name)
	}
	d, err := parse(name, data)
	return d, filepath.Join(s.Root.Name(), name), err
}

// read reads a file below the root that can be a design by its kind and size: a client can name any file, also a pipe that
// nobody writes, or one larger than the memory.
func (s *server) read(name string) ([]byte, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%s is outside of %s: only files below it can be read", name, s.Root.Name())
	}
	info, err := s.Root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s in %s", name, s.Root.Name())
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > design.MaxJSONBytes:
		return nil, fmt.Errorf("%s is not a design: it has %d bytes", name, info.Size())
	}
	return s.Root.ReadFile(name)
}

// fault is an error in a design's text.
type fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
}

type checkOut struct {
	Design   string         `json:"design,omitempty"`
	Errors   []fault        `json:"errors,omitempty"`
	Findings check.Findings `json:"findings"`
}

func (s *server) check(_ context.Context, in checkIn) (any, error) {
	if in.Rule != "" {
		page, err := rules.Page(strings.ToUpper(in.Rule))
		if err != nil {
			return nil, fmt.Errorf("unknown rule %s", in.Rule)
		}
		return map[string]string{"rule": strings.ToUpper(in.Rule), "page": page}, nil
	}
	d, file, err := s.load(in.subject)
	if faults, ok := errors.AsType[design.Errors](err); ok {
		out := checkOut{Findings: check.Findings{}}
		for _, f := range faults {
			out.Errors = append(out.Errors, fault{f.Pos.Line, f.Pos.Column, f.Message, f.Hint, f.Excerpt()})
		}
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	findings, err := s.Check(file, d)
	if err != nil {
		return nil, err
	}
	if !in.All {
		findings = slices.DeleteFunc(findings, func(f check.Finding) bool { return f.Accepted != "" })
	}
	return checkOut{Design: d.Name, Findings: findings}, nil
}

func (s *server) explain(_ context.Context, in explainIn) (any, error) {
	d, _, err := s.load(in.subject)
	if err != nil {
		return nil, err
	}
	out := struct {
		Patterns []explain.Pattern `json:"patterns"`
	}{[]explain.Pattern{}}
	for _, p := range explain.All(d) {
		if len(in.Patterns) == 0 || slices.Contains(in.Patterns, p.Name) {
			out.Patterns = append(out.Patterns, p)
		}
	}
	for _, name := range in.Patterns {
		if !slices.ContainsFunc(out.Patterns, func(p explain.Pattern) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s has no pattern %s", d.Name, name)
		}
	}
	return out, nil
}

func (s *server) cost(_ context.Context, in costIn) (any, error) {
	d, _, err := s.load(in.subject)
	if err != nil {
		return nil, err
	}
	prices, err := cost.PricesOf(d.Workload.Region)
	if err != nil {
		return nil, err
	}
	return cost.OfMonth(d, prices), nil
}

func (s *server) test(ctx context.Context, in testIn) (any, error) {
	chosen, err := regexp.Compile(in.Run)
	if err != nil {
		return nil, err
	}
	if in.Items < 0 || in.Items > maxItems {
		return nil, fmt.Errorf("items must be from 1 to %d", maxItems)
	}
	d, _, err := s.load(in.subject)
	if err != nil {
		return nil, err
	}
	t, err := trial.New(d, trial.Options{Seed: max(in.Seed, 1), Items: in.Items})
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Close() }() // an in-memory database
	subjects := slices.DeleteFunc(t.Subjects(), func(subject trial.Subject) bool { return !chosen.MatchString(subject.Name) })
	if len(subjects) == 0 && in.Run != "" {
		return nil, fmt.Errorf("run %q matches no pattern or entity", in.Run)
	}
	if len(subjects) == 0 {
		return nil, errors.New("not exercised: the design has nothing to run")
	}
	out := struct {
		OK         bool            `json:"ok"`
		Results    []*trial.Result `json:"results"`
		Unfinished []string        `json:"unfinished,omitempty"`
	}{true, []*trial.Result{}, nil}
	limited, cancel := context.WithTimeout(ctx, s.TestTime)
	defer cancel()
	for _, subject := range subjects {
		result, err := t.Try(limited, subject)
		switch {
		case limited.Err() != nil && ctx.Err() == nil: // the result is incomplete
			out.OK = false
			out.Unfinished = append(out.Unfinished, subject.Name)
		case err != nil:
			return nil, err
		default:
			out.OK = out.OK && result.OK()
			out.Results = append(out.Results, result)
		}
	}
	return out, nil
}
