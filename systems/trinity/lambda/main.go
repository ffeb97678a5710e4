// Command lambda runs Trinity on its own: in AWS Lambda every function of template.yaml, elsewhere a server.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/trinity"
)

func main() { run.Main(trinity.System(trinity.Options{})) }
