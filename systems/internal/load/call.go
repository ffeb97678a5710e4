package load

import (
	"maps"
	"net/http"
)

// Get is a call of the connection's own user, like those that follow.
func Get(path string) Call { return Call{Method: http.MethodGet, Path: path} }

// Put replaces something.
func Put(path, body string) Call { return Call{Method: http.MethodPut, Path: path, Body: body} }

// Patch changes a part of something.
func Patch(path, body string) Call { return Call{Method: http.MethodPatch, Path: path, Body: body} }

// Post is for operations without an Idempotency-Key.
func Post(path, body string) Call { return Call{Method: http.MethodPost, Path: path, Body: body} }

// Delete removes something.
func Delete(path string) Call { return Call{Method: http.MethodDelete, Path: path} }

// Create is a Post with an Idempotency-Key.
func Create(path, body string) Call { return Post(path, body).With("Idempotency-Key", "load-{n}") }

// By is the call by another user of the connection; "-" sends no token.
func (c Call) By(user string) Call {
	c.As = user
	return c
}

// In is the call by a member of groups.
func (c Call) In(groups ...string) Call {
	c.Groups = groups
	return c
}

// With is the call with a header.
func (c Call) With(header, value string) Call {
	c.Header = with(c.Header, header, value)
	return c
}

// Keeping is the call with one more value to keep of its response; a name of "" keeps nothing.
func (c Call) Keeping(name, at string) Call {
	if name != "" {
		c.Keep = with(c.Keep, name, at)
	}
	return c
}

// After is the call with the calls that are made before each of it.
func (c Call) After(calls ...Call) Call {
	c.Before = calls
	return c
}

// with is a copy of a map with one more entry: calls share theirs.
func with(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}
