import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { assertSampleItems, canceled, column, createTable, itemsOf, open, pages, refused, tablesOf } from "./seeds.js";

const TableName = "TransporteApp";

suite("TransporteApp", () => {
  test("sample items come back equal", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    await assertSampleItems(dynamodb, "transporteapp");
  });

  test("pagination: trips of a user, 20 a page, descending by id", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const ids = Array.from({ length: 44 }, (_, n) => String(n).padStart(2, "0"));
    await Promise.all(ids.map((id) => dynamodb.put({ TableName, Item: { PK: "USER#uuid", SK: `VIAJE#${id}` } })));
    const params = {
      TableName,
      KeyConditionExpression: "PK = :pk AND begins_with(SK, :sk)",
      ExpressionAttributeValues: { ":pk": "USER#uuid", ":sk": "VIAJE#" },
      Limit: 20,
      ScanIndexForward: false,
    };
    const result = await dynamodb.query(params);
    assert.deepEqual(result.LastEvaluatedKey, { PK: "USER#uuid", SK: "VIAJE#25" });
    const nextPage = await dynamodb.query({ ...params, ExclusiveStartKey: result.LastEvaluatedKey });
    assert.equal(nextPage.Items[0].SK, "VIAJE#24");

    const found = await pages((page) => dynamodb.query({ ...params, ...page }));
    assert.deepEqual(column(found, "length"), [20, 20, 5]);
    const keys = column(found.flat(), "SK");
    assert.deepEqual(keys, [...keys].sort().reverse());
  });

  test("trip with its carta porte, embedded", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const { Items } = await dynamodb.query({
      TableName,
      KeyConditionExpression: "PK = :pk AND SK = :sk",
      ExpressionAttributeValues: { ":pk": "USER#uuid", ":sk": "VIAJE#viaje-uuid" },
      ProjectionExpression: "fiscal.cartaPorteFolio, tracking.ubicacionActual",
    });
    assert.deepEqual(Items, [
      { fiscal: { cartaPorteFolio: "CP-000015" }, tracking: { ubicacionActual: { lat: 20.1, lng: -101.2 } } },
    ]);
  });

  const byStatus = {
    "available drivers, of every company": ["STATUS#disponible", ["CONDUCTOR#456", "CONDUCTOR#conductor-uuid"]],
    "trips under way, of every company": ["STATUS#en_curso", ["VIAJE#abc", "VIAJE#viaje-uuid"]],
    "drafts are trips and cartas": ["STATUS#borrador", ["CARTA#xyz", "VIAJE#def"]],
  };
  for (const [name, [status, want]] of Object.entries(byStatus)) {
    test(name, async (t) => {
      const dynamodb = await open(t, "transporteapp");
      const { Items } = await dynamodb.query({
        TableName,
        IndexName: "GSI-1",
        KeyConditionExpression: "GSI1PK = :status",
        ExpressionAttributeValues: { ":status": status },
      });
      assert.deepEqual(column(Items, "SK"), want);
    });
  }

  const byGSI2 = {
    "trips of a day": ["DATE#2024-01-15", ["VIAJE#viaje-uuid"]],
    "carta porte of a trip": ["VIAJE#viaje-uuid", ["CARTA#carta-uuid"]],
  };
  for (const [name, [pk, want]] of Object.entries(byGSI2)) {
    test(name, async (t) => {
      const dynamodb = await open(t, "transporteapp");
      const { Items } = await dynamodb.query({
        TableName,
        IndexName: "GSI-2",
        KeyConditionExpression: "GSI2PK = :pk",
        ExpressionAttributeValues: { ":pk": pk },
      });
      assert.deepEqual(column(Items, "SK"), want);
    });
  }

  test("driver, vehicle and trailer in one batch", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const result = await dynamodb.batchGet({
      RequestItems: {
        TransporteApp: {
          Keys: [
            { PK: "USER#uuid", SK: "CONDUCTOR#conductor-uuid" },
            { PK: "USER#uuid", SK: "VEHICULO#vehiculo-uuid" },
            { PK: "USER#uuid", SK: "REMOLQUE#remolque-uuid" },
          ],
        },
      },
    });
    const kinds = column(result.Responses.TransporteApp, "entityType").sort();
    assert.deepEqual(kinds, ["CONDUCTOR", "REMOLQUE", "VEHICULO"]);
    assert.deepEqual(result.UnprocessedKeys, {});
  });

  test("trip, carta porte and usage in one transaction", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    await dynamodb.transactWrite(createTrip("uuid"));
    const Key = { PK: "USER#uuid", SK: "PROFILE#metadata" };
    const { Item } = await dynamodb.get({ TableName, Key });
    assert.deepEqual(Item.credits, { balance: 50, monthlyUsed: 16, totalConsumed: 200 });
  });

  test("a profile without credits fails the transaction", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    await canceled(dynamodb.transactWrite(createTrip("123")), "None", "None", "ValidationError");
    const trip = await dynamodb.get({ TableName, Key: { PK: "USER#123", SK: "VIAJE#viaje-2" } });
    assert.equal(trip.Item, undefined);
  });

  test("sparse: a trip that ends leaves GSI-1", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const Key = { PK: "USER#123", SK: "VIAJE#abc" };
    await dynamodb.update({ TableName, Key, UpdateExpression: "REMOVE GSI1PK" });
    const { Items } = await dynamodb.query({
      TableName,
      IndexName: "GSI-1",
      KeyConditionExpression: "GSI1PK = :status",
      ExpressionAttributeValues: { ":status": "STATUS#en_curso" },
    });
    assert.deepEqual(column(Items, "SK"), ["VIAJE#viaje-uuid"]);
  });

  test("INCLUDE of data.nombre projects nothing", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const [table] = tablesOf("transporteapp");
    const limited = {
      ...table,
      TableName: "TransporteApp-limited",
      AttributeDefinitions: table.AttributeDefinitions.slice(0, 4),
      GlobalSecondaryIndexes: [
        {
          ...table.GlobalSecondaryIndexes[0],
          IndexName: "GSI-Status",
          Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["data.nombre", "data.estado", "updatedAt"] },
        },
      ],
    };
    await createTable(t, dynamodb, limited);
    for (const Item of itemsOf("transporteapp")[TableName]) await dynamodb.put({ TableName: limited.TableName, Item });
    const { Items } = await dynamodb.query({
      TableName: limited.TableName,
      IndexName: "GSI-Status",
      KeyConditionExpression: "GSI1PK = :status",
      ExpressionAttributeValues: { ":status": "STATUS#timbrada" },
    });
    assert.deepEqual(Object.keys(Items[0]).sort(), ["GSI1PK", "GSI1SK", "PK", "SK", "updatedAt"]);
  });

  test("carta porte by folio is only to be found by a filter", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const byFolio = { TableName, ExpressionAttributeValues: { ":folio": "CP-000015" } };
    await refused(
      dynamodb.scan({ ...byFolio, FilterExpression: "data.folio = :folio" }),
      "ValidationException",
      "reserved keyword: data",
    );
    const { Items } = await dynamodb.scan({
      ...byFolio,
      FilterExpression: "#data.folio = :folio",
      ExpressionAttributeNames: { "#data": "data" },
    });
    assert.deepEqual(column(Items, "SK"), ["CARTA#carta-uuid"]);
  });

  test("TTL on ttl", async (t) => {
    const dynamodb = await open(t, "transporteapp");
    const { Item } = await dynamodb.get({ TableName, Key: { PK: "USER#123", SK: "SESSION#abc" } });
    assert.equal(Item.ttl, 1704067200);
    const TimeToLiveSpecification = { AttributeName: "ttl", Enabled: true };
    await dynamodb.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    const { TimeToLiveDescription } = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
    assert.equal(TimeToLiveDescription.AttributeName, "ttl");
  });
});

function createTrip(userId) {
  const PK = `USER#${userId}`;
  const viajeItem = { PK, SK: "VIAJE#viaje-2", GSI1PK: "STATUS#programado", GSI1SK: "2024-01-20#viaje-2" };
  const cartaPorteItem = { PK, SK: "CARTA#carta-2", GSI2PK: "VIAJE#viaje-2", GSI2SK: "CARTA#carta-2" };
  return {
    TransactItems: [
      { Put: { TableName, Item: viajeItem } },
      { Put: { TableName, Item: cartaPorteItem } },
      {
        Update: {
          TableName,
          Key: { PK, SK: "PROFILE#metadata" },
          UpdateExpression: "SET #credits.#used = #credits.#used + :one",
          ExpressionAttributeNames: { "#credits": "credits", "#used": "monthlyUsed" },
          ExpressionAttributeValues: { ":one": 1 },
        },
      },
    ],
  };
}
