package inspect

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// caller is the sender of a request.
type caller struct {
	who     *policy.Principal // nil for the owner of the database, and without authentication
	request *http.Request
}

// table returns a table's engine and its name there, if the caller may run the operation on it.
func (h *Handler) table(by caller, operation, name string) (*engine.Engine, string, error) {
	if name == "" {
		return nil, "", invalid("TableName is required.")
	}
	in, name := h.options.In(name)
	resource, err := in.Resource(name)
	if err != nil {
		return nil, "", err
	}
	parts := strings.SplitN(resource, ":", 6)
	k := keys{policy.Circumstances{Request: by.request, Region: parts[3], Now: h.options.Now}, in, strings.TrimPrefix(parts[5], "table/")}
	return in, name, authorize(by.who, operation, resource, k)
}

// authorizeServer decides about an operation that is not on a table.
func (h *Handler) authorizeServer(by caller, operation string) error {
	return authorize(by.who, operation, "*", policy.Circumstances{Request: by.request, Now: h.options.Now})
}

// authorize rejects what the caller's policies do not allow.
func authorize(who *policy.Principal, operation, resource string, keys policy.Keys) error {
	action := "monotable:" + operation
	if who == nil || policy.Evaluate(who, &policy.Request{Action: action, Resource: resource, Keys: keys}) == policy.Allowed {
		return nil
	}
	return &fault{
		http.StatusBadRequest, "AccessDeniedException",
		fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", who.ARN, action, resource),
	}
}

// keys are the condition keys of an operation on a table, which returns whole items.
type keys struct {
	policy.Circumstances

	in    *engine.Engine
	table string
}

// Key returns the value of a condition key.
func (k keys) Key(name string) policy.Value {
	switch name {
	case "dynamodb:leadingkeys", "dynamodb:attributes":
		return policy.Value{Unbounded: true}
	}
	tag, isTag := strings.CutPrefix(name, "aws:resourcetag/")
	if t := k.in.Tables()[k.table]; isTag && t != nil {
		for _, x := range t.Descriptor.Tags {
			if strings.EqualFold(x.Key, tag) {
				return policy.One(x.Value)
			}
		}
	}
	return k.Circumstances.Key(name)
}
