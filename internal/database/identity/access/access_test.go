package access

import (
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// TestEveryOperationHasARule compares the table of operations with the API's.
func TestEveryOperationHasARule(t *testing.T) {
	known := map[string]bool{}
	for _, o := range api.Operations() {
		known[o.Name] = true
		if _, ok := rules[o.Name]; !ok {
			t.Errorf("%s has no rule", o.Name)
		}
	}
	for name := range rules {
		if !known[name] {
			t.Errorf("%s is no operation", name)
		}
	}
}
