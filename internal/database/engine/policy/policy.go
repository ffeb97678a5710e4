// Package policy checks resource-based policies: the JSON documents that PutResourcePolicy and CreateTable attach to a table or a
// stream. Package identity/policy parses and evaluates the language; this package checks DynamoDB's additional requirements.
//
// A policy is a list of statements, each with an effect, principals, actions, resources and conditions:
//
//	{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "123456789012"},
//	  "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:us-east-1:123456789012:table/Music"}]}
//
// Every statement must have a principal. A table's policy must not name streams, a stream's policy only that stream, and neither
// may allow everybody something without a condition. The actions are those that AWS lists for the kind of resource.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-iam-actions.html
//
// Check is stateless and safe for concurrent use.
package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	language "github.com/monotable/monotable/internal/database/identity/policy"
)

// MaxBytes is the maximum length of a document, including white space.
const MaxBytes = 20 << 10

// Kind is the kind of resource that a policy is attached to.
type Kind uint8

// The kinds.
const (
	Table Kind = iota
	Stream
)

// Check checks a document to be attached to the resource with an ARN.
func Check(document string, kind Kind, arn string) error {
	if len(document) > MaxBytes {
		return apierr.PolicyTooLarge.With()
	}
	if strings.TrimSpace(document) == "null" {
		return apierr.PolicyNull.With()
	}
	parsed, err := language.Parse(document, language.Resource)
	if fault, ok := errors.AsType[*language.Error](err); ok {
		return refusal(fault)
	} else if err != nil {
		return err
	}
	c := checker{kind: kind, arn: arn}
	for _, s := range parsed.Statements() {
		if err := c.statement(&s); err != nil {
			return err
		}
	}
	if len(c.unknown) > 0 {
		return apierr.PolicyActionsInvalid.With(strings.Join(c.unknown, ", "))
	}
	return nil
}

// refusal returns DynamoDB's message for an error of the language.
func refusal(fault *language.Error) error {
	switch fault.Fault {
	case language.NoJSON:
		return apierr.PolicyNotObject.With()
	case language.FieldUnknown:
		return apierr.PolicyFieldUnknown.With(fault.Subject)
	case language.FieldMissing:
		return apierr.PolicyFieldMissing.With(fault.Subject)
	case language.FieldAmbiguous:
		return apierr.PolicyFieldAmbiguous.With(fault.Subject)
	case language.NotText:
		return apierr.PolicyFieldNotString.With(fault.Subject)
	case language.NotTexts:
		return apierr.PolicyFieldNotStrings.With(fault.Subject)
	case language.VersionInvalid:
		return apierr.PolicyVersionInvalid.With()
	case language.StatementInvalid:
		return apierr.PolicySyntax.With(fault.Line, fault.Column)
	case language.StatementMissing:
		return apierr.PolicyNoStatement.With()
	case language.EffectInvalid:
		return apierr.PolicyEffectInvalid.With()
	case language.SidRepeated:
		return apierr.PolicySidRepeated.With()
	case language.ActionInvalid:
		return apierr.PolicyActionsInvalid.With(strconv.Quote(fault.Subject))
	case language.ResourceInvalid:
		return apierr.PolicyResourceInvalid.With(relativeID(fault.Subject), fault.Subject)
	case language.PrincipalInvalid:
		return apierr.PolicyPrincipalInvalid.With()
	case language.ConditionInvalid:
		return apierr.PolicyConditionInvalid.With()
	default:
		return apierr.PolicyMalformed.With(fault)
	}
}

type checker struct {
	kind    Kind
	arn     string
	unknown []string // actions, quoted
}

// services are the service principals that AWS accepts in policies of tables.
var services = []string{"redshift.amazonaws.com", "replication.dynamodb.amazonaws.com"}

func (c *checker) statement(s *language.Statement) error {
	for _, p := range s.Principals {
		if p.Kind == "Service" && !slices.Contains(services, p.Name) {
			return apierr.PolicyServiceInvalid.With()
		}
	}
	if !s.Deny && !s.Conditional && !s.NotPrincipal && slices.ContainsFunc(s.Principals, language.PrincipalName.Everybody) {
		return apierr.PolicyUnbounded.With()
	}
	for _, a := range s.Actions {
		if !c.kind.knows(a) {
			c.unknown = append(c.unknown, strconv.Quote(a))
		}
	}
	for _, r := range s.Resources {
		if !c.mayName(r) {
			return apierr.PolicyResourceInvalid.With(relativeID(r), r)
		}
	}
	return nil
}

// relativeID returns the part of an ARN after its account, or the whole text if it is not an ARN.
func relativeID(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	return parts[len(parts)-1]
}

// mayName reports whether a policy may name a resource: a table's policy anything but a stream, a stream's policy its own stream,
// or a pattern whose beginning does not rule it out.
func (c *checker) mayName(resource string) bool {
	if c.kind == Table {
		return !strings.Contains(resource, "/stream/") && (resource == "*" || strings.HasPrefix(resource, "arn:"))
	}
	if i := strings.IndexAny(resource, "*?"); i >= 0 {
		return strings.HasPrefix(c.arn, resource[:i])
	}
	return resource == c.arn
}
