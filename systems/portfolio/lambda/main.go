// Command lambda runs Portfolio on its own: in AWS Lambda, every function of template.yaml; elsewhere, a server. See lambda
// --help.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/portfolio"
)

func main() { run.Main(portfolio.System()) }
