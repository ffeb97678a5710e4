package load

import (
	"maps"
	"net/http"
)

// Get is a call by the connection's own user, like those below.
func Get(path string) Call { return Call{Method: http.MethodGet, Path: path} }

// Put calls an operation that replaces something.
func Put(path, body string) Call { return Call{Method: http.MethodPut, Path: path, Body: body} }

// Patch calls an operation that changes a part of something.
func Patch(path, body string) Call { return Call{Method: http.MethodPatch, Path: path, Body: body} }

// Post calls an operation without an Idempotency-Key.
func Post(path, body string) Call { return Call{Method: http.MethodPost, Path: path, Body: body} }

// Delete calls an operation that removes something.
func Delete(path string) Call { return Call{Method: http.MethodDelete, Path: path} }

// Create is a Post with an Idempotency-Key.
func Create(path, body string) Call { return Post(path, body).With("Idempotency-Key", "load-{n}") }

// By returns the call by another user of the connection; "-" sends no token.
func (c Call) By(user string) Call {
	c.As = user
	return c
}

// In returns the call by a member of groups.
func (c Call) In(groups ...string) Call {
	c.Groups = groups
	return c
}

// With returns the call with a header.
func (c Call) With(header, value string) Call {
	c.Header = with(c.Header, header, value)
	return c
}

// Keeping returns the call with one more value of its response to keep; a name of "" keeps nothing.
func (c Call) Keeping(name, at string) Call {
	if name != "" {
		c.Keep = with(c.Keep, name, at)
	}
	return c
}

// After returns the call with calls that are made before each repetition.
func (c Call) After(calls ...Call) Call {
	c.Before = calls
	return c
}

// with returns a copy of a map with one more entry, because calls share their maps.
func with(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}
