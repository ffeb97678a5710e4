// Command lambda is Trinity in AWS Lambda: the same binary for every function of template.yaml.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/trinity"
)

func main() { run.Lambda(trinity.System(trinity.Options{})) }
