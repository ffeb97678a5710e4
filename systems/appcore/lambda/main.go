// Command lambda is AppCore by itself: in AWS Lambda every function of template.yaml, elsewhere a server; see lambda --help.
package main

import (
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/run"
)

func main() { run.Main(appcore.System(appcore.Options{})) }
