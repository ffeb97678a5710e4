package lsp

import (
	"context"
	"errors"
	"strings"

	"github.com/creachadair/jrpc2"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// Severities of diagnostics.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

// rulePages is the location of the rules' pages.
const rulePages = "https://github.com/monotable/monotable/blob/main/docs/rules/"

func (s *server) open(_ context.Context, r *jrpc2.Request) (any, error) {
	var p openParams
	if err := r.UnmarshalParams(&p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &document{text: newText(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)}
	if old := s.documents[p.TextDocument.URI]; old != nil {
		old.closed = true
	}
	s.documents[p.TextDocument.URI] = d
	s.changed(d)
	return nil, nil //nolint:nilnil // notifications have no result
}

func (s *server) change(_ context.Context, r *jrpc2.Request) (any, error) {
	var p changeParams
	if err := r.UnmarshalParams(&p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[p.TextDocument.URI]
	if d == nil {
		return nil, nil //nolint:nilnil // notifications have no result
	}
	for _, c := range p.ContentChanges {
		d.text = newText(d.text.uri, p.TextDocument.Version, d.text.edit(c.Range, c.Text))
	}
	s.changed(d)
	return nil, nil //nolint:nilnil // notifications have no result
}

func (s *server) close(ctx context.Context, r *jrpc2.Request) (any, error) {
	var p placeParams
	if err := r.UnmarshalParams(&p); err != nil {
		return nil, err
	}
	uri := p.TextDocument.URI
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[uri]; d != nil {
		d.closed = true
	}
	delete(s.documents, uri)
	return nil, s.rpc.Notify(ctx, "textDocument/publishDiagnostics", publishParams{URI: uri, Diagnostics: []diagnostic{}})
}

// changed starts a check of a document; the caller holds mu.
func (s *server) changed(d *document) {
	if d.running {
		d.again = true
		return
	}
	d.running = true
	s.work.Add(1)
	go s.analyse(d)
}

// analyse checks a document until its latest version is checked.
func (s *server) analyse(d *document) {
	defer s.work.Done()
	for {
		s.mu.Lock()
		t := d.text
		d.again = false
		s.mu.Unlock()
		found, good := s.diagnose(t)
		s.mu.Lock()
		if good != nil {
			d.good = good
		}
		again, closed := d.again, d.closed
		if !again || closed {
			d.running = false
		}
		if !again && !closed {
			// An editor that has disconnected gets no more notifications. The lock keeps them before those of close.
			_ = s.rpc.Notify(context.Background(), "textDocument/publishDiagnostics", publishParams{t.uri, t.version, found})
		}
		s.mu.Unlock()
		if !again || closed {
			return
		}
	}
}

// diagnose returns everything that is wrong with a text, and its design if the text is complete.
func (s *server) diagnose(t *text) (found []diagnostic, good *design.Design) {
	found = []diagnostic{}
	defer func() {
		if p := recover(); p != nil {
			found = append(found, diagnostic{Severity: severityError, Source: "monotable", Message: s.panicked("check", p).Error()})
		}
	}()
	d, err := design.Parse(t.name, []byte(t.content))
	if err != nil {
		return append(found, t.faults(err)...), nil
	}
	findings, err := s.options.Check(t.name, d)
	if err != nil {
		found = append(found, diagnostic{Severity: severityError, Source: "monotable", Message: err.Error()})
	}
	for _, f := range findings {
		if f.Accepted == "" {
			found = append(found, t.finding(f))
		}
	}
	return found, d
}

// faults converts the errors of design.Parse.
func (t *text) faults(err error) []diagnostic {
	list, ok := errors.AsType[design.Errors](err)
	if !ok {
		return []diagnostic{{Severity: severityError, Source: "monotable", Message: err.Error()}}
	}
	var out []diagnostic
	for _, e := range list {
		message := e.Message
		if e.Hint != "" {
			message += " (" + e.Hint + ")"
		}
		out = append(out, diagnostic{Range: t.wordRange(e.Pos), Severity: severityError, Source: "monotable", Message: message})
	}
	return out
}

// finding converts a finding of check, with the positions of other affected objects.
func (t *text) finding(f check.Finding) diagnostic {
	severity := map[check.Severity]int{check.Error: severityError, check.Warning: severityWarning}[f.Severity]
	if severity == 0 {
		severity = severityInformation
	}
	message := f.Subject + ": " + f.Message
	if f.Witness != "" {
		message += "\nCounterexample: " + f.Witness
	}
	if f.Fix != "" {
		message += "\nFix: " + f.Fix
	}
	out := diagnostic{
		Range: t.wordRange(f.Pos), Severity: severity, Source: "monotable", Message: message,
		Code: f.Rule, CodeDescription: &codeDescription{rulePages + f.Rule + ".md"},
	}
	if !strings.HasPrefix(f.Rule, "ST") { // a rule of the policy
		out.CodeDescription = nil
	}
	for part := range strings.SplitSeq(f.Subject, "+") {
		name, _, _ := strings.Cut(part, ".")
		for _, s := range t.scanned().symbols {
			if s.declares && s.name == name && (s.kind == entityKind || s.kind == patternKind || s.kind == tableKind) {
				if r := t.rangeOf(s.from, s.to); r != out.Range {
					out.RelatedInformation = append(out.RelatedInformation, related{location{t.uri, r}, name + " is declared here"})
				}
				break
			}
		}
	}
	return out
}
