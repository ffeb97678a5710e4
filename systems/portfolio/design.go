package portfolio

import _ "embed" // the design

// Design is the system's design, as its file has it.
//
//go:embed portfolio.design.yaml
var Design []byte
