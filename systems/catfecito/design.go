package catfecito

import _ "embed" // the design

// Design is the text of the system's design.
//
//go:embed catfecito.design.yaml
var Design []byte
