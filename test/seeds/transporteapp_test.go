package seeds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const transporteApp = "TransporteApp"

func TestTransporteApp(t *testing.T) {
	t.Run("table, GSI-1 and GSI-2", func(t *testing.T) {
		db := open(t, "transporteapp")
		db.wantTables("transporteapp")
	})

	t.Run("sample items come back equal", func(t *testing.T) {
		db := open(t, "transporteapp")
		db.wantSampleItems("transporteapp")
	})

	t.Run("trips of a user, 20 a page, descending by id", func(t *testing.T) {
		db := open(t, "transporteapp")
		for n := range 44 {
			db.put(transporteApp, values("PK", "USER#uuid", "SK", fmt.Sprintf("VIAJE#%02d", n), "entityType", "VIAJE"))
		}
		trips := &dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			KeyConditionExpression:    aws.String("PK = :pk AND begins_with(SK, :sk)"),
			ExpressionAttributeValues: values(":pk", "USER#uuid", ":sk", "VIAJE#"),
			Limit:                     aws.Int32(20),
			ScanIndexForward:          aws.Bool(false),
		}
		first := db.query(trips)
		wantItem(t, first.LastEvaluatedKey, values("PK", "USER#uuid", "SK", "VIAJE#25"))
		trips.ExclusiveStartKey = first.LastEvaluatedKey
		wantStrings(t, db.query(trips).Items[:1], "SK", "VIAJE#24")

		trips.ExclusiveStartKey = nil
		pages := db.pages(trips)
		wantEqual(t, "sizes of the pages", pageSizes(pages), []int{20, 20, 5})
		keys := column(slices.Concat(pages...), "SK")
		wantEqual(t, "descending", slices.IsSortedFunc(keys, func(a, b string) int { return -cmp.Compare(a, b) }), true)
	})

	t.Run("a page may end exactly at the end", func(t *testing.T) {
		db := open(t, "transporteapp")
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			KeyConditionExpression:    aws.String("PK = :pk AND begins_with(SK, :sk)"),
			ExpressionAttributeValues: values(":pk", "USER#123", ":sk", "VIAJE#"),
			Limit:                     aws.Int32(2),
		})
		wantEqual(t, "count", out.Count, 2)
		wantItem(t, out.LastEvaluatedKey, values("PK", "USER#123", "SK", "VIAJE#def"))
	})

	t.Run("trip with its carta porte, embedded", func(t *testing.T) {
		db := open(t, "transporteapp")
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			KeyConditionExpression:    aws.String("PK = :pk AND SK = :sk"),
			ExpressionAttributeValues: values(":pk", "USER#uuid", ":sk", "VIAJE#viaje-uuid"),
			ProjectionExpression:      aws.String("fiscal.cartaPorteFolio, tracking.ubicacionActual"),
		})
		wantEqual(t, "count", out.Count, 1)
		wantItem(t, out.Items[0], toItem(t, map[string]any{
			"fiscal":   map[string]any{"cartaPorteFolio": "CP-000015"},
			"tracking": map[string]any{"ubicacionActual": map[string]any{"lat": json.Number("20.1"), "lng": json.Number("-101.2")}},
		}))
	})

	t.Run("children of a carta porte", func(t *testing.T) {
		db := open(t, "transporteapp")
		children := &dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			KeyConditionExpression:    aws.String("PK = :pk"),
			ExpressionAttributeValues: values(":pk", "CARTA#xyz"),
		}
		wantStrings(t, db.query(children).Items, "SK", "MERCANCIA#m1", "UBICACION#01", "UBICACION#02")
		db.put(transporteApp, values("PK", "CARTA#xyz", "SK", "UBICACION#2"), values("PK", "CARTA#xyz", "SK", "UBICACION#10"))
		wantStrings(t, db.query(children).Items, "SK", // without padding, 10 sorts before 2
			"MERCANCIA#m1", "UBICACION#01", "UBICACION#02", "UBICACION#10", "UBICACION#2")
	})

	t.Run("driver, vehicle and trailer in one batch", func(t *testing.T) {
		db := open(t, "transporteapp")
		batch := func(driver string) []string {
			out, err := db.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{transporteApp: {Keys: []map[string]types.AttributeValue{
					values("PK", "USER#uuid", "SK", driver),
					values("PK", "USER#uuid", "SK", "VEHICULO#vehiculo-uuid"),
					values("PK", "USER#uuid", "SK", "REMOLQUE#remolque-uuid"),
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "unprocessed", len(out.UnprocessedKeys), 0)
			kinds := column(out.Responses[transporteApp], "entityType")
			slices.Sort(kinds) // the order of a batch is undefined
			return kinds
		}
		wantEqual(t, "batch", batch("CONDUCTOR#conductor-uuid"), []string{"CONDUCTOR", "REMOLQUE", "VEHICULO"})
		wantEqual(t, "batch without the driver", batch("CONDUCTOR#nobody"), []string{"REMOLQUE", "VEHICULO"})
	})

	t.Run("carta porte by folio is only to be found by a filter", func(t *testing.T) {
		db := open(t, "transporteapp")
		byFolio := &dynamodb.ScanInput{
			TableName:                 aws.String(transporteApp),
			FilterExpression:          aws.String("data.folio = :folio"),
			ExpressionAttributeValues: values(":folio", "CP-000015"),
		}
		_, err := db.Scan(t.Context(), byFolio)
		wantError(t, err, "ValidationException",
			"Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: data")
		byFolio.FilterExpression = aws.String("#data.folio = :folio")
		byFolio.ExpressionAttributeNames = map[string]string{"#data": "data"}
		out := db.scan(byFolio)
		wantStrings(t, out.Items, "SK", "CARTA#carta-uuid")
		wantEqual(t, "items read", int(out.ScannedCount), len(itemsOf(t, "transporteapp")[transporteApp]))
	})
}

// TestTransporteAppIndexes shows that the document's indexes expose items across companies.
func TestTransporteAppIndexes(t *testing.T) {
	db := open(t, "transporteapp")
	for _, pattern := range []struct {
		name, index, partition string
		want                   []string // table keys
	}{
		{
			"available drivers, of every company", "GSI-1", "STATUS#disponible",
			[]string{"USER#123 CONDUCTOR#456", "USER#uuid CONDUCTOR#conductor-uuid"},
		},
		{
			"trips under way, of every company", "GSI-1", "STATUS#en_curso",
			[]string{"USER#123 VIAJE#abc", "USER#uuid VIAJE#viaje-uuid"},
		},
		{
			"drafts are trips and cartas", "GSI-1", "STATUS#borrador",
			[]string{"USER#123 CARTA#xyz", "USER#123 VIAJE#def"},
		},
		{"trips of a day", "GSI-2", "DATE#2024-01-15", []string{"USER#uuid VIAJE#viaje-uuid"}},
		{"carta porte of a trip", "GSI-2", "VIAJE#viaje-uuid", []string{"USER#uuid CARTA#carta-uuid"}},
	} {
		t.Run(pattern.name, func(t *testing.T) {
			names := map[string]string{"#pk": "GSI1PK"}
			if pattern.index == "GSI-2" {
				names["#pk"] = "GSI2PK"
			}
			out := db.query(&dynamodb.QueryInput{
				TableName:                 aws.String(transporteApp),
				IndexName:                 aws.String(pattern.index),
				KeyConditionExpression:    aws.String("#pk = :status"),
				ExpressionAttributeNames:  names,
				ExpressionAttributeValues: values(":status", pattern.partition),
			})
			var keys []string
			for _, found := range out.Items {
				keys = append(keys, fromItem(found)["PK"].(string)+" "+fromItem(found)["SK"].(string))
			}
			wantEqual(t, "keys", keys, pattern.want)
		})
	}
}

// TestTransporteAppOptimizations is the document's section on sparse and narrow indexes.
func TestTransporteAppOptimizations(t *testing.T) {
	t.Run("sparse: a trip that ends leaves GSI-1", func(t *testing.T) {
		db := open(t, "transporteapp")
		_, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName:        aws.String(transporteApp),
			Key:              values("PK", "USER#123", "SK", "VIAJE#abc"),
			UpdateExpression: aws.String("REMOVE GSI1PK"),
		})
		if err != nil {
			t.Fatal(err)
		}
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			IndexName:                 aws.String("GSI-1"),
			KeyConditionExpression:    aws.String("GSI1PK = :status"),
			ExpressionAttributeValues: values(":status", "STATUS#en_curso"),
		})
		wantStrings(t, out.Items, "SK", "VIAJE#viaje-uuid")
	})

	t.Run("INCLUDE of data.nombre projects nothing", func(t *testing.T) {
		db := open(t, "transporteapp")
		limited := tablesOf(t, "transporteapp")[0]
		limited.TableName = aws.String("TransporteApp-limited")
		limited.AttributeDefinitions = limited.AttributeDefinitions[:4]
		limited.GlobalSecondaryIndexes = limited.GlobalSecondaryIndexes[:1]
		limited.GlobalSecondaryIndexes[0].IndexName = aws.String("GSI-Status")
		limited.GlobalSecondaryIndexes[0].Projection = &types.Projection{
			ProjectionType:   types.ProjectionTypeInclude,
			NonKeyAttributes: []string{"data.nombre", "data.estado", "updatedAt"},
		}
		db.createTable(limited)
		db.put(*limited.TableName, itemsOf(t, "transporteapp")[transporteApp]...)
		byStatus := &dynamodb.QueryInput{
			TableName:                 limited.TableName,
			IndexName:                 aws.String("GSI-Status"),
			KeyConditionExpression:    aws.String("GSI1PK = :status"),
			ExpressionAttributeValues: values(":status", "STATUS#timbrada"),
		}
		wantItem(t, db.query(byStatus).Items[0], values("PK", "USER#uuid", "SK", "CARTA#carta-uuid",
			"GSI1PK", "STATUS#timbrada", "GSI1SK", "2024-01-15#carta-uuid", "updatedAt", "2024-01-15T08:30:00Z"))

		byStatus.Select = types.SelectAllAttributes
		_, err := db.Query(t.Context(), byStatus)
		wantError(t, err, "ValidationException", "Select type ALL_ATTRIBUTES is not supported for global secondary index")
	})
}
