package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/monotable/monotable"
)

// printIAM prints the result of a request as text.
func printIAM(out io.Writer, r *monotable.IAMRequest, result *monotable.IAMResult) error {
	for i := range result.Keys {
		if k := &result.Keys[i]; k.Secret != "" {
			_, err := fmt.Fprintf(out, "Access key of %s. The secret is not shown again.\n\n  AWS_ACCESS_KEY_ID=%s\n  AWS_SECRET_ACCESS_KEY=%s\n",
				userOrRoot(k.User), k.ID, k.Secret)
			return err
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	switch _, verb, _ := strings.Cut(r.Action, " "); {
	case verb != "list" && verb != "show":
		fmt.Fprintf(table, "%s: %s\n", r.Action, cmp.Or(r.Name, r.User))
	case r.Action == "policy show":
		return printPolicy(out, result)
	case r.Action == "role show":
		return printRole(out, result)
	default:
		printLists(table, result)
	}
	return table.Flush()
}

func printLists(table io.Writer, result *monotable.IAMResult) {
	for _, u := range result.Users {
		keys := make([]string, 0, len(u.Keys))
		for _, k := range u.Keys {
			keys = append(keys, k.ID)
		}
		fmt.Fprintf(table, "%s\t%s\tpolicies %s\tkeys %s\ttags %s\n", u.Name, u.ARN, words(u.Policies), words(keys), tags(u.Tags))
	}
	for _, role := range result.Roles {
		fmt.Fprintf(table, "%s\t%s\tpolicies %s\tsessions up to %s\ttags %s\n", role.Name, role.ARN, words(role.Policies), role.MaxSession, tags(role.Tags))
	}
	for _, p := range result.Policies {
		fmt.Fprintf(table, "%s\t%s\tattached to %s\n", p.Name, cmp.Or(p.ARN, "without ARN"), words(p.Attached))
	}
	for _, k := range result.Keys {
		expires := ""
		if !k.Expires.IsZero() {
			expires = "until " + k.Expires.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\tcreated %s\t%s\n", k.ID, userOrRoot(k.User), k.Status, k.Created.Format(time.RFC3339), expires)
	}
}

func printPolicy(out io.Writer, result *monotable.IAMResult) error {
	for _, p := range result.Policies {
		if _, err := fmt.Fprintf(out, "%s, %s, attached to %s\n%s\n", p.Name, cmp.Or(p.ARN, "without ARN"), words(p.Attached), indented(p.Document)); err != nil {
			return err
		}
	}
	return nil
}

func printRole(out io.Writer, result *monotable.IAMResult) error {
	for _, r := range result.Roles {
		_, err := fmt.Fprintf(out, "%s, %s, policies %s, sessions up to %s\ntrust policy:\n%s\n", r.Name, r.ARN, words(r.Policies), r.MaxSession, indented(r.Trust))
		if err != nil {
			return err
		}
	}
	return nil
}

func indented(document json.RawMessage) string {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return string(document)
	}
	return string(text)
}

func userOrRoot(user string) string {
	if user == "" {
		return "root"
	}
	return "user " + user
}

func words(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }

func tags(all map[string]string) string {
	list := make([]string, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, key+"="+all[key])
	}
	return words(list)
}
