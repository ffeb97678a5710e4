// Command lambda runs the system of package systemtest on its own, for tests of what runs a system.
package main

import (
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

func main() { run.Main(systemtest.Notes(systemtest.Hooks{})) }
