// A railway: stations, and the trains that stop there.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Entity, PutItemCommand, Table, UpdateItemCommand, boolean, item, list, map, number, prefix, record, set, string } from 'dynamodb-toolbox';

const Railway = new Table({
  name: 'railway',
  partitionKey: { name: 'PK', type: 'string' },
  sortKey: { name: 'SK', type: 'string' },
  indexes: {
    byLine: { type: 'global', partitionKey: { name: 'line', type: 'string' }, sortKey: { name: 'at', type: 'number' } },
    byKind: { type: 'global', partitionKey: { name: 'g1pk', type: 'string' }, sortKey: { name: 'g1sk', type: 'string' } },
  },
});

export const Station = new Entity({
  name: 'Station',
  table: Railway,
  schema: item({
    code: string().key(),
    country: string().key().savedAs('ctry'),
    motto: string().transform(prefix('M')).optional(),
    kind: string().enum('hub', 'halt'),
    platforms: number(),
    roofed: boolean().optional(),
    address: map({ street: string(), floor: number().optional() }).optional(),
    lines: set(string()).optional(),
  }).and((own) => ({
    g1pk: string().default('STATIONS'),
    g1sk: string().link(({ kind, platforms }) => `${kind}#${String(platforms).padStart(9, '0')}`),
  })),
  computeKey: ({ code, country }) => ({ PK: `STATION#${country}#${code}`, SK: 'STATION' }),
});

export const Stop = new Entity({
  name: 'Stop',
  table: Railway,
  schema: item({
    station: string().key(),
    country: string().key().savedAs('ctry'),
    train: string().key(),
    line: string(),
    at: number(),
    delays: list(number()).optional(),
    notes: record(string(), string()).optional(),
  }),
  timestamps: { created: true, modified: { name: 'changed', savedAs: 'chg' } },
  computeKey: ({ station, country, train }) => ({ PK: `STATION#${country}#${station}`, SK: `TRAIN#${train.toLowerCase()}` }),
});

export async function seed(endpoint) {
  Railway.documentClient = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }));
  const put = (entity, given) => entity.build(PutItemCommand).item(given).send();
  await put(Station, { code: 'Zb', country: 'SK', kind: 'hub', platforms: 12, motto: 'On time', roofed: true, address: { street: 'Main' }, lines: new Set(['S1', 'S2']) });
  await put(Station, { code: 'Qq', country: 'CZ', kind: 'halt', platforms: 1 });
  await put(Stop, { station: 'Zb', country: 'SK', train: 'EC-7', line: 'S1', at: 815, delays: [1, 2], notes: { a: 'b' } });
  await put(Stop, { station: 'Zb', country: 'SK', train: 'ec-8', line: 'S1', at: 915 });
  await Stop.build(UpdateItemCommand).item({ station: 'Zb', country: 'SK', train: 'EC-7', at: 820 }).send();
}
