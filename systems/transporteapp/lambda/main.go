// Command lambda is TransporteApp in AWS Lambda: the same binary for every function of template.yaml.
package main

import (
	_ "time/tzdata" // Lambda's image has no time zones

	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/transporteapp"
)

func main() { run.Lambda(transporteapp.System(transporteapp.Options{})) }
