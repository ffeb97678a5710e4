package seeds

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestTransporteAppWrites is the document's transaction that creates a trip with its carta porte and counts the carta against the
// user's plan, and the later changes of the items.
func TestTransporteAppWrites(t *testing.T) {
	t.Run("trip, carta porte and usage in one transaction", func(t *testing.T) {
		db := open(t, "transporteapp")
		db.transact(createTrip("uuid", "viaje-2", "carta-2"))
		for _, sortKey := range []string{"VIAJE#viaje-2", "CARTA#carta-2"} {
			if db.get(transporteApp, values("PK", "USER#uuid", "SK", sortKey)) == nil {
				t.Errorf("%s was not written", sortKey)
			}
		}
		credits := db.get(transporteApp, values("PK", "USER#uuid", "SK", "PROFILE#metadata"))["credits"].(*types.AttributeValueMemberM).Value
		wantItem(t, credits, values("balance", 50, "monthlyUsed", 16, "totalConsumed", 200))
	})

	t.Run("a profile without credits fails the transaction", func(t *testing.T) {
		db := open(t, "transporteapp")
		_, err := db.TransactWriteItems(t.Context(), createTrip("123", "viaje-2", "carta-2"))
		wantCanceled(t, err, "None", "None", "ValidationError")
		if trip := db.get(transporteApp, values("PK", "USER#123", "SK", "VIAJE#viaje-2")); trip != nil {
			t.Error("the cancelled trip exists")
		}
	})

	t.Run("so does a user without a profile", func(t *testing.T) {
		db := open(t, "transporteapp")
		_, err := db.TransactWriteItems(t.Context(), createTrip("nobody", "viaje-2", "carta-2"))
		wantCanceled(t, err, "None", "None", "ValidationError")
		if created := db.get(transporteApp, values("PK", "USER#nobody", "SK", "PROFILE#metadata")); created != nil {
			t.Error("the failed update made a profile")
		}
	})

	t.Run("the plan's limit is not looked at unless a condition asks", func(t *testing.T) {
		db := open(t, "transporteapp")
		guarded := createTrip("uuid", "viaje-2", "carta-2")
		usage := guarded.TransactItems[2].Update
		usage.ConditionExpression = aws.String("#credits.#used < :limit")
		usage.ExpressionAttributeValues[":limit"] = toValue(15)
		_, err := db.TransactWriteItems(t.Context(), guarded)
		wantCanceled(t, err, "None", "None", "ConditionalCheckFailed")
	})

	t.Run("assigning a driver under a condition works once", func(t *testing.T) {
		db := open(t, "transporteapp")
		assign := &dynamodb.UpdateItemInput{
			TableName:                 aws.String(transporteApp),
			Key:                       values("PK", "USER#uuid", "SK", "CONDUCTOR#conductor-uuid"),
			UpdateExpression:          aws.String("SET #data.estado = :busy, asignacion.viajeActualId = :trip, GSI1PK = :status"),
			ConditionExpression:       aws.String("#data.estado = :free"),
			ExpressionAttributeNames:  map[string]string{"#data": "data"},
			ExpressionAttributeValues: values(":busy", "en_viaje", ":free", "disponible", ":trip", "viaje-uuid", ":status", "STATUS#en_viaje"),
			ReturnValues:              types.ReturnValueUpdatedOld,
		}
		out, err := db.UpdateItem(t.Context(), assign)
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, out.Attributes, toItem(t, map[string]any{
			"data":       map[string]any{"estado": "disponible"},
			"asignacion": map[string]any{"viajeActualId": nil},
			"GSI1PK":     "STATUS#disponible",
		}))
		_, err = db.UpdateItem(t.Context(), assign)
		wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
		free := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(transporteApp),
			IndexName:                 aws.String("GSI-1"),
			KeyConditionExpression:    aws.String("GSI1PK = :status"),
			ExpressionAttributeValues: values(":status", "STATUS#disponible"),
		})
		wantStrings(t, free.Items, "SK", "CONDUCTOR#456")
	})

	t.Run("each position rewrites the trip and both index entries", func(t *testing.T) {
		db := open(t, "transporteapp")
		key := values("PK", "USER#uuid", "SK", "VIAJE#viaje-uuid")
		db.put(transporteApp, with(db.get(transporteApp, key), "notas", strings.Repeat("x", 900))) // 1.8 KB in all
		out, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName:                 aws.String(transporteApp),
			Key:                       key,
			UpdateExpression:          aws.String("SET tracking.ubicacionActual.lat = :lat, tracking.progreso = tracking.progreso + :one"),
			ExpressionAttributeValues: values(":lat", 21, ":one", 1),
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityIndexes,
			ReturnValues:              types.ReturnValueUpdatedNew,
		})
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, out.Attributes, toItem(t, map[string]any{"tracking": map[string]any{
			"ubicacionActual": map[string]any{"lat": 21}, "progreso": 66,
		}}))
		consumed := out.ConsumedCapacity
		wantEqual(t, "units of the table", aws.ToFloat64(consumed.Table.CapacityUnits), 2)
		wantEqual(t, "units of GSI-1", aws.ToFloat64(consumed.GlobalSecondaryIndexes["GSI-1"].CapacityUnits), 2)
		wantEqual(t, "units of GSI-2", aws.ToFloat64(consumed.GlobalSecondaryIndexes["GSI-2"].CapacityUnits), 2)
	})

	t.Run("TTL on ttl", func(t *testing.T) {
		db := open(t, "transporteapp")
		session := db.get(transporteApp, values("PK", "USER#123", "SK", "SESSION#abc"))
		wantStrings(t, []item{session}, "ttl", "1704067200")
		db.enableTTL(transporteApp, "ttl")
	})
}

// createTrip is the document's transaction.
func createTrip(userID, tripID, cartaID string) *dynamodb.TransactWriteItemsInput {
	table := aws.String(transporteApp)
	user := "USER#" + userID
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: values("PK", user, "SK", "VIAJE#"+tripID, "entityType", "VIAJE",
			"GSI1PK", "STATUS#programado", "GSI1SK", "2024-01-20#"+tripID)}},
		{Put: &types.Put{TableName: table, Item: values("PK", user, "SK", "CARTA#"+cartaID, "entityType", "CARTA_PORTE",
			"GSI2PK", "VIAJE#"+tripID, "GSI2SK", "CARTA#"+cartaID)}},
		{Update: &types.Update{
			TableName:                 table,
			Key:                       values("PK", user, "SK", "PROFILE#metadata"),
			UpdateExpression:          aws.String("SET #credits.#used = #credits.#used + :one"),
			ExpressionAttributeNames:  map[string]string{"#credits": "credits", "#used": "monthlyUsed"},
			ExpressionAttributeValues: values(":one", 1),
		}},
	}}
}
