package trinity

import _ "embed" // the design

// Design is the text of the system's design.
//
//go:embed trinity.design.yaml
var Design []byte
