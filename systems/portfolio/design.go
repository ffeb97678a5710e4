package portfolio

import _ "embed" // the design

// Design is the text of the system's design.
//
//go:embed portfolio.design.yaml
var Design []byte
