package catfecito

import _ "embed" // the design

// Design is the system's design, as its file has it.
//
//go:embed catfecito.design.yaml
var Design []byte
