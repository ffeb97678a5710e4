// Package policy checks resource-based policies: the JSON documents that PutResourcePolicy and CreateTable attach to a
// table or a stream. It does not evaluate them: nothing is allowed or denied here.
//
// A policy is a list of statements, each with an effect, principals, actions, resources and conditions:
//
//	{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "123456789012"},
//	  "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:us-east-1:123456789012:table/Music"}]}
//
// Every statement must have a principal, a table's may not name streams, a stream's only itself, and not everybody may be allowed something
// without a condition. The actions are those that AWS lists for the kind of resource.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-iam-actions.html
//
// Check keeps nothing and may be called at once.
package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// MaxBytes is the longest document, white space included.
const MaxBytes = 20 << 10

// Kind is the kind of resource that a policy is attached to.
type Kind uint8

// The kinds.
const (
	Table Kind = iota
	Stream
)

// Check checks a document that is to be attached to the resource of an ARN.
func Check(document string, kind Kind, arn string) error {
	if len(document) > MaxBytes {
		return apierr.PolicyTooLarge.With()
	}
	c := checker{kind: kind, arn: arn}
	statements, err := parse(document)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if err := c.statement(s); err != nil {
			return err
		}
	}
	if len(c.unknown) > 0 {
		return apierr.PolicyActionsInvalid.With(strings.Join(c.unknown, ", "))
	}
	return nil
}

// object is a JSON object whose members have not been looked at.
type object map[string]json.RawMessage

// parse returns the statements of a document.
func parse(document string) ([]object, error) {
	decoder := json.NewDecoder(strings.NewReader(document))
	var root object
	if err := decoder.Decode(&root); err != nil || root == nil {
		return nil, apierr.PolicyNotObject.With()
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, apierr.PolicyNotObject.With()
	}
	if err := root.only("Version", "Id", "Statement"); err != nil {
		return nil, err
	}
	if raw, ok := root["Version"]; ok {
		var version string
		if err := json.Unmarshal(raw, &version); err != nil || version != "2012-10-17" && version != "2008-10-17" {
			return nil, apierr.PolicyVersionInvalid.With()
		}
	}
	if err := root.text("Id"); err != nil {
		return nil, err
	}
	statements, ok := oneOrMany[object](root["Statement"])
	switch {
	case !ok:
		return nil, apierr.PolicyStatementInvalid.With()
	case len(statements) == 0:
		return nil, apierr.PolicyNoStatement.With()
	}
	return statements, nil
}

// only refuses members of other names.
func (o object) only(names ...string) error {
	for name := range o {
		if !slices.Contains(names, name) {
			return apierr.PolicyFieldUnknown.With(name)
		}
	}
	return nil
}

// text checks that a member, if it is there, is a string.
func (o object) text(name string) error {
	var text *string
	if raw, ok := o[name]; ok && (json.Unmarshal(raw, &text) != nil || text == nil) {
		return apierr.PolicyFieldNotString.With(name)
	}
	return nil
}

// oneOrMany reads a value that may stand for a list of itself alone.
func oneOrMany[T any](raw json.RawMessage) (list []T, ok bool) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, false
	}
	if raw[0] == '[' {
		return list, json.Unmarshal(raw, &list) == nil
	}
	list = make([]T, 1)
	return list, json.Unmarshal(raw, &list[0]) == nil
}

type checker struct {
	kind    Kind
	arn     string
	unknown []string // actions, quoted
	ids     []string // of statements, as they stand
}

func (c *checker) statement(s object) error {
	err := s.only("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition")
	if err != nil {
		return err
	}
	if err := s.text("Sid"); err != nil {
		return err
	}
	if id := string(s["Sid"]); id != "" {
		if slices.Contains(c.ids, id) {
			return apierr.PolicySidRepeated.With()
		}
		c.ids = append(c.ids, id)
	}
	var effect string
	if json.Unmarshal(s["Effect"], &effect) != nil || effect != "Allow" && effect != "Deny" {
		return apierr.PolicyEffectInvalid.With()
	}
	if raw, ok := s["Condition"]; ok {
		var condition map[string]object
		if json.Unmarshal(raw, &condition) != nil || condition == nil {
			return apierr.PolicyConditionInvalid.With()
		}
	}
	if err := s.oneOf("Principal", c.principals); err != nil {
		return err
	}
	if _, limited := s["Condition"]; effect == "Allow" && !limited && toEverybody(s["Principal"]) {
		return apierr.PolicyUnbounded.With()
	}
	if err := s.oneOf("Action", c.actions); err != nil {
		return err
	}
	return s.oneOf("Resource", c.resources)
}

// oneOf checks the member of a name or the one of its negation, of which a statement has exactly one.
func (o object) oneOf(name string, check func(json.RawMessage) error) error {
	raw, ok := o[name]
	negated, not := o["Not"+name]
	switch {
	case !ok && !not:
		return apierr.PolicyFieldMissing.With(name)
	case ok && not:
		return apierr.PolicyFieldAmbiguous.With(name)
	case not:
		raw = negated
	}
	return check(raw)
}

func (c *checker) actions(raw json.RawMessage) error {
	actions, ok := oneOrMany[string](raw)
	if !ok || len(actions) == 0 {
		return apierr.PolicyFieldNotStrings.With("Action")
	}
	for _, a := range actions {
		if !c.kind.knows(a) {
			c.unknown = append(c.unknown, strconv.Quote(a))
		}
	}
	return nil
}

func (c *checker) resources(raw json.RawMessage) error {
	resources, ok := oneOrMany[string](raw)
	if !ok || len(resources) == 0 {
		return apierr.PolicyFieldNotStrings.With("Resource")
	}
	for _, r := range resources {
		if !c.mayName(r) {
			return apierr.PolicyResourceInvalid.With(relativeID(r), r)
		}
	}
	return nil
}

// relativeID is what an ARN has after its account, or all of what is none.
func relativeID(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	return parts[len(parts)-1]
}

// mayName reports whether a policy may name a resource: a table's everything but a stream, a stream's its own stream, or a pattern
// whose beginning does not rule it out.
func (c *checker) mayName(resource string) bool {
	if c.kind == Table {
		return !strings.Contains(resource, "/stream/") && (resource == "*" || strings.HasPrefix(resource, "arn:"))
	}
	if i := strings.IndexAny(resource, "*?"); i >= 0 {
		return strings.HasPrefix(c.arn, resource[:i])
	}
	return resource == c.arn
}
