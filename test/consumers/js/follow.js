// Follows a stream with the AWS SDK for JavaScript, parents before children, and prints what it does, one JSON
// object on a line: {"records": […]} for what it delivers, then {"checkpoint": {…}} once that is on disk.
//
//	node follow.js ENDPOINT STREAM-ARN CHECKPOINT-FILE
import fs from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";

const [endpoint, StreamArn, file] = process.argv.slice(2);
const client = new DynamoDBStreamsClient({
  endpoint, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" },
});

const checkpoints = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
const reading = new Set();

// print resolves when the line has left this process.
const print = (line) => new Promise((resolve) => process.stdout.write(JSON.stringify(line) + "\n", resolve));

async function save(shard, checkpoint) {
  checkpoints[shard] = checkpoint;
  const next = fs.openSync(file + ".next", "w");
  fs.writeSync(next, JSON.stringify(checkpoints));
  fs.fsyncSync(next);
  fs.closeSync(next);
  fs.renameSync(file + ".next", file);
  await print({ checkpoint: { shard, ...checkpoint } });
}

// What ends the program; everything else is waited out.
const final = new Set(["TrimmedDataAccessException", "ResourceNotFoundException", "ValidationException", "UnknownOperationException"]);

async function patiently(command) {
  for (;;) {
    try {
      return await client.send(command);
    } catch (error) {
      if (error.name === "ExpiredIteratorException") return undefined;
      if (final.has(error.name)) throw error;
      await rest(100);
    }
  }
}

async function list() {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription: page } = await patiently(new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }));
    shards.push(...page.Shards);
    ExclusiveStartShardId = page.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

async function iterator(ShardId) {
  const after = checkpoints[ShardId]?.sequence;
  const where = after ? { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: after } : { ShardIteratorType: "TRIM_HORIZON" };
  return (await patiently(new GetShardIteratorCommand({ StreamArn, ShardId, ...where }))).ShardIterator;
}

async function read(shard) {
  let ShardIterator = await iterator(shard);
  while (ShardIterator) {
    const page = await patiently(new GetRecordsCommand({ ShardIterator }));
    if (!page) {
      ShardIterator = await iterator(shard);
      continue;
    }
    if (page.Records.length > 0) {
      await print({ records: page.Records.map(({ dynamodb: d }) => ({
        shard, sequence: d.SequenceNumber, item: d.Keys.item.S, old: Number(d.OldImage?.version.N ?? 0), new: Number(d.NewImage.version.N),
      })) });
      await save(shard, { sequence: page.Records.at(-1).dynamodb.SequenceNumber });
    } else if (page.NextShardIterator) {
      await rest(100);
    }
    ShardIterator = page.NextShardIterator;
  }
  await save(shard, { ...checkpoints[shard], done: true });
}

for (;;) {
  const shards = await list();
  const listed = new Set(shards.map((s) => s.ShardId));
  for (const { ShardId: shard, ParentShardId: parent } of shards) {
    if (reading.has(shard) || checkpoints[shard]?.done) continue;
    if (parent && listed.has(parent) && !checkpoints[parent]?.done) continue;
    reading.add(shard);
    read(shard).catch((error) => {
      console.error(error);
      process.exit(1);
    });
  }
  await rest(200);
}
