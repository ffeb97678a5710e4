// Command lambda runs Trinity on its own: as a server, or in AWS Lambda, where the same binary serves every function in
// template.yaml.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/trinity"
)

func main() { run.Main(trinity.System(trinity.Options{})) }
