import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { assertSampleItems, canceled, column, itemsOf, open, pages, refused } from "./seeds.js";

const TABLE_NAME = "catfecito-serverless-dev";

suite("CatFecito", () => {
  test("sample items come back equal", async (t) => {
    const docClient = await open(t, "catfecito");
    await assertSampleItems(docClient, "catfecito");
  });

  test("1.1 user by id", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Item } = await docClient.send(
      new GetCommand({ TableName: TABLE_NAME, Key: { PK: "USER#uuid", SK: "METADATA" } }),
    );
    assert.equal(Item.email, "juan@mail.com");
  });

  test("1.2 user by email", async (t) => {
    const docClient = await open(t, "catfecito");
    const byEmail = async (email) => {
      const { Items } = await docClient.send(
        new QueryCommand({
          TableName: TABLE_NAME,
          IndexName: "GSI2",
          KeyConditionExpression: "GSI2PK = :email",
          ExpressionAttributeValues: { ":email": `EMAIL#${email}` },
        }),
      );
      return column(Items, "PK");
    };
    assert.deepEqual(await byEmail("juan@mail.com"), ["USER#uuid"]);
    assert.deepEqual(await byEmail("Juan@mail.com"), []); // keys are bytes: case counts
    assert.deepEqual(await byEmail("ana@mail.com"), []); // stored as the schema table says, without GSI2
  });

  test("2.1 all active products reads the whole table", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items, ScannedCount } = await docClient.send(
      new ScanCommand({
        TableName: TABLE_NAME,
        FilterExpression: "begins_with(PK, :pk) AND SK = :sk AND is_active = :active",
        ExpressionAttributeValues: { ":pk": "PRODUCT#", ":sk": "METADATA", ":active": true },
      }),
    );
    assert.deepEqual(column(Items, "id").sort(), ["product1", "product2", "product4"]);
    assert.equal(ScannedCount, itemsOf("catfecito")[TABLE_NAME].length);
  });

  test("2.2 active products of a category; the limit counts before the filter", async (t) => {
    const docClient = await open(t, "catfecito");
    const byCategory = {
      TableName: TABLE_NAME,
      IndexName: "GSI1",
      KeyConditionExpression: "GSI1PK = :category",
      FilterExpression: "is_active = :active",
      ExpressionAttributeValues: { ":category": "CATEGORY#cafes", ":active": true },
    };
    const { Items, ScannedCount } = await docClient.send(new QueryCommand(byCategory));
    assert.deepEqual(column(Items, "id"), ["product1", "product2"]);
    assert.equal(ScannedCount, 3);

    const found = await pages((page) => docClient.send(new QueryCommand({ ...byCategory, Limit: 1, ...page })));
    assert.deepEqual(column(found, "length").slice(0, 3), [1, 1, 0]);
  });

  test("2.3 products by name prefix", async (t) => {
    const docClient = await open(t, "catfecito");
    const byName = (KeyConditionExpression, prefix) =>
      docClient.send(
        new QueryCommand({
          TableName: TABLE_NAME,
          IndexName: "GSI2",
          KeyConditionExpression,
          ExpressionAttributeValues: { ":prefix": prefix },
        }),
      );
    await refused(
      byName("begins_with(GSI2PK, :prefix)", `PRODUCT#${"Café".toLowerCase()}`),
      "ValidationException",
      "Query key condition not supported",
    );
    assert.equal((await byName("GSI2PK = :prefix", "PRODUCT#café premium")).Count, 0); // the stored key is a slug
    assert.equal((await byName("GSI2PK = :prefix", "PRODUCT#cafe-premium")).Count, 1);
  });

  test("3.1 all categories", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items } = await docClient.send(
      new ScanCommand({
        TableName: TABLE_NAME,
        FilterExpression: "begins_with(PK, :pk) AND SK = :sk",
        ExpressionAttributeValues: { ":pk": "CATEGORY#", ":sk": "METADATA" },
      }),
    );
    assert.deepEqual(column(Items, "name").sort(), ["Cafés", "Tazas"]);
  });

  test("3.2 category by slug", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Item } = await docClient.send(
      new GetCommand({ TableName: TABLE_NAME, Key: { PK: "CATEGORY#cafes", SK: "METADATA" } }),
    );
    assert.equal(Item.name, "Cafés");
  });

  test("projection: id, #name, price", async (t) => {
    const docClient = await open(t, "catfecito");
    const request = { TableName: TABLE_NAME, Key: { PK: "PRODUCT#product4", SK: "METADATA" } };
    const { Item } = await docClient.send(
      new GetCommand({
        ...request,
        ProjectionExpression: "id, #name, price",
        ExpressionAttributeNames: { "#name": "name" },
      }),
    );
    assert.deepEqual(Item, { id: "product4", name: "Taza Gato", price: 2250.5 });
    await refused(
      docClient.send(new GetCommand({ ...request, ProjectionExpression: "id, name, price" })),
      "ValidationException",
      "reserved keyword: name",
    );
  });

  test("put of an item that must not exist", async (t) => {
    const docClient = await open(t, "catfecito");
    const put = new PutCommand({
      TableName: TABLE_NAME,
      Item: { PK: "PRODUCT#product1", SK: "METADATA", name: "otro" },
      ConditionExpression: "attribute_not_exists(PK)",
    });
    await refused(docClient.send(put), "ConditionalCheckFailedException", "The conditional request failed");
  });
});

