package catfecito_test

import "testing"

// TestLoad: the load plan has every operation, and all of its requests succeed.
func TestLoad(t *testing.T) {
	t.Parallel()
	v := open(t)
	v.Load(t)
	scan(t, v).sound(t)
}
