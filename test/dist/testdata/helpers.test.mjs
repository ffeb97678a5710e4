// What docs/test-helpers.md says of the package monotable, in node:test.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import net from 'node:net';
import {createInterface} from 'node:readline';
import {after, before, test} from 'node:test';
import monotable from 'monotable';
import {testDatabase, useDatabase} from 'monotable/testing';

const orders = {
  TableName: 'Orders',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{AttributeName: 'id', KeyType: 'HASH'}],
  AttributeDefinitions: [{AttributeName: 'id', AttributeType: 'S'}],
};

async function call(endpoint, operation, input) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `DynamoDB_20120810.${operation}`},
    body: JSON.stringify(input),
  });
  assert.equal(response.status, 200);
  return response.json();
}

const database = useDatabase({beforeAll: before, afterAll: after, tables: [orders]});

test('the tables of the list are there, and no others', async () => {
  assert.deepEqual((await call(database.endpoint, 'ListTables', {})).TableNames, ['Orders']);
  await call(database.endpoint, 'PutItem', {TableName: 'Orders', Item: {id: {S: '1'}}});
  assert.equal((await call(database.endpoint, 'GetItem', {TableName: 'Orders', Key: {id: {S: '1'}}})).Item.id.S, '1');
  assert.equal(database.clientConfig.endpoint, database.endpoint);
  assert.ok(Object.isExtensible(database.clientConfig.credentials)); // the AWS SDK writes to it
});

test('a design file gives the tables', async () => {
  const server = await testDatabase({design: 'shop.design.yaml'});
  assert.deepEqual((await call(server.endpoint, 'ListTables', {})).TableNames, ['Shop']);
  await server.stop();
});

test('a table that is refused is an error that names it', async () => {
  await assert.rejects(testDatabase({tables: [{...orders, TableName: 'x'}]}), /CreateTable x: 400/);
});

test('start wants one place for the data', async () => {
  await assert.rejects(monotable.start({}), /pass either memory/);
  await assert.rejects(monotable.start({memory: true, args: ['--no-such-flag']}), /exited \(1\) before it started listening[^]*no-such-flag/);
});

test('a server ends when the process that started it is killed', async () => {
  const parent = spawn(process.execPath, ['orphan.cjs'], {stdio: ['ignore', 'pipe', 'inherit']});
  const [endpoint] = await once(createInterface(parent.stdout), 'line');
  parent.kill('SIGKILL');
  const {port} = new URL(endpoint);
  for (;;) { // the test's own limit of time ends it
    const open = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (!open) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
