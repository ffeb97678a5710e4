// Command lambda is Trinity by itself: a server, or in AWS Lambda the same binary for every function of template.yaml.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/trinity"
)

func main() { run.Main(trinity.System(trinity.Options{})) }
