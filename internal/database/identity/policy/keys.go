package policy

import "strings"

// Value is what a condition key stands for in a request; the zero Value is an absent key.
type Value struct {
	Texts []string
	// Unbounded says that the request concerns more values than it names, all that there are perhaps.
	Unbounded bool
}

// One is a key of one value.
func One(text string) Value { return Value{Texts: []string{text}} }

// Keys are the condition keys of a request.
type Keys interface {
	// Key returns the value of a key, whose name is in lower case.
	Key(name string) Value
}

// Request is one action on one resource.
type Request struct {
	// Action is service:Name; Resource is an ARN, or "*" for actions that have none.
	Action, Resource string
	// Account is that of the resource.
	Account string
	// Policy is the resource's own, nil for none.
	Policy *Policy
	// Keys are the request's own condition keys; the principal's need not be among them.
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

// variable is the text that a variable stands for: the one value of its key, else its fallback.
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

// key is a condition key of the principal. ok is true where nothing else may say what the key is, though it be absent.
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
