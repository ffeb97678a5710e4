package appcore

import _ "embed" // the design

// Design is the text of the system's design.
//
//go:embed appcore.design.yaml
var Design []byte
