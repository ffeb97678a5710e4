// Command lambda runs the system of package systemtest on its own, to test the code that runs systems.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

func main() { run.Main(systemtest.Notes(systemtest.Hooks{})) }
