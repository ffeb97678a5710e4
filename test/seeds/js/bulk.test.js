import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { DescribeBulkOperationCommand, StartBulkPutItemsCommand } from "@aws-sdk/client-dynamodb";
import { open } from "./seeds.js";

suite("bulk operations", () => {
  test("items of a bucket are put under their conditions", async (t) => {
    const db = await open(t, "trinity");
    const bucket = join(process.env.S3_DIR, "rooms");
    mkdirSync(bucket, { recursive: true });
    writeFileSync(join(bucket, "1.json"), [
      { Item: { id: { S: "room-bulk" }, code: { S: "BULK" } } },
      { Item: { id: { S: "room-uuid-123" }, code: { S: "lost" } }, ConditionExpression: "attribute_not_exists(id)" },
    ].map((record) => JSON.stringify(record) + "\n").join(""));
    const { BulkOperationDescription: { BulkOperationArn } } = await db.send(new StartBulkPutItemsCommand({
      TableName: "trinity-rooms",
      InputS3Configuration: { S3Bucket: "rooms", InputFormat: "DYNAMODB_JSON" },
      OutputS3Configuration: { S3Bucket: "rooms", S3KeyPrefix: "reports", OutputType: ["ERROR"] },
    }));
    let operation;
    do {
      await setTimeout(10);
      operation = (await db.send(new DescribeBulkOperationCommand({ BulkOperationArn }))).BulkOperationDescription;
    } while (operation.BulkOperationStatus === "IN_PROGRESS");
    assert.equal(operation.BulkOperationStatus, "COMPLETED");
    assert.equal(operation.ProcessedItemCount, 2);
    assert.equal(operation.FailedItemCount, 0);
    const code = async (id) => (await db.get({ TableName: "trinity-rooms", Key: { id } })).Item.code;
    assert.equal(await code("room-bulk"), "BULK");
    assert.equal(await code("room-uuid-123"), "ABC123");
  });
});
