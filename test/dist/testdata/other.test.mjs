// Another test file has another database.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {useDatabase} from 'monotable/testing';

const database = useDatabase({beforeAll: before, afterAll: after});

test('it is empty', async () => {
  const response = await fetch(database.endpoint, {
    method: 'POST',
    headers: {'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.ListTables'},
    body: '{}',
  });
  assert.deepEqual((await response.json()).TableNames, []);
});
