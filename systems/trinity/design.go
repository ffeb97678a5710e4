package trinity

import _ "embed" // the design

// Design is the system's design, as its file has it.
//
//go:embed trinity.design.yaml
var Design []byte
