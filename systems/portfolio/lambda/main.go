// Command lambda is Portfolio by itself: in AWS Lambda every function of template.yaml, elsewhere a server; see lambda --help.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/portfolio"
)

func main() { run.Main(portfolio.System()) }
