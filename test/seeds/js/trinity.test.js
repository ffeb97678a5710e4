import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { assertSampleItems, column, createTable, itemsOf, open, pages, refused, tablesOf } from "./seeds.js";

suite("Trinity", () => {
  test("sample items come back equal", async (t) => {
    const dynamodb = await open(t, "trinity");
    await assertSampleItems(dynamodb, "trinity");
  });

  test("rooms 1 by id", async (t) => {
    const dynamodb = await open(t, "trinity");
    const { Item } = await dynamodb.get({ TableName: "trinity-rooms", Key: { id: "room-uuid-123" } });
    assert.equal(Item.code, "ABC123");
  });

  test("rooms 2 by code, which need not be unique", async (t) => {
    const dynamodb = await open(t, "trinity");
    await dynamodb.put({ TableName: "trinity-rooms", Item: { id: "another", code: "ABC123" } });
    const { Items } = await dynamodb.query({
      TableName: "trinity-rooms",
      IndexName: "code-index",
      KeyConditionExpression: "code = :code",
      ExpressionAttributeValues: { ":code": "ABC123" },
    });
    assert.deepEqual(column(Items, "id").sort(), ["another", "room-uuid-123"]);
  });

  test("rooms 3 by host reads every room", async (t) => {
    const dynamodb = await open(t, "trinity");
    const { Items, ScannedCount } = await dynamodb.scan({
      TableName: "trinity-rooms",
      FilterExpression: "hostId = :hostId",
      ExpressionAttributeValues: { ":hostId": "user-123" },
    });
    assert.deepEqual(column(Items, "id"), ["room-uuid-123"]);
    assert.equal(ScannedCount, 2);
  });

  test("rooms TTL", async (t) => {
    const dynamodb = await open(t, "trinity");
    const TableName = "trinity-rooms";
    const TimeToLiveSpecification = { AttributeName: "ttl", Enabled: true };
    await dynamodb.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    const { TimeToLiveDescription } = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
    assert.match(TimeToLiveDescription.TimeToLiveStatus, /^ENABL(ED|ING)$/);
    const ttl = Math.floor(Date.now() / 1000) + 24 * 60 * 60;
    await dynamodb.put({ TableName, Item: { id: "room-1", ttl } });
    assert.equal((await dynamodb.get({ TableName, Key: { id: "room-1" } })).Item.ttl, ttl);
  });

  test("votes 1 of a room, in pages", async (t) => {
    const dynamodb = await open(t, "trinity");
    const found = await pages((page) => dynamodb.query({ ...votesOf("room-123"), Limit: 2, ...page }));
    assert.deepEqual(column(found, "length"), [2, 1]);
    assert.deepEqual(column(found.flat(), "userMovieId"), ["user-123#789", "user-456#789", "user-456#JOINED"]);
  });

  test("votes 2 one vote", async (t) => {
    const dynamodb = await open(t, "trinity");
    const Key = { roomId: "room-123", userMovieId: "user-456#789" };
    const { Item } = await dynamodb.get({ TableName: "trinity-votes", Key });
    assert.deepEqual(Item, itemsOf("trinity")["trinity-votes"][0]);
  });

  test("votes 3 of a user in a room are the votes and the joining", async (t) => {
    const dynamodb = await open(t, "trinity");
    const { Items } = await dynamodb.query({
      TableName: "trinity-votes",
      KeyConditionExpression: "roomId = :roomId AND begins_with(userMovieId, :userId)",
      ExpressionAttributeValues: { ":roomId": "room-123", ":userId": "user-456#" },
    });
    assert.deepEqual(column(Items, "userMovieId"), ["user-456#789", "user-456#JOINED"]);
  });

  test("votes 4 participation in all rooms reads every vote", async (t) => {
    const dynamodb = await open(t, "trinity");
    const { Items, ScannedCount } = await dynamodb.scan({
      TableName: "trinity-votes",
      FilterExpression: "userId = :userId",
      ExpressionAttributeValues: { ":userId": "user-456" },
    });
    assert.deepEqual(column(Items, "roomId").sort(), ["room-123", "room-123", "room-uuid-123"]);
    assert.equal(ScannedCount, 4);
  });

  test("votes in one batch", async (t) => {
    const dynamodb = await open(t, "trinity");
    const vote = (n) => ({ PutRequest: { Item: { roomId: "batch", userMovieId: `user-1#${n}`, vote: true } } });
    const batchWrite = { RequestItems: { "trinity-votes": [vote(1), vote(2)] } };
    assert.deepEqual((await dynamodb.batchWrite(batchWrite)).UnprocessedItems, {});
    assert.equal((await dynamodb.query(votesOf("batch"))).Count, 2);
    await refused(
      dynamodb.batchWrite({ RequestItems: { "trinity-votes": [vote(3), vote(3)] } }),
      "ValidationException",
      "Provided list of item keys contains duplicates",
    );
  });

  test("matches 1 of a room, by number", async (t) => {
    const dynamodb = await open(t, "trinity");
    await dynamodb.put({ TableName: "trinity-matches", Item: { roomId: "room-123", movieId: 9 } });
    const { Items } = await dynamodb.query({
      TableName: "trinity-matches",
      KeyConditionExpression: "roomId = :roomId",
      ExpressionAttributeValues: { ":roomId": "room-123" },
    });
    assert.deepEqual(column(Items, "movieId"), [9, 789, 1399]);
  });

  test("matches 2 one match", async (t) => {
    const dynamodb = await open(t, "trinity");
    const Key = { roomId: "room-123", movieId: 789 };
    const { Item } = await dynamodb.get({ TableName: "trinity-matches", Key });
    assert.deepEqual(Item.matchedUsers, ["user-123", "user-456"]);
  });

  test("matches 3 of a user reads every match", async (t) => {
    const dynamodb = await open(t, "trinity");
    const { Items, ScannedCount } = await dynamodb.scan({
      TableName: "trinity-matches",
      FilterExpression: "contains(matchedUsers, :userId)",
      ExpressionAttributeValues: { ":userId": "user-456" },
    });
    assert.deepEqual(column(Items, "title"), ["Dune"]);
    assert.equal(ScannedCount, 2);
  });

  test("matches: no index takes its key from an array", async (t) => {
    const dynamodb = await open(t, "trinity");
    const matches = tablesOf("trinity")[2];
    const TableName = "trinity-matches-by-user";
    await createTable(t, dynamodb, {
      ...matches,
      TableName,
      AttributeDefinitions: [...matches.AttributeDefinitions, { AttributeName: "matchedUsers", AttributeType: "S" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: "user-index",
          KeySchema: [{ AttributeName: "matchedUsers", KeyType: "HASH" }],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
    });
    const [Item] = itemsOf("trinity")["trinity-matches"];
    await refused(
      dynamodb.put({ TableName, Item }),
      "ValidationException",
      "Type mismatch for Index Key matchedUsers Expected: S Actual: L",
    );
  });

  test("a match when all have voted: the second writer replaces the first unless a condition stops it", async (t) => {
    const dynamodb = await open(t, "trinity");
    for (const user of ["user-1", "user-2"]) {
      const Item = { roomId: "duel", userMovieId: `${user}#789`, userId: user, movieId: 789, vote: true };
      await dynamodb.put({ TableName: "trinity-votes", Item });
    }
    const { Items } = await dynamodb.query(votesOf("duel"));
    assert.ok(Items.every(({ vote }) => vote));

    const match = (matchId) => ({
      TableName: "trinity-matches",
      Item: { roomId: "duel", movieId: 789, matchId, matchedUsers: column(Items, "userId") },
    });
    await dynamodb.put(match("of user-1"));
    await dynamodb.put(match("of user-2"));
    await refused(
      dynamodb.put({ ...match("late"), ConditionExpression: "attribute_not_exists(roomId)" }),
      "ConditionalCheckFailedException",
      "The conditional request failed",
    );
    const { Item } = await dynamodb.get({ TableName: "trinity-matches", Key: { roomId: "duel", movieId: 789 } });
    assert.equal(Item.matchId, "of user-2");
    assert.deepEqual(Item.matchedUsers, ["user-1", "user-2"]);
  });
});

function votesOf(roomId) {
  return {
    TableName: "trinity-votes",
    KeyConditionExpression: "roomId = :roomId",
    ExpressionAttributeValues: { ":roomId": roomId },
  };
}