suite("CatFecito cart", () => {
  const Key = { PK: "USER#uuid", SK: "CART#product1" };

  test("4.1 cart of a user", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items } = await docClient.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        KeyConditionExpression: "PK = :pk AND begins_with(SK, :sk)",
        ExpressionAttributeValues: { ":pk": "USER#uuid", ":sk": "CART#" },
      }),
    );
    assert.deepEqual(column(Items, "SK"), ["CART#product1", "CART#product2"]);
    assert.deepEqual(column(Items, "quantity"), [2, 1]);
  });

  test("4.2 adding the same product again overwrites its line", async (t) => {
    const docClient = await open(t, "catfecito");
    const Item = {
      ...Key,
      GSI1PK: "PRODUCT#product1",
      GSI1SK: "USER#uuid",
      quantity: 1,
      created_at: new Date().toISOString(),
    };
    await docClient.send(new PutCommand({ TableName: TABLE_NAME, Item }));
    assert.deepEqual((await docClient.send(new GetCommand({ TableName: TABLE_NAME, Key }))).Item, Item);
  });

  test("4.3 removing a line, even one that is not there", async (t) => {
    const docClient = await open(t, "catfecito");
    const remove = new DeleteCommand({ TableName: TABLE_NAME, Key, ReturnValues: "ALL_OLD" });
    assert.equal((await docClient.send(remove)).Attributes.quantity, 2);
    assert.equal((await docClient.send(remove)).Attributes, undefined);
  });

  test("GSI1 users with a product in the cart", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items } = await docClient.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        IndexName: "GSI1",
        KeyConditionExpression: "GSI1PK = :product",
        ExpressionAttributeValues: { ":product": "PRODUCT#product1" },
      }),
    );
    assert.deepEqual(column(Items, "GSI1SK"), ["USER#uuid"]);
  });
});

