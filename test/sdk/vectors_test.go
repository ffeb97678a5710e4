package sdk

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestVectors covers the life cycle of vector indexes with the SDK for Go: created with the table or later, written to, searched
// with every distance function, with a partition, a filter and a projection, and deleted.
func TestVectors(t *testing.T) {
	t.Parallel()
	v := &vectors{t, client(serverproc.Start(t, serverproc.Build(t), "--memory"))}
	v.createTable()
	v.put("near", "shoes", "acme", 10, 0)
	v.put("close", "shoes", "acme", 4, 3)
	v.put("far", "shoes", "other", -1, 0)
	v.put("hat", "hats", "acme", 0, 2)
	v.addIndexes()

	v.found(v.search("cosine", "", nil), []string{"near", "close", "hat", "far"}, []float64{0, 0.2, 1, 2})
	v.found(v.search("dot", "", nil), []string{"near", "close", "hat", "far"}, []float64{10, 4, 0, -1})
	of := func(category string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{":c": text(category)}
	}
	v.found(v.search("euclidean", "category = :c", of("shoes")), []string{"far", "close", "near"}, []float64{2, math.Sqrt(18), 9})
	v.found(v.search("euclidean", "category = :c", of("hats")), []string{"hat"}, []float64{math.Sqrt(5)})
	filtered := map[string]types.AttributeValue{":c": text("shoes"), ":b": text("acme")}
	v.found(v.search("euclidean", "category = :c AND brand = :b", filtered), []string{"close", "near"}, nil)

	v.projections()
	v.writes()
	v.refusals()
	v.deleteIndex()
}

// vectors has the client of a test and its steps.
type vectors struct {
	*testing.T
	client *dynamodb.Client
}

func vectorOf(components ...float64) []types.AttributeValue {
	var list []types.AttributeValue
	for _, c := range components {
		list = append(list, &types.AttributeValueMemberN{Value: strconv.FormatFloat(c, 'f', -1, 64)})
	}
	return list
}

func (v *vectors) createTable() {
	v.Helper()
	_, err := v.client.CreateTable(v.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Products"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		VectorIndexes: []types.VectorIndex{{
			IndexName: aws.String("cosine"), Dimensions: aws.Int64(2), DistanceFunction: types.VectorDistanceFunctionCosine,
			VectorAttribute: &types.VectorAttributeDefinition{AttributeName: aws.String("v")},
			Projection:      &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		v.Fatal(err)
	}
	v.settled()
}

// settled waits until the table and its vector indexes are active, and returns the names of the indexes.
func (v *vectors) settled() (names []string) {
	v.Helper()
	exists := dynamodb.NewTableExistsWaiter(v.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay = time.Millisecond
		o.Retryable = func(_ context.Context, _ *dynamodb.DescribeTableInput, out *dynamodb.DescribeTableOutput, err error) (bool, error) {
			if err != nil {
				return false, err
			}
			names = nil
			busy := out.Table.TableStatus != types.TableStatusActive
			for _, x := range out.Table.VectorIndexes {
				names = append(names, *x.IndexName)
				busy = busy || x.IndexStatus != types.IndexStatusActive || aws.ToBool(x.Backfilling)
			}
			return busy, nil
		}
	})
	if err := exists.Wait(v.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Products")}, time.Minute); err != nil {
		v.Fatal(err)
	}
	return names
}

func (v *vectors) put(id, category, brand string, components ...float64) {
	v.Helper()
	_, err := v.client.PutItem(v.Context(), &dynamodb.PutItemInput{TableName: aws.String("Products"), Item: map[string]types.AttributeValue{
		"id": text(id), "category": text(category), "brand": text(brand), "v": &types.AttributeValueMemberL{Value: vectorOf(components...)},
	}})
	if err != nil {
		v.Fatal(err)
	}
}

// addIndexes adds indexes one by one to the table, which has items.
func (v *vectors) addIndexes() {
	v.Helper()
	element := func(name string, role types.SearchSchemaElementType) types.SearchSchemaElement {
		return types.SearchSchemaElement{AttributeName: &name, SearchSchemaElementType: role}
	}
	for _, x := range []*types.CreateVectorIndexAction{{
		IndexName: aws.String("euclidean"), DistanceFunction: types.VectorDistanceFunctionEuclidean,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		SearchSchema: []types.SearchSchemaElement{
			element("category", types.SearchSchemaElementTypeHash), element("brand", types.SearchSchemaElementTypeInlineFilter),
		},
	}, {
		IndexName: aws.String("dot"), DistanceFunction: types.VectorDistanceFunctionDotProduct,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}} {
		x.Dimensions = aws.Int64(2)
		x.VectorAttribute = &types.VectorAttributeDefinition{AttributeName: aws.String("v")}
		_, err := v.client.UpdateTable(v.Context(), &dynamodb.UpdateTableInput{
			TableName: aws.String("Products"), VectorIndexUpdates: []types.VectorIndexUpdate{{Create: x}},
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("category"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("brand"), AttributeType: types.ScalarAttributeTypeS},
			},
		})
		if err != nil {
			v.Fatal(err)
		}
		v.settled()
	}
}

func searchOf(index, condition string, values map[string]types.AttributeValue) *dynamodb.SearchVectorsInput {
	in := &dynamodb.SearchVectorsInput{
		TableName: aws.String("Products"), IndexName: &index, SearchVector: vectorOf(1, 0), TopK: aws.Int32(10), ExpressionAttributeValues: values,
	}
	if condition != "" {
		in.SearchConditionExpression = &condition
	}
	return in
}

