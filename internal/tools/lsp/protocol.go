package lsp

// The supported part of the Language Server Protocol, version 3.17, with the protocol's names.
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"` // UTF-16 units
	}
	textRange struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	location struct {
		URI   string    `json:"uri"`
		Range textRange `json:"range"`
	}
	documentID struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	}
	openParams struct {
		TextDocument struct {
			documentID
			Text string `json:"text"`
		} `json:"textDocument"`
	}
	changeParams struct {
		TextDocument   documentID `json:"textDocument"`
		ContentChanges []struct {
			Range *textRange `json:"range"`
			Text  string     `json:"text"`
		} `json:"contentChanges"`
	}
	placeParams struct {
		TextDocument documentID `json:"textDocument"`
		Position     position   `json:"position"`
		NewName      string     `json:"newName"` // of rename
		Context      struct {
			IncludeDeclaration bool `json:"includeDeclaration"` // of references
		} `json:"context"`
	}
	diagnostic struct {
		Range              textRange        `json:"range"`
		Severity           int              `json:"severity"`
		Code               string           `json:"code,omitempty"`
		CodeDescription    *codeDescription `json:"codeDescription,omitempty"`
		Source             string           `json:"source"`
		Message            string           `json:"message"`
		RelatedInformation []related        `json:"relatedInformation,omitempty"`
	}
	codeDescription struct {
		Href string `json:"href"`
	}
	related struct {
		Location location `json:"location"`
		Message  string   `json:"message"`
	}
	publishParams struct {
		URI         string       `json:"uri"`
		Version     int          `json:"version"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	markup struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	}
	hover struct {
		Contents markup    `json:"contents"`
		Range    textRange `json:"range"`
	}
	completionList struct {
		IsIncomplete bool             `json:"isIncomplete"`
		Items        []completionItem `json:"items"`
	}
	completionItem struct {
		Label         string   `json:"label"`
		Kind          int      `json:"kind"`
		Detail        string   `json:"detail,omitempty"`
		Documentation string   `json:"documentation,omitempty"`
		TextEdit      textEdit `json:"textEdit"`
	}
	textEdit struct {
		Range   textRange `json:"range"`
		NewText string    `json:"newText"`
	}
	workspaceEdit struct {
		Changes map[string][]textEdit `json:"changes"`
	}
	prepared struct {
		Range       textRange `json:"range"`
		Placeholder string    `json:"placeholder"`
	}
)

// Kinds of completion items.
const (
	itemField    = 5
	itemClass    = 7
	itemProperty = 10
	itemValue    = 12
	itemEvent    = 23
)

// capabilities is the result of initialize.
func capabilities(version string) map[string]any {
	return map[string]any{
		"serverInfo": map[string]any{"name": "monotable", "version": version},
		"capabilities": map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": false},
			"hoverProvider":              true,
			"completionProvider":         map[string]any{"triggerCharacters": []string{"{", "[", ",", " ", ":", "."}},
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"documentFormattingProvider": true,
		},
	}
}