suite("CatFecito orders", () => {
  const stockOf = async (docClient, id) =>
    (await docClient.get({ TableName: TABLE_NAME, Key: { PK: `PRODUCT#${id}`, SK: "METADATA" } })).Item.stock;

  test("5.1 creates the order, empties the cart, takes the stock", async (t) => {
    const docClient = await open(t, "catfecito");
    await docClient.send(createOrder("order3", ["product1"], 2));
    const { Items } = await docClient.send(orderWithItems("order3"));
    assert.deepEqual(column(Items, "SK"), ["ITEM#product1", "METADATA"]);
    assert.equal(await stockOf(docClient, "product1"), 8);
    const line = await docClient.get({ TableName: TABLE_NAME, Key: { PK: "USER#uuid", SK: "CART#product1" } });
    assert.equal(line.Item, undefined);
  });

  test("5.1 out of stock changes nothing", async (t) => {
    const docClient = await open(t, "catfecito");
    const order = docClient.send(createOrder("order3", ["product1"], 11));
    const reasons = await canceled(order, "None", "None", "None", "None", "ConditionalCheckFailed");
    assert.equal(reasons[4].Message, "The conditional request failed");
    assert.equal((await docClient.send(orderWithItems("order3"))).Count, 0);
    assert.equal(await stockOf(docClient, "product1"), 10);
  });

  test("5.1 a retry takes the stock twice, under a token once", async (t) => {
    const docClient = await open(t, "catfecito");
    await docClient.send(createOrder("order3", ["product1"], 1));
    await docClient.send(createOrder("order3", ["product1"], 1)); // the SDK gives each call a token of its own
    assert.equal(await stockOf(docClient, "product1"), 8);

    const ClientRequestToken = randomUUID();
    await docClient.send(createOrder("order4", ["product1"], 1, { ClientRequestToken }));
    await docClient.send(createOrder("order4", ["product1"], 1, { ClientRequestToken }));
    assert.equal(await stockOf(docClient, "product1"), 7);
    await refused(
      docClient.send(createOrder("order5", ["product1"], 1, { ClientRequestToken })),
      "IdempotentParameterMismatchException",
      "",
    );
  });

  test("5.1 holds at most 32 lines", async (t) => {
    const docClient = await open(t, "catfecito");
    const products = Array.from({ length: 33 }, (_, n) => `bulk-${n}`);
    await refused(
      docClient.send(createOrder("order3", products, 1)),
      "ValidationException",
      "Member must have length less than or equal to 100",
    );
  });

  test("5.2 orders of a user", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items } = await docClient.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        KeyConditionExpression: "PK = :pk AND begins_with(SK, :sk)",
        ExpressionAttributeValues: { ":pk": "USER#uuid", ":sk": "ORDER#" },
      }),
    );
    assert.deepEqual(
      Items.map(({ SK, total, status }) => [SK, total, status]),
      [
        ["ORDER#order1", 3500, "paid"],
        ["ORDER#order2", 1200, "pending"],
      ],
    );
  });

  test("5.3 order with its items, the header last", async (t) => {
    const docClient = await open(t, "catfecito");
    const { Items } = await docClient.send(orderWithItems("order1"));
    assert.deepEqual(column(Items, "SK"), ["ITEM#product1", "ITEM#product2", "METADATA"]);
  });
});

function orderWithItems(orderId) {
  return new QueryCommand({
    TableName: TABLE_NAME,
    KeyConditionExpression: "PK = :pk",
    ExpressionAttributeValues: { ":pk": `ORDER#${orderId}` },
  });
}

function createOrder(orderId, products, quantity, options) {
  const userId = "uuid";
  const order = { total: 3500.0, status: "pending" };
  return new TransactWriteCommand({
    ...options,
    TransactItems: [
      {
        Put: {
          TableName: TABLE_NAME,
          Item: { PK: `ORDER#${orderId}`, SK: "METADATA", user_id: userId, ...order, created_at: "2026-02-11T10:30:00.000Z" },
        },
      },
      {
        Put: {
          TableName: TABLE_NAME,
          Item: { PK: `USER#${userId}`, SK: `ORDER#${orderId}`, GSI1PK: `ORDER#${orderId}`, GSI1SK: "METADATA", ...order },
        },
      },
      ...products.flatMap((productId) => [
        {
          Put: {
            TableName: TABLE_NAME,
            Item: {
              PK: `ORDER#${orderId}`,
              SK: `ITEM#${productId}`,
              product_name: "Café Premium",
              quantity,
              price: 1500,
              subtotal: 1500 * quantity,
            },
          },
        },
        { Delete: { TableName: TABLE_NAME, Key: { PK: `USER#${userId}`, SK: `CART#${productId}` } } },
        {
          Update: {
            TableName: TABLE_NAME,
            Key: { PK: `PRODUCT#${productId}`, SK: "METADATA" },
            UpdateExpression: "SET stock = stock - :qty",
            ConditionExpression: "stock >= :qty",
            ExpressionAttributeValues: { ":qty": quantity },
          },
        },
      ]),
    ],
  });
}
