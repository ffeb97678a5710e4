package policy

import "strings"

// Value is the value of a condition key in a request; the zero Value is a missing key.
type Value struct {
	Texts []string
	// Unbounded means that the request concerns more values than it names, possibly all.
	Unbounded bool
}

// One returns the value of a key with a single value.
func One(text string) Value { return Value{Texts: []string{text}} }

// OneIf returns the value of a key that is missing if it would be empty.
func OneIf(text string) Value {
	if text == "" {
		return Value{}
	}
	return One(text)
}

// Keys are the condition keys of a request.
type Keys interface {
	// Key returns the value of a key, given its lower-case name.
	Key(name string) Value
}

// Request is one action on one resource.
type Request struct {
	// Action is service:Name; Resource is an ARN, or "*" for actions without a resource.
	Action, Resource string
	// Account owns the resource.
	Account string
	// Policy is the resource's own policy, or nil.
	Policy *Policy
	// Keys are the request's own condition keys, not necessarily including the principal's.
	Keys Keys
}

// lookup finds condition keys of a request: the principal's, then the request's.
type lookup struct {
	who *Principal
	r   *Request
	// unresolved is set when a variable has neither a value nor a fallback.
	unresolved bool
}

func (l *lookup) value(name string) Value {
	if v, ok := l.who.key(name); ok {
		return v
	}
	if name == "aws:resourceaccount" && l.r.Account != "" {
		return One(l.r.Account)
	}
	if l.r.Keys == nil {
		return Value{}
	}
	return l.r.Keys.Key(name)
}

// variable returns the text of a variable: the single value of its key, else its fallback.
func (l *lookup) variable(t *token) (text string, ok bool) {
	if v := l.value(t.text); len(v.Texts) == 1 && !v.Unbounded {
		return v.Texts[0], true
	}
	if !t.optional {
		l.unresolved = true
	}
	return t.fallback, t.optional
}

const principalTag = "aws:principaltag/"

// key returns a condition key of the principal. ok means that the request must not override it, even if it is missing.
func (p *Principal) key(name string) (v Value, ok bool) {
	one := func(text string) (Value, bool) {
		if text == "" {
			return Value{}, true
		}
		return One(text), true
	}
	switch name {
	case "aws:principalarn":
		if p.Role != "" {
			return one(p.Role)
		}
		return one(p.ARN)
	case "aws:principalaccount":
		return one(p.Account)
	case "aws:principaltype":
		return one(p.kind())
	case "aws:userid":
		return one(p.UserID)
	case "aws:username":
		return one(p.Username)
	}
	if tag, is := strings.CutPrefix(name, principalTag); is {
		for key, value := range p.Tags {
			if strings.EqualFold(key, tag) {
				return One(value), true
			}
		}
		return Value{}, true
	}
	texts, ok := p.Keys[name]
	return Value{Texts: texts}, ok
}

func (p *Principal) kind() string {
	switch {
	case p.Role != "":
		return "AssumedRole"
	case p.Root:
		return "Account"
	case strings.Contains(p.ARN, ":federated-user/"):
		return "FederatedUser"
	case p.ARN == "":
		return "Anonymous"
	default:
		return "User"
	}
}
