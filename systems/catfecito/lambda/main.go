// Command lambda is CatFecito by itself: in AWS Lambda every function of template.yaml, elsewhere a server; see lambda --help.
package main

import (
	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/run"
)

func main() { run.Main(catfecito.System(catfecito.Options{})) }
