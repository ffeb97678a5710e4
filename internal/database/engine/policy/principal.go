package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// services are the service principals that AWS accepts in policies of tables.
var services = []string{"redshift.amazonaws.com", "replication.dynamodb.amazonaws.com"}

// principals checks "*", or an object of kinds of principals, each with one or more of them.
func (c *checker) principals(raw json.RawMessage) error {
	var all string
	if json.Unmarshal(raw, &all) == nil {
		if all != "*" {
			return apierr.PolicyPrincipalInvalid.With()
		}
		return nil
	}
	var kinds object
	if json.Unmarshal(raw, &kinds) != nil || len(kinds) == 0 {
		return apierr.PolicyPrincipalInvalid.With()
	}
	for kind, raw := range kinds {
		names, ok := oneOrMany[string](raw)
		if !ok || len(names) == 0 {
			return apierr.PolicyPrincipalInvalid.With()
		}
		for _, name := range names {
			if err := checkPrincipal(kind, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPrincipal(kind, name string) error {
	switch kind {
	case "AWS":
		if name != "*" && !accountID(name) && !identityARN(name) {
			return apierr.PolicyPrincipalInvalid.With()
		}
	case "Service":
		if !slices.Contains(services, name) {
			return apierr.PolicyServiceInvalid.With()
		}
	case "Federated", "CanonicalUser":
		if name == "" {
			return apierr.PolicyPrincipalInvalid.With()
		}
	default:
		return apierr.PolicyPrincipalInvalid.With()
	}
	return nil
}

// accountID reports whether a text is the id of an account: 12 digits.
func accountID(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}

// identityARN reports whether a text is the ARN of an account's root, a user, a role or a session.
func identityARN(text string) bool {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[3] != "" || !accountID(parts[4]) {
		return false
	}
	resource := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return len(parts[5]) > len(p) && strings.HasPrefix(parts[5], p) })
	}
	switch parts[2] {
	case "iam":
		return parts[5] == "root" || resource("user/", "role/")
	case "sts":
		return resource("assumed-role/", "federated-user/")
	default:
		return false
	}
}

// toEverybody reports whether principals, which were checked, are all: "*" or {"AWS": "*"}.
func toEverybody(raw json.RawMessage) bool {
	var all string
	if json.Unmarshal(raw, &all) == nil && all == "*" {
		return true
	}
	var kinds object
	_ = json.Unmarshal(raw, &kinds)
	names, _ := oneOrMany[string](kinds["AWS"])
	return slices.Contains(names, "*")
}
