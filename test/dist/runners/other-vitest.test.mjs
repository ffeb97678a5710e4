// Another file, and so another database.
import {DynamoDBClient, ListTablesCommand} from '@aws-sdk/client-dynamodb';
import {useDatabase} from 'monotable/testing';
import {afterAll, beforeAll, expect, test} from 'vitest';

const database = useDatabase({beforeAll, afterAll});

test('no tables', async () => {
  expect((await new DynamoDBClient(database.clientConfig).send(new ListTablesCommand({}))).TableNames).toEqual([]);
});
