// Command lambda runs AppCore on its own: in AWS Lambda, every function of template.yaml; elsewhere, a server. See lambda --help.
package main

import (
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/run"
)

func main() { run.Main(appcore.System(appcore.Options{})) }
