package check

import (
	"encoding/json"
	"io"

	"github.com/monotable/monotable/design"
)

// The subset of SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0) that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Text sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// Checked is a design with its findings.
type Checked struct {
	Design   *design.Design
	Findings Findings
}

// WriteSARIF writes the findings of a command as SARIF, for code hosts and editors. A code host takes findings of the same tool that are
// no longer there for fixed, so each command is a tool of its own.
func WriteSARIF(w io.Writer, command string, all []Checked) error {
	run := sarifRun{Tool: sarifTool{Driver: sarifDriver{Name: command}}, Results: []sarifResult{}}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.Title}})
	}
	for _, c := range all {
		for _, f := range c.Findings {
			run.Results = append(run.Results, sarifOf(c.Design, f))
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifOf(d *design.Design, f Finding) sarifResult {
	level := map[Severity]string{Error: "error", Warning: "warning", Info: "note"}[f.Severity]
	text := f.Subject + ": " + f.Message
	if f.Witness != "" {
		text += "\nCounterexample: " + f.Witness
	}
	if f.Fix != "" {
		text += "\nFix: " + f.Fix
	}
	out := sarifResult{RuleID: f.Rule, Level: level, Message: sarifText{text}}
	if d.Source != nil && f.Pos.Line > 0 {
		out.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{d.Source.Name}, sarifRegion{f.Pos.Line, f.Pos.Column}}}}
	}
	if f.Accepted != "" {
		out.Suppressions = []sarifSuppression{{"inSource", f.Accepted}}
	}
	return out
}
