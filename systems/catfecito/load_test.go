package catfecito_test

import "testing"

// TestLoad: the load plan has every operation, and none of its requests is refused.
func TestLoad(t *testing.T) {
	t.Parallel()
	v := open(t)
	v.Load(t)
	scan(t, v).sound(t)
}
