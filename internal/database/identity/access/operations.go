package access

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// rule describes the needs of an operation besides its own action: the member of its input that names the resource, and whether
// it reads or changes items without naming them. An operation without a member is about the account: its resource is *.
type rule struct {
	member string
	kind   memberKind
	wide   bool
	items  func(c *call) []need           // for operations on items, replaces all the others
	more   func(c *call, own need) []need // additional needs
}

type memberKind uint8

const (
	tableMember  memberKind = iota // a table's name or ARN
	indexMember                    // the same, with IndexName
	globalMember                   // a global table's name
)

// rules is the table of operations, from AWS's Service Authorization Reference.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
var rules = map[string]rule{
	"BatchExecuteStatement": {items: (*call).statements},
	"BatchGetItem":          {items: (*call).batchGet},
	"BatchWriteItem":        {items: (*call).batchWrite},
	"DeleteItem":            {items: (*call).deleteItem},
	"ExecuteStatement":      {items: (*call).statements},
	"ExecuteTransaction":    {items: (*call).statements},
	"GetItem":               {items: (*call).getItem},
	"PutItem":               {items: (*call).putItem},
	"Query":                 {items: (*call).query},
	"Scan":                  {items: (*call).scan},
	"SearchVectors":         {items: (*call).search},
	"TransactGetItems":      {items: (*call).transactGet},
	"TransactWriteItems":    {items: (*call).transactWrite},
	"UpdateItem":            {items: (*call).updateItem},

	"CreateBackup":                        {member: "TableName", wide: true},
	"CreateGlobalTable":                   {member: "GlobalTableName", kind: globalMember, more: (*call).replicasOfGlobal},
	"CreateTable":                         {member: "TableName", more: (*call).createTable},
	"DeleteBackup":                        {member: "BackupArn", wide: true},
	"DeleteResourcePolicy":                {member: "ResourceArn"},
	"DeleteTable":                         {member: "TableName", wide: true},
	"DescribeBackup":                      {member: "BackupArn"},
	"DescribeContinuousBackups":           {member: "TableName"},
	"DescribeContributorInsights":         {member: "TableName", kind: indexMember},
	"DescribeEndpoints":                   {},
	"DescribeExport":                      {member: "ExportArn"},
	"DescribeGlobalTable":                 {member: "GlobalTableName", kind: globalMember},
	"DescribeGlobalTableSettings":         {member: "GlobalTableName", kind: globalMember},
	"DescribeImport":                      {member: "ImportArn"},
	"DescribeKinesisStreamingDestination": {member: "TableName"},
	"DescribeLimits":                      {},
	"DescribeTable":                       {member: "TableName"},
	"DescribeTableReplicaAutoScaling":     {member: "TableName"},
	"DescribeTimeToLive":                  {member: "TableName"},
	"DisableKinesisStreamingDestination":  {member: "TableName"},
	"EnableKinesisStreamingDestination":   {member: "TableName", wide: true},
	"ExportTableToPointInTime":            {member: "TableArn", wide: true},
	"GetResourcePolicy":                   {member: "ResourceArn"},
	"ImportTable":                         {items: (*call).importTable},
	"ListBackups":                         {},
	"ListContributorInsights":             {},
	"ListExports":                         {},
	"ListGlobalTables":                    {},
	"ListImports":                         {},
	"ListTables":                          {},
	"ListTagsOfResource":                  {member: "ResourceArn"},
	"PutResourcePolicy":                   {member: "ResourceArn"},
	"RestoreTableFromBackup":              {member: "BackupArn", wide: true, more: (*call).restores},
	"RestoreTableToPointInTime":           {items: (*call).restoreToPointInTime},
	"TagResource":                         {member: "ResourceArn"},
	"UntagResource":                       {member: "ResourceArn"},
	"UpdateContinuousBackups":             {member: "TableName"},
	"UpdateContributorInsights":           {member: "TableName", kind: indexMember},
	"UpdateGlobalTable":                   {member: "GlobalTableName", kind: globalMember, more: (*call).replicasOfGlobal},
	"UpdateGlobalTableSettings":           {member: "GlobalTableName", kind: globalMember, more: (*call).replicasOfGlobal},
	"UpdateKinesisStreamingDestination":   {member: "TableName"},
	"UpdateTable":                         {member: "TableName", more: (*call).updateTable},
	"UpdateTableReplicaAutoScaling":       {member: "TableName"},
	"UpdateTimeToLive":                    {member: "TableName", wide: true, more: (*call).everyReplica}, // it deletes items

	"CancelBulkOperation":   {member: "BulkOperationArn"},
	"DescribeBulkOperation": {member: "BulkOperationArn"},
	"ListBulkOperations":    {},
	"StartBulkPutItems":     {member: "TableName", wide: true},

	"DescribeStream":   {member: "StreamArn"},
	"GetRecords":       {}, // see needs: only the database knows the iterator's stream
	"GetShardIterator": {member: "StreamArn"},
	"ListStreams":      {}, // the same, with a table's name
}

