// What the test files share: a database that holds a document's tables and sample items, and a few
// expectations. The endpoint comes from AWS_ENDPOINT_URL_DYNAMODB, as in any program.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";

const waiting = { minDelay: 0.01, maxDelay: 1, maxWaitTime: 60 };

const read = (document, file) =>
  JSON.parse(readFileSync(new URL(`../testdata/${document}/${file}`, import.meta.url), "utf8"));

/** The document's CreateTable requests. */
export const tablesOf = (document) => read(document, "tables.json");

/** The document's sample items, by table. */
export const itemsOf = (document) => read(document, "items.json");

/** A document client on a database that holds the tables and items of a document until the test ends. */
export async function open(t, document) {
  const client = new DynamoDBClient({
    region: process.env.AWS_REGION ?? "us-east-1",
    credentials: {
      accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "local",
      secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "local",
    },
  });
  t.after(() => client.destroy());
  for (const table of tablesOf(document)) await createTable(t, client, table);
  const db = DynamoDBDocument.from(client);
  for (const [TableName, items] of Object.entries(itemsOf(document))) {
    await Promise.all(items.map((Item) => db.put({ TableName, Item })));
  }
  return db;
}

/** Creates a table, waits until it is active, and deletes it when the test ends. */
export async function createTable(t, client, table) {
  const named = { TableName: table.TableName };
  await client.send(new CreateTableCommand(table));
  t.after(async () => {
    await client.send(new DeleteTableCommand(named));
    await waitUntilTableNotExists({ client, ...waiting }, named);
  });
  await waitUntilTableExists({ client, ...waiting }, named);
}

/** Reads back every sample item: one by one, and by a scan in small pages. */
export async function assertSampleItems(db, document) {
  const items = itemsOf(document);
  for (const { TableName, KeySchema } of tablesOf(document)) {
    for (const sample of items[TableName]) {
      const Key = Object.fromEntries(KeySchema.map(({ AttributeName }) => [AttributeName, sample[AttributeName]]));
      const { Item } = await db.get({ TableName, Key, ConsistentRead: true });
      assert.deepEqual(Item, sample);
    }
    assert.equal((await all((page) => db.scan({ TableName, Limit: 2, ...page }))).length, items[TableName].length);
  }
}

/** Follows LastEvaluatedKey to the end; request gets the ExclusiveStartKey of each page. */
export async function pages(request) {
  const found = [];
  let page;
  do {
    page = await request({ ExclusiveStartKey: page?.LastEvaluatedKey });
    found.push(page.Items);
  } while (page.LastEvaluatedKey);
  return found;
}

/** All items of all pages. */
export const all = async (request) => (await pages(request)).flat();

/** One attribute of each item. */
export const column = (items, attribute) => items.map((item) => item[attribute]);

/** Asks for an error by name and by a part of its message. */
export const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name, error.message);
    assert.ok(error.message.includes(message), `${error.message}\ndoes not say: ${message}`);
    return true;
  });

/** Asks for a cancelled transaction with these reasons, one an action, and returns them. */
export async function canceled(promise, ...codes) {
  const error = await promise.then(
    () => assert.fail("the transaction went through"),
    (reason) => reason,
  );
  assert.equal(error.name, "TransactionCanceledException", error.message);
  assert.deepEqual(column(error.CancellationReasons, "Code"), codes);
  return error.CancellationReasons;
}