func (v *vectors) search(index, condition string, values map[string]types.AttributeValue) []types.SearchResultItem {
	v.Helper()
	out, err := v.client.SearchVectors(v.Context(), searchOf(index, condition, values))
	if err != nil {
		v.Fatal(err)
	}
	return out.SearchResults
}

func idOf(item map[string]types.AttributeValue) string {
	id, _ := item["id"].(*types.AttributeValueMemberS)
	if id == nil {
		return ""
	}
	return id.Value
}

// found compares results with IDs and, unless nil, scores.
func (v *vectors) found(results []types.SearchResultItem, ids []string, scores []float64) {
	v.Helper()
	var got []string
	for i, r := range results {
		got = append(got, idOf(r.Item))
		if i < len(scores) && math.Abs(r.Score-scores[i]) > 1e-6 {
			v.Errorf("score of %s is %v, want %v", got[i], r.Score, scores[i])
		}
	}
	if !slices.Equal(got, ids) {
		v.Errorf("found %q, want %q", got, ids)
	}
}

// projections checks the attributes returned: those that the index projects, or those that a request asks for; the vector only if
// the request names it.
func (v *vectors) projections() {
	v.Helper()
	names := func(results []types.SearchResultItem) (names []string) {
		for name := range results[0].Item {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	if got, want := names(v.search("dot", "", nil)), []string{"id"}; !slices.Equal(got, want) {
		v.Errorf("KEYS_ONLY: %q, want %q", got, want)
	}
	if got, want := names(v.search("cosine", "", nil)), []string{"brand", "category", "id"}; !slices.Equal(got, want) {
		v.Errorf("ALL: %q, want %q", got, want)
	}
	in := searchOf("cosine", "", nil)
	in.ProjectionExpression, in.TopK = aws.String("id, v"), aws.Int32(1)
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := v.client.SearchVectors(v.Context(), in)
	if err != nil {
		v.Fatal(err)
	}
	if got, want := names(out.SearchResults), []string{"id", "v"}; !slices.Equal(got, want) || len(out.SearchResults) != 1 {
		v.Errorf("projected: %q of %d results, want %q of 1", got, len(out.SearchResults), want)
	}
	if out.ConsumedCapacity == nil || aws.ToFloat64(out.ConsumedCapacity.VectorSearchRequestBytes) < 1024 {
		v.Errorf("consumed capacity is %+v, want at least 1024 bytes", out.ConsumedCapacity)
	}
}

// writes checks that a search reflects items that change, leave the index or are deleted.
func (v *vectors) writes() {
	v.Helper()
	v.put("far", "shoes", "other", 2, 0)
	key := func(id string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"id": text(id)}
	}
	if _, err := v.client.UpdateItem(v.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("Products"), Key: key("close"), UpdateExpression: aws.String("REMOVE v")}); err != nil {
		v.Fatal(err)
	}
	if _, err := v.client.DeleteItem(v.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Products"), Key: key("hat")}); err != nil {
		v.Fatal(err)
	}
	v.found(v.search("dot", "", nil), []string{"near", "far"}, []float64{10, 2})
}

func (v *vectors) refused(err error, what string) {
	v.Helper()
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "ValidationException" {
		v.Errorf("%s: %v, want a ValidationException", what, err)
	}
}

func (v *vectors) refusals() {
	v.Helper()
	_, err := v.client.SearchVectors(v.Context(), searchOf("euclidean", "", nil))
	v.refused(err, "a search without the partition key")
	in := searchOf("cosine", "", nil)
	in.SearchVector = vectorOf(1, 2, 3)
	_, err = v.client.SearchVectors(v.Context(), in)
	v.refused(err, "a vector of three components")
	_, err = v.client.PutItem(v.Context(), &dynamodb.PutItemInput{TableName: aws.String("Products"), Item: map[string]types.AttributeValue{
		"id": text("wrong"), "v": &types.AttributeValueMemberL{Value: vectorOf(1)},
	}})
	v.refused(err, "an item with a vector of one component")
	_, err = v.client.Query(v.Context(), &dynamodb.QueryInput{
		TableName: aws.String("Products"), IndexName: aws.String("euclidean"), KeyConditionExpression: aws.String("category = :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":c": text("shoes")},
	})
	v.refused(err, "a query of a vector index")
}

func (v *vectors) deleteIndex() {
	v.Helper()
	_, err := v.client.UpdateTable(v.Context(), &dynamodb.UpdateTableInput{
		TableName:          aws.String("Products"),
		VectorIndexUpdates: []types.VectorIndexUpdate{{Delete: &types.DeleteVectorIndexAction{IndexName: aws.String("dot")}}},
	})
	if err != nil {
		v.Fatal(err)
	}
	names := v.settled()
	slices.Sort(names)
	if want := []string{"cosine", "euclidean"}; !slices.Equal(names, want) {
		v.Errorf("indexes %q after the deletion, want %q", names, want)
	}
	_, err = v.client.SearchVectors(v.Context(), searchOf("dot", "", nil))
	v.refused(err, "a search of a deleted index")
	v.found(v.search("cosine", "", nil), []string{"far", "near"}, nil)
}