// needs returns the needs of the request. There are none if the operation will be rejected whatever is stored.
func (c *call) needs(ctx context.Context) ([]need, error) {
	own := need{action: c.operation, resource: c.allResources()}
	switch in := c.in.(type) {
	case *api.GetRecordsInput:
		arn, err := c.database.StreamOf(ctx, *in.ShardIterator)
		if err != nil {
			return nil, err
		}
		if arn != "" {
			own.resource = c.resource(arn)
		}
		own.facts = wide()
		return []need{own}, nil
	case *api.ListStreamsInput:
		if in.TableName != nil {
			own.resource = c.resource(*in.TableName)
			own.resource.arn += "/stream/*"
			own.resource.attachable = false
		}
		return []need{own}, nil
	}
	rule := rules[c.operation]
	if rule.items != nil {
		return rule.items(c), nil
	}
	if rule.wide {
		own.facts = wide()
	}
	if rule.member != "" {
		own.resource = c.named(rule)
	}
	needs := []need{own}
	if rule.more != nil {
		needs = append(needs, rule.more(c, own)...)
	}
	return needs, nil
}

// named returns the resource named by a member of the input.
func (c *call) named(r rule) resource {
	in := reflect.ValueOf(c.in).Elem()
	name := text(in.FieldByName(r.member))
	switch r.kind {
	case globalMember:
		return c.globalTable(name)
	case indexMember:
		index := text(in.FieldByName("IndexName"))
		return c.resource(name).index(&index)
	default:
		return c.resource(name)
	}
}

func text(v reflect.Value) string {
	if p, ok := reflect.TypeAssert[*string](v); ok && p != nil {
		return *p
	}
	return ""
}

// replicasOfGlobal: the replicas of a global table have its name. Needed are the table in this Region, those that are already in
// the global table, and those that are to be added, removed or changed.
func (c *call) replicasOfGlobal(own need) []need {
	name := text(reflect.ValueOf(c.in).Elem().FieldByName("GlobalTableName"))
	regions := []string{c.region}
	for region, d := range c.a.options.Databases {
		if t := d.Tables()[name]; t != nil && len(replicasOf(t)) > 0 {
			regions = append(regions, region)
		}
	}
	switch in := c.in.(type) {
	case *api.CreateGlobalTableInput:
		for i := range in.ReplicationGroup {
			regions = append(regions, valueOr(in.ReplicationGroup[i].RegionName, c.region))
		}
	case *api.UpdateGlobalTableInput:
		for _, u := range in.ReplicaUpdates {
			if u.Create != nil {
				regions = append(regions, *u.Create.RegionName)
			}
			if u.Delete != nil {
				regions = append(regions, *u.Delete.RegionName)
			}
		}
	case *api.UpdateGlobalTableSettingsInput:
		for i := range in.ReplicaSettingsUpdate {
			regions = append(regions, *in.ReplicaSettingsUpdate[i].RegionName)
		}
	}
	slices.Sort(regions)
	var needs []need
	for _, region := range slices.Compact(regions) {
		needs = append(needs, need{action: own.action, resource: c.inRegion(region, name)})
	}
	return needs
}

