// Command lambda is TransporteApp on its own: in AWS Lambda every function of template.yaml, elsewhere a server; see lambda
// --help.
package main

import (
	_ "time/tzdata" // Lambda's image has no time zones

	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/transporteapp"
)

func main() { run.Main(transporteapp.System(transporteapp.Options{})) }
