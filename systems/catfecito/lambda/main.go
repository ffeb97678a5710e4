// Command lambda runs CatFecito on its own: in AWS Lambda, every function of template.yaml; elsewhere, a server. See lambda
// --help.
package main

import (
	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/run"
)

func main() { run.Main(catfecito.System(catfecito.Options{})) }