// replicasOf returns the other replicas of a table.
func replicasOf(t *catalog.Table) []catalog.Replica {
	if t == nil || t.Descriptor.Global == nil {
		return nil
	}
	return t.Descriptor.Global.Replicas
}

// everyReplica: what changes a table in all Regions needs its action in each.
func (c *call) everyReplica(own need) []need {
	var needs []need
	for _, r := range replicasOf(own.resource.table) {
		needs = append(needs, need{action: own.action, resource: c.inRegion(r.Region, own.resource.table.Name), facts: wide()})
	}
	return needs
}

// createTable: actions that CreateTable implies need their own permissions.
func (c *call) createTable(own need) []need {
	in := c.in.(*api.CreateTableInput)
	var needs []need
	if len(in.Tags) > 0 {
		needs = append(needs, need{action: "TagResource", resource: own.resource})
	}
	if in.ResourcePolicy != nil {
		needs = append(needs, need{action: "PutResourcePolicy", resource: own.resource})
	}
	return needs
}

// updateTable: adding and removing replicas needs permissions in their Regions, and a witness one in every Region.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables-security.html
func (c *call) updateTable(own need) []need {
	in := c.in.(*api.UpdateTableInput)
	if len(in.ReplicaUpdates) == 0 && len(in.GlobalTableWitnessUpdates) == 0 {
		return nil
	}
	own.facts = wide() // items are copied
	needs := []need{own}
	_, name, _ := strings.Cut(own.resource.arn, ":table/")
	add := func(region string, actions ...string) {
		for _, action := range actions {
			needs = append(needs, need{action: action, resource: c.inRegion(region, name), facts: wide()})
		}
	}
	regions := []string{c.region}
	for _, r := range replicasOf(own.resource.table) {
		regions = append(regions, r.Region)
	}
	for _, u := range in.ReplicaUpdates {
		if u.Create != nil {
			regions = append(regions, *u.Create.RegionName)
			add(*u.Create.RegionName, "CreateTable", "CreateTableReplica")
			add(*u.Create.RegionName, restored...)
		}
		if u.Delete != nil {
			add(*u.Delete.RegionName, "DeleteTable", "DeleteTableReplica")
		}
	}
	for _, u := range in.GlobalTableWitnessUpdates {
		if u.Create != nil {
			for _, region := range append(regions, *u.Create.RegionName) {
				add(region, "CreateGlobalTableWitness")
			}
		}
		if u.Delete != nil {
			for _, region := range append(regions, *u.Delete.RegionName) {
				add(region, "DeleteGlobalTableWitness")
			}
		}
	}
	return needs
}

func (c *call) importTable() []need {
	in := c.in.(*api.ImportTableInput)
	if in.TableCreationParameters.TableName == nil {
		return nil
	}
	return []need{{action: c.operation, resource: c.resource(*in.TableCreationParameters.TableName), facts: wide()}}
}

// restored are the actions that a restore, or a new replica, needs on the new table.
var restored = []string{"BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"}

func (c *call) restores(own need) []need {
	own.resource = c.resource(text(reflect.ValueOf(c.in).Elem().FieldByName("TargetTableName")))
	needs := []need{own}
	for _, action := range restored {
		needs = append(needs, need{action: action, resource: own.resource, facts: wide()})
	}
	return needs
}

func (c *call) restoreToPointInTime() []need {
	in := c.in.(*api.RestoreTableToPointInTimeInput)
	own := need{action: c.operation, facts: wide()}
	var needs []need
	for _, source := range []*string{in.SourceTableArn, in.SourceTableName} {
		if source != nil {
			own.resource = c.resource(*source)
			needs = append(needs, own)
		}
	}
	return append(needs, c.restores(own)...)
}
