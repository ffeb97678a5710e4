package portfolio_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/portfolio"
)

// TestLoad: every request of the load plan succeeds, repeatedly. A worker creates the notifications.
func TestLoad(t *testing.T) {
	t.Parallel()
	v := apitest.Open(t, portfolio.System())
	v.Work(t)
	v.Load(t)
	scan(t, v).sound(t)
}
