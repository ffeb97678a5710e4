// A workshop for bicycles: who comes, what is repaired, which parts it takes.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Entity, Service } from 'electrodb';

const service = 'Bike Shop';

const Rider = new Entity({
  model: { entity: 'Rider', version: '1', service },
  attributes: {
    riderId: { type: 'string', required: true },
    email: { type: 'string', required: true, label: 'mail' },
    name: { type: 'string', field: 'n' },
    vip: { type: 'boolean', default: false },
    address: { type: 'map', properties: { street: { type: 'string', required: true }, zip: { type: 'number', field: 'z' } } },
    tags: { type: 'set', items: 'string' },
  },
  indexes: {
    byId: { collection: 'visit', pk: { field: 'pk', composite: ['riderId'] }, sk: { field: 'sk', composite: [] } },
    byMail: { index: 'gsi1', pk: { field: 'gsi1pk', composite: ['email'] }, sk: { field: 'gsi1sk', composite: [] } },
  },
});

const Repair = new Entity({
  model: { entity: 'Repair', version: '2', service },
  attributes: {
    riderId: { type: 'string', required: true },
    repairId: { type: 'string', required: true },
    state: { type: ['waiting', 'Underway', 'done'], required: true },
    priority: { type: 'number', required: true, padding: { length: 4, char: '0' } },
    bay: { type: 'string' },
    since: { type: 'string', default: () => new Date(1700000000000).toISOString() },
    hours: { type: 'list', items: { type: 'number' } },
    extra: { type: 'any' },
  },
  indexes: {
    ofRider: { collection: ['visit', 'history'], pk: { field: 'pk', composite: ['riderId'] }, sk: { field: 'sk', composite: ['repairId'] } },
    byState: { index: 'gsi1', pk: { field: 'gsi1pk', composite: ['state'] }, sk: { field: 'gsi1sk', composite: ['priority', 'since'] } },
    byBay: { index: 'gsi2', type: 'clustered', collection: 'floor', scope: 'hall', pk: { field: 'gsi2pk', composite: ['bay'] }, sk: { field: 'gsi2sk', composite: ['since'], casing: 'none' } },
    rank: { index: 'gsi3', pk: { field: 'gsi3pk', template: 'RANK-${state}', casing: 'none' }, sk: { field: 'gsi3sk', template: '${priority}' } },
  },
});

const Tool = new Entity({
  model: { entity: 'Tool', version: '1', service },
  attributes: {
    toolId: { type: 'string', required: true },
    bay: { type: 'string', required: true },
    since: { type: 'string', required: true },
  },
  indexes: {
    byId: { pk: { field: 'pk', composite: ['toolId'] }, sk: { field: 'sk', composite: [] } },
    byBay: { index: 'gsi2', type: 'clustered', collection: 'floor', scope: 'hall', pk: { field: 'gsi2pk', composite: ['bay'] }, sk: { field: 'gsi2sk', composite: ['since'], casing: 'none' } },
  },
});

export const shop = new Service({ Rider, Repair, Tool }, { table: 'bikes' });

export async function seed(endpoint) {
  shop.setClient(new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }));
  const { Rider, Repair, Tool } = shop.entities;
  await Rider.put({ riderId: 'R-One', email: 'Ann@Example.com', name: 'Ann', address: { street: 'High', zip: 12 }, tags: ['x', 'y'] }).go();
  await Rider.put({ riderId: 'r.2', email: 'bo@example.com', vip: true }).go();
  for (const [n, state] of ['waiting', 'Underway', 'done'].entries()) {
    await Repair.put({ riderId: 'R-One', repairId: `Fix-${n}`, state, priority: n * 13, bay: 'B', hours: [1, 2.5], extra: { any: n } }).go();
  }
  await Repair.update({ riderId: 'R-One', repairId: 'Fix-0' }).set({ state: 'done', priority: 7 }).composite({ since: new Date(1700000000000).toISOString() }).go();
  await Tool.put({ toolId: 'T-9', bay: 'B', since: '2024-05-06' }).go();
}
