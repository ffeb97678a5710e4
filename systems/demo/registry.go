package demo

import (
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/system"
)

// registered are the systems, in the order in which they are shown; each is one line.
func registered() []system.System {
	return []system.System{
		appcore.System(appcore.Options{}),
	}
}
