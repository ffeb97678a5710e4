package transporteapp

import _ "embed" // the design

// Design is the text of the system's design.
//
//go:embed transporteapp.design.yaml
var Design []byte
