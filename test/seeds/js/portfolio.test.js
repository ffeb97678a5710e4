import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { all, assertSampleItems, column, open, pages, refused } from "./seeds.js";

const TableName = "portfolio-backend-table";

/** A query of a partition, and in it of the sort keys with a prefix unless that is empty. */
function partition(IndexName, pk, prefix) {
  const [pkName, skName] = IndexName ? [`${IndexName}PK`, `${IndexName}SK`] : ["PK", "SK"];
  return {
    TableName,
    IndexName,
    KeyConditionExpression: `${pkName} = :pk${prefix ? ` AND begins_with(${skName}, :sk)` : ""}`,
    ExpressionAttributeValues: { ":pk": pk, ...(prefix && { ":sk": prefix }) },
  };
}

suite("Portfolio", () => {
  test("items of every entity come back equal", async (t) => {
    const db = await open(t, "portfolio");
    await assertSampleItems(db, "portfolio");
  });

  const patterns = {
    "query 1 user by email": [partition("GSI1", "USER#user@example.com"), ["PROFILE"]],
    "query 2 posts of a category, drafts too": [
      partition("GSI2", "CATEGORY#cat-123", "POST#"),
      ["METADATA", "METADATA"],
    ],
    "query 3 notifications of a user, by id": [
      partition(undefined, "USER#user-123", "NOTIFICATION#"),
      ["NOTIFICATION#1c3a", "NOTIFICATION#f00d"],
    ],
    "GSI1 notifications of a user, by time": [
      partition("GSI1", "USER#user-123", "NOTIFICATION#"),
      ["NOTIFICATION#f00d", "NOTIFICATION#1c3a"],
    ],
    "GSI1 published posts": [partition("GSI1", "POST#STATUS#published"), ["METADATA", "METADATA"]],
    "GSI1 comments of a user": [
      partition("GSI1", "COMMENT#user-123", "POST#"),
      ["COMMENT#b7e2", "COMMENT#0a91"],
    ],
    "GSI1 likes of a user": [partition("GSI1", "USER#user-123", "LIKE#"), ["LIKE#user-123"]],
    "GSI1 category by slug": [partition("GSI1", "CATEGORY#SLUG#serverless"), ["METADATA"]],
    "GSI1 bookmarks of a user, by time": [
      partition("GSI1", "USER#user-123", "BOOKMARK#"),
      ["BOOKMARK#post-3", "BOOKMARK#post-1"],
    ],
    "comments of a post come by id, not by time": [
      partition(undefined, "POST#post-1", "COMMENT#"),
      ["COMMENT#0a91", "COMMENT#b7e2"],
    ],
  };
  for (const [name, [query, want]] of Object.entries(patterns)) {
    test(name, async (t) => {
      const db = await open(t, "portfolio");
      assert.deepEqual(column((await db.query(query)).Items, "SK"), want);
      assert.deepEqual(column(await all((page) => db.query({ ...query, Limit: 1, ...page })), "SK"), want);
    });
  }

  test("query 1 finds the likes of a user whose id is the email", async (t) => {
    const db = await open(t, "portfolio");
    const Item = {
      PK: "POST#post-1",
      SK: "LIKE#user@example.com",
      GSI1PK: "USER#user@example.com",
      GSI1SK: "LIKE#2024-03-03T00:00:00Z",
      entityType: "LIKE",
    };
    await db.put({ TableName, Item });
    const { Items } = await db.query(partition("GSI1", "USER#user@example.com"));
    assert.deepEqual(column(Items, "entityType"), ["LIKE", "USER"]);
  });

  test("query 2 only the published needs a filter", async (t) => {
    const db = await open(t, "portfolio");
    const query = partition("GSI2", "CATEGORY#cat-123", "POST#");
    const { Items, Count, ScannedCount } = await db.query({
      ...query,
      FilterExpression: "#data.#status = :published",
      ExpressionAttributeNames: { "#data": "data", "#status": "status" },
      ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ":published": "published" },
    });
    assert.deepEqual(column(Items, "PK"), ["POST#post-1"]);
    assert.deepEqual([Count, ScannedCount], [1, 2]);
  });

  test("the post comes behind its comments and all its likes", async (t) => {
    const db = await open(t, "portfolio");
    const found = await pages((page) => db.query({ ...partition(undefined, "POST#post-1"), Limit: 3, ...page }));
    assert.deepEqual(column(found.flat(), "entityType"), ["COMMENT", "COMMENT", "LIKE", "POST"]);
    assert.deepEqual(column(found[0], "entityType"), ["COMMENT", "COMMENT", "LIKE"]);
  });

  test("a like is unique by its key", async (t) => {
    const db = await open(t, "portfolio");
    const Item = { PK: "POST#post-1", SK: "LIKE#user-123" };
    await refused(
      db.put({ TableName, Item, ConditionExpression: "attribute_not_exists(SK)" }),
      "ConditionalCheckFailedException",
      "The conditional request failed",
    );
  });
});
