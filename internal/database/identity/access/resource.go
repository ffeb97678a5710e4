package access

import (
	"strings"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// resource is the resource of an action.
type resource struct {
	arn        string
	account    string         // its owner
	region     string         // of the request, or of another replica
	table      *catalog.Table // the table itself, or the one it belongs to; nil if there is none
	stream     string         // the label of a stream, else ""
	attachable bool           // a policy can be attached to it: a table with its indexes, or a stream
}

// allResources is the resource of actions without a resource.
func (c *call) allResources() resource {
	return resource{arn: "*", account: c.a.options.Account, region: c.region}
}

// resource returns the resource that a text names: a table's name, or the ARN of a table or of something that belongs to one. It
// has the canonical ARN, as used in policies, however the text spells it.
func (c *call) resource(text string) resource {
	account := c.a.options.Account
	arn := catalog.ARN{Region: c.region, Account: account, Table: text}
	if strings.HasPrefix(text, "arn:") {
		parsed, ok := catalog.ParseARN(text)
		if !ok || parsed.Region != c.region || parsed.Account != account { // the engine has no such resource
			if !ok {
				parsed.Account = account
			}
			return resource{arn: text, account: parsed.Account, region: c.region}
		}
		arn = parsed
	}
	r := resource{arn: "arn:aws:dynamodb:" + c.region + ":" + account + ":table/" + arn.Table + arn.Rest, account: account, region: c.region}
	label, isStream := strings.CutPrefix(arn.Rest, "/stream/")
	if isStream {
		r.stream = label
	}
	r.attachable = isStream || arn.Rest == "" || strings.HasPrefix(arn.Rest, "/index/")
	r.table = c.database.Tables()[arn.Table]
	return r
}

// inRegion returns the table with a name in a Region, served or not.
func (c *call) inRegion(region, name string) resource {
	account := c.a.options.Account
	r := resource{arn: "arn:aws:dynamodb:" + region + ":" + account + ":table/" + name, account: account, region: region, attachable: true}
	if d := c.a.options.Databases[region]; d != nil {
		r.table = d.Tables()[name]
	}
	return r
}

// index returns an index of a table, or the table itself if there is no name.
func (r resource) index(name *string) resource {
	if name != nil && *name != "" {
		r.arn += "/index/" + *name
	}
	return r
}

// globalTable is a global table of version 2017.11.29.
func (c *call) globalTable(name string) resource {
	account := c.a.options.Account
	return resource{
		arn: "arn:aws:dynamodb::" + account + ":global-table/" + name, account: account, region: c.region, table: c.database.Tables()[name],
	}
}

// attached is the compiled policy of a resource; nil if the document cannot be parsed, which denies everything.
type attached struct {
	document string
	policy   *policy.Policy
}

// policy returns the policy that is attached to a stream, or to a table and its indexes, or nil.
func (c *call) policy(r *resource) *attached {
	if r.table == nil || !r.attachable {
		return nil
	}
	stored := r.table.Descriptor.Policy(r.stream)
	if stored == nil {
		return nil
	}
	policies := &c.a.policies
	key := r.region + "/" + r.table.Name + "/" + r.stream
	if known, ok := policies.Load(key); ok && known.(*attached).document == stored.Document {
		return known.(*attached)
	}
	compiled := &attached{document: stored.Document}
	compiled.policy, _ = policy.Parse(stored.Document, policy.Resource)
	policies.Store(key, compiled)
	return compiled
}
