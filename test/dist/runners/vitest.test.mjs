// As packaging/npm/README.md shows for Vitest.
import {CreateTableCommand, DynamoDBClient, ListTablesCommand} from '@aws-sdk/client-dynamodb';
import {useDatabase} from 'monotable/testing';
import {afterAll, beforeAll, expect, test} from 'vitest';

const database = useDatabase({beforeAll, afterAll, design: 'shop.design.yaml'});

test('the tables of the design', async () => {
  const client = new DynamoDBClient(database.clientConfig);
  await client.send(
    new CreateTableCommand({
      TableName: 'Orders',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{AttributeName: 'id', KeyType: 'HASH'}],
      AttributeDefinitions: [{AttributeName: 'id', AttributeType: 'S'}],
    }),
  );
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['Orders', 'Shop']);
});
