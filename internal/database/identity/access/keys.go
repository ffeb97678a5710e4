package access

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// facts are the values of the condition keys of an operation on items. bind, unless nil, determines keys and attributes on
// demand.
type facts struct {
	bind func(*facts)

	keys           []string // leading keys
	everyKey       bool
	attributes     []string
	everyAttribute bool

	selects, consumed, enclosing string   // "" if the key is missing
	returns                      []string // ReturnValues, and those of a failed condition
	scans                        string   // FullTableScan
}

// wide returns the facts of an operation that reads or changes items without naming them.
func wide() facts { return facts{everyKey: true, everyAttribute: true} }

// keys are the condition keys of one need of a request.
type keys struct {
	call *call
	need *need
}

const (
	resourceTag = "aws:resourcetag/"
	requestTag  = "aws:requesttag/"
)

// Key returns the value of a condition key.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
func (k *keys) Key(name string) policy.Value {
	k.call.asked = true
	if key, ok := strings.CutPrefix(name, service); ok {
		return k.need.facts.key(key)
	}
	if tag, ok := strings.CutPrefix(name, resourceTag); ok {
		return k.resourceTag(tag)
	}
	if tag, ok := strings.CutPrefix(name, requestTag); ok {
		for _, t := range k.requestTags() {
			if t.Key != nil && t.Value != nil && strings.EqualFold(*t.Key, tag) {
				return policy.One(*t.Value)
			}
		}
		return policy.Value{}
	}
	if name == "aws:tagkeys" {
		return policy.Value{Texts: k.tagKeys()}
	}
	return policy.Circumstances{Request: k.call.http, Region: k.need.resource.region, Now: k.call.a.options.Now}.Key(name)
}

func (k *keys) resourceTag(key string) policy.Value {
	if t := k.need.resource.table; t != nil {
		for _, tag := range t.Descriptor.Tags {
			if strings.EqualFold(tag.Key, key) {
				return policy.One(tag.Value)
			}
		}
	}
	return policy.Value{}
}

// requestTags returns the tags that a request attaches.
func (k *keys) requestTags() []api.Tag {
	switch in := k.call.in.(type) {
	case *api.TagResourceInput:
		return in.Tags
	case *api.CreateTableInput:
		return in.Tags
	default:
		return nil
	}
}

// tagKeys returns the keys of tags that a request attaches or removes.
func (k *keys) tagKeys() []string {
	if in, ok := k.call.in.(*api.UntagResourceInput); ok {
		return in.TagKeys
	}
	var names []string
	for _, t := range k.requestTags() {
		if t.Key != nil {
			names = append(names, *t.Key)
		}
	}
	return names
}

// key returns one of DynamoDB's own keys.
func (f *facts) key(name string) policy.Value {
	switch name {
	case "leadingkeys":
		f.find()
		return policy.Value{Texts: f.keys, Unbounded: f.everyKey}
	case "attributes":
		f.find()
		return policy.Value{Texts: f.attributes, Unbounded: f.everyAttribute}
	case "select":
		return policy.OneIf(f.selects)
	case "returnvalues":
		return policy.Value{Texts: f.returns}
	case "returnconsumedcapacity":
		return policy.OneIf(f.consumed)
	case "enclosingoperation":
		return policy.OneIf(f.enclosing)
	case "fulltablescan":
		return policy.OneIf(f.scans)
	default:
		return policy.Value{}
	}
}

func (f *facts) find() {
	if f.bind != nil {
		f.bind(f)
		f.bind = nil
	}
}
