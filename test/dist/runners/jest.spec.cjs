// As packaging/npm/README.md shows for Jest, whose hooks are global.
const {DynamoDBClient, ListTablesCommand} = require('@aws-sdk/client-dynamodb');
const {useDatabase} = require('monotable/testing');

const database = useDatabase({design: 'shop.design.yaml'});

test('the tables of the design', async () => {
  const client = new DynamoDBClient(database.clientConfig);
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['Shop']);
  client.destroy();
});
