import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { all, assertSampleItems, canceled, column, open, pages, refused } from "./seeds.js";

const TableName = "AppCore";

suite("AppCore", () => {
  test("1.5 sample items come back equal", async (t) => {
    const db = await open(t, "appcore");
    await assertSampleItems(db, "appcore");
  });

  test("AP1 transactions of a user, newest first, in pages", async (t) => {
    const db = await open(t, "appcore");
    await createTransactions(db, 4);
    const found = await pages((page) =>
      db.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: "pk = :pk AND begins_with(sk, :tx)",
          ExpressionAttributeValues: { ":pk": "USER#u-123", ":tx": "TX#" },
          ScanIndexForward: false,
          Limit: 2,
          ...page,
        }),
      ),
    );
    assert.deepEqual(column(found, "length"), [2, 2, 1]);
    assert.deepEqual(column(found.flat(), "txId"), ["tx-3", "tx-2", "tx-1", "tx-0", "tx-abc"]);
  });

  test("AP2 transaction by id", async (t) => {
    const db = await open(t, "appcore");
    const { Item } = await db.send(new GetCommand({ TableName, Key: { pk: "TX#tx-abc", sk: "METADATA" } }));
    assert.equal(Item.userId, "u-123");
    const absent = await db.send(new GetCommand({ TableName, Key: { pk: "TX#nobody", sk: "METADATA" } }));
    assert.equal(absent.Item, undefined);
  });

  test("AP3 notifications, newest first", async (t) => {
    const db = await open(t, "appcore");
    const sk = "NOTIF#2024-01-16T09:00:00.000Z#notif-2";
    await db.send(new PutCommand({ TableName, Item: { pk: "USER#u-123", sk, read: false } }));
    const { Items } = await db.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :notif)",
        ExpressionAttributeValues: { ":pk": "USER#u-123", ":notif": "NOTIF#" },
        ScanIndexForward: false,
      }),
    );
    assert.deepEqual(column(Items, "sk"), [sk, "NOTIF#2024-01-15T10:06:00.000Z#notif-xyz"]);
  });

  test("AP4 the last 10 are 5 transactions, each twice", async (t) => {
    const db = await open(t, "appcore");
    await createTransactions(db, 10);
    const { Items, Count } = await db.send(lastGlobal("GLOBAL_TX"));
    assert.equal(Count, 10);
    assert.deepEqual(
      column(Items, "txId"),
      ["tx-9", "tx-8", "tx-7", "tx-6", "tx-5"].flatMap((id) => [id, id]),
    );
  });

  test("AP4 the two copies of one transaction disagree", async (t) => {
    const db = await open(t, "appcore");
    const { Items } = await db.send(lastGlobal("GLOBAL_TX"));
    assert.deepEqual(column(Items, "txId"), ["tx-abc", "tx-abc"]);
    assert.deepEqual(column(Items, "status").sort(), ["COMPLETED", "PENDING"]);
  });

  test("1.3 ten shards, read in parallel and merged", async (t) => {
    const db = await open(t, "appcore");
    for (let n = 0; n < 30; n++) {
      const GSI1SK = `2024-03-01T00:00:${String(n).padStart(2, "0")}.000Z`;
      await db.put({ TableName, Item: { pk: `TX#tx-${n}`, sk: "METADATA", GSI1PK: `GLOBAL_TX#${(n * 7) % 10}`, GSI1SK } });
    }
    const shards = Array.from({ length: 10 }, (_, shard) => db.send(lastGlobal(`GLOBAL_TX#${shard}`)));
    const merged = (await Promise.all(shards)).flatMap(({ Items }) => column(Items, "GSI1SK")).sort().reverse();
    assert.equal(merged[0], "2024-03-01T00:00:29.000Z");
    assert.equal(merged[9], "2024-03-01T00:00:20.000Z");
  });

  test("1.6 a creation writes three items or none", async (t) => {
    const db = await open(t, "appcore");
    await db.send(createTransaction("req-1", "tx-1", "2024-02-01T00:00:00.000Z"));
    for (const Key of [
      { pk: "IDE#req-1", sk: "METADATA" },
      { pk: "TX#tx-1", sk: "METADATA" },
      { pk: "USER#u-123", sk: "TX#2024-02-01T00:00:00.000Z#tx-1" },
    ]) {
      const { Item } = await db.get({ TableName, Key });
      assert.equal(Item.txId, "tx-1");
    }
  });

  test("2.5 a retry is cancelled, not ConditionalCheckFailed, and recovers", async (t) => {
    const db = await open(t, "appcore");
    await db.send(createTransaction("req-1", "tx-1", "2024-02-01T00:00:00.000Z"));
    const retry = db.send(createTransaction("req-1", "tx-2", "2024-02-01T00:00:09.000Z"));
    await canceled(retry, "ConditionalCheckFailed", "None", "None");

    const marker = await db.send(new GetCommand({ TableName, Key: { pk: "IDE#req-1", sk: "METADATA" } }));
    const original = await db.send(
      new GetCommand({ TableName, Key: { pk: `TX#${marker.Item.txId}`, sk: "METADATA" } }),
    );
    assert.equal(original.Item.createdAt, "2024-02-01T00:00:00.000Z");
    const left = await all((page) => db.scan({ TableName, ...page }));
    assert.ok(!column(left, "txId").includes("tx-2"));
  });

  test("2.5 ConditionalCheckFailed is what a single put answers", async (t) => {
    const db = await open(t, "appcore");
    const put = new PutCommand({
      TableName,
      Item: { pk: "IDE#req-uuid-xxxx", sk: "METADATA" },
      ConditionExpression: "attribute_not_exists(pk)",
    });
    await refused(db.send(put), "ConditionalCheckFailedException", "The conditional request failed");
  });
});

function createTransaction(requestId, txId, createdAt) {
  const userId = "u-123";
  const transaction = {
    entityType: "TRANSACTION",
    txId,
    userId,
    amount: 500,
    currency: "ARS",
    status: "PENDING",
    createdAt,
    GSI1PK: "GLOBAL_TX",
    GSI1SK: createdAt,
  };
  const marker = { pk: `IDE#${requestId}`, sk: "METADATA", entityType: "IDEMPOTENCY", txId, userId, createdAt };
  return new TransactWriteCommand({
    TransactItems: [
      { Put: { TableName, Item: marker, ConditionExpression: "attribute_not_exists(pk)" } },
      { Put: { TableName, Item: { ...transaction, pk: `USER#${userId}`, sk: `TX#${createdAt}#${txId}` } } },
      { Put: { TableName, Item: { ...transaction, pk: `TX#${txId}`, sk: "METADATA" } } },
    ],
  });
}

async function createTransactions(db, count) {
  for (let n = 0; n < count; n++) {
    await db.send(createTransaction(`req-${n}`, `tx-${n}`, `2024-02-01T00:00:0${n}.000Z`));
  }
}

function lastGlobal(partition) {
  return new QueryCommand({
    TableName,
    IndexName: "GSI1",
    KeyConditionExpression: "GSI1PK = :global",
    ExpressionAttributeValues: { ":global": partition },
    ScanIndexForward: false,
    Limit: 10,
  });
}
