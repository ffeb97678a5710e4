package seeds

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// wantTables compares the result of DescribeTable with the document's declaration.
func (db database) wantTables(document string) {
	db.t.Helper()
	for _, want := range tablesOf(db.t, document) {
		out, err := db.DescribeTable(db.t.Context(), &dynamodb.DescribeTableInput{TableName: want.TableName})
		if err != nil {
			db.t.Fatal(err)
		}
		got := out.Table
		wantEqual(db.t, "status", got.TableStatus, types.TableStatusActive)
		wantEqual(db.t, "key", schemaText(got.KeySchema), schemaText(want.KeySchema))
		wantEqual(db.t, "attributes", len(got.AttributeDefinitions), len(want.AttributeDefinitions))
		if want.BillingMode == types.BillingModePayPerRequest {
			wantEqual(db.t, "billing", got.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
		}
		db.wantThroughput(got.ProvisionedThroughput, want.ProvisionedThroughput)
		if want.StreamSpecification != nil {
			wantEqual(db.t, "view of the stream",
				got.StreamSpecification.StreamViewType, want.StreamSpecification.StreamViewType)
		}
		db.wantIndexes(got.GlobalSecondaryIndexes, want.GlobalSecondaryIndexes)
	}
}

func (db database) wantIndexes(got []types.GlobalSecondaryIndexDescription, want []types.GlobalSecondaryIndex) {
	db.t.Helper()
	if len(got) != len(want) {
		db.t.Fatalf("%d indexes, want %d", len(got), len(want))
	}
	slices.SortFunc(got, func(a, b types.GlobalSecondaryIndexDescription) int {
		return strings.Compare(*a.IndexName, *b.IndexName)
	})
	for n, index := range want {
		wantEqual(db.t, "index", aws.ToString(got[n].IndexName), aws.ToString(index.IndexName))
		wantEqual(db.t, "status", got[n].IndexStatus, types.IndexStatusActive)
		wantEqual(db.t, "key", schemaText(got[n].KeySchema), schemaText(index.KeySchema))
		wantEqual(db.t, "projection", got[n].Projection.ProjectionType, index.Projection.ProjectionType)
		db.wantThroughput(got[n].ProvisionedThroughput, index.ProvisionedThroughput)
	}
}

func schemaText(schema []types.KeySchemaElement) string {
	var elements []string
	for _, element := range schema {
		elements = append(elements, string(element.KeyType)+" "+*element.AttributeName)
	}
	return strings.Join(elements, ", ")
}

// wantThroughput expects a description even for on-demand tables: clients read the zeros.
func (db database) wantThroughput(got *types.ProvisionedThroughputDescription, want *types.ProvisionedThroughput) {
	db.t.Helper()
	if got == nil {
		db.t.Error("no ProvisionedThroughput in the description")
		return
	}
	if want == nil {
		want = &types.ProvisionedThroughput{}
	}
	wantEqual(db.t, "read units", aws.ToInt64(got.ReadCapacityUnits), aws.ToInt64(want.ReadCapacityUnits))
	wantEqual(db.t, "write units", aws.ToInt64(got.WriteCapacityUnits), aws.ToInt64(want.WriteCapacityUnits))
}

// wantSampleItems reads back every sample item of the document: one by one, and by a scan in small pages.
func (db database) wantSampleItems(document string) {
	db.t.Helper()
	items := itemsOf(db.t, document)
	for _, table := range tablesOf(db.t, document) {
		want := items[*table.TableName]
		for _, sample := range want {
			key := item{}
			for _, element := range table.KeySchema {
				key[*element.AttributeName] = sample[*element.AttributeName]
			}
			wantItem(db.t, db.get(*table.TableName, key), sample)
		}
		scanned := 0
		paginator := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: table.TableName, Limit: aws.Int32(2)})
		for paginator.HasMorePages() {
			page, err := paginator.NextPage(db.t.Context())
			if err != nil {
				db.t.Fatal(err)
			}
			scanned += len(page.Items)
		}
		wantEqual(db.t, "items scanned", scanned, len(want))
	}
}

// pageSizes returns the number of items on each page.
func pageSizes(pages [][]item) []int {
	var sizes []int
	for _, page := range pages {
		sizes = append(sizes, len(page))
	}
	return sizes
}

// enableTTL enables TTL and checks that it is enabled.
func (db database) enableTTL(table, attribute string) {
	db.t.Helper()
	specification := &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: aws.Bool(true)}
	out, err := db.UpdateTimeToLive(db.t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &table, TimeToLiveSpecification: specification,
	})
	if err != nil {
		db.t.Fatal(err)
	}
	wantEqual(db.t, "attribute", aws.ToString(out.TimeToLiveSpecification.AttributeName), attribute)
	described, err := db.DescribeTimeToLive(db.t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil {
		db.t.Fatal(err)
	}
	wantEqual(db.t, "attribute", aws.ToString(described.TimeToLiveDescription.AttributeName), attribute)
	if status := described.TimeToLiveDescription.TimeToLiveStatus; status != types.TimeToLiveStatusEnabled &&
		status != types.TimeToLiveStatusEnabling {
		db.t.Errorf("time to live is %s", status)
	}
}
