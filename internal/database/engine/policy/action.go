package policy

import (
	"slices"
	"strings"
)

// prefix is the prefix of DynamoDB's actions. Actions are case-insensitive.
const prefix = "dynamodb:"

// onBoth are the actions allowed in policies of both tables and streams.
var onBoth = []string{"deleteresourcepolicy", "getresourcepolicy", "putresourcepolicy"}

var onTables = slices.Concat(onBoth, []string{
	// Items of a table or an index.
	"batchgetitem", "batchwriteitem", "conditioncheckitem", "deleteitem", "getitem", "partiqldelete", "partiqlinsert",
	"partiqlselect", "partiqlupdate", "putitem", "query", "scan", "updateitem",
	// Tables.
	"createbackup", "deletetable", "describecontinuousbackups", "describecontributorinsights",
	"describekinesisstreamingdestination", "describetable", "describetablereplicaautoscaling", "describetimetolive",
	"disablekinesisstreamingdestination", "enablekinesisstreamingdestination", "exporttabletopointintime",
	"listtagsofresource", "restoretabletopointintime", "tagresource", "untagresource", "updatecontinuousbackups",
	"updatecontributorinsights", "updatekinesisstreamingdestination", "updatetable", "updatetablereplicaautoscaling",
	"updatetimetolive",
	// Replication among tables of several accounts.
	"associatetablereplica", "createtablereplica", "deletetablereplica", "readdataforreplication", "replicatesettings",
	"writedataforreplication",
})

var onStreams = slices.Concat(onBoth, []string{"describestream", "getrecords", "getsharditerator"})

// knows reports whether a policy of the kind may name an action: one of the kind's, or a pattern that starts like DynamoDB's
// actions.
func (k Kind) knows(action string) bool {
	if action == "*" {
		return true
	}
	name, ok := strings.CutPrefix(strings.ToLower(action), prefix)
	if !ok || name == "" {
		return false
	}
	if strings.ContainsAny(name, "*?") {
		return true
	}
	if k == Stream {
		return slices.Contains(onStreams, name)
	}
	return slices.Contains(onTables, name)
}
