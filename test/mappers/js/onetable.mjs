// A library: members, books and who has which.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Table } from 'dynamodb-onetable';
import Dynamo from 'dynamodb-onetable/Dynamo';

const schema = {
  format: 'onetable:1.1.0',
  version: '0.1.0',
  indexes: {
    primary: { hash: 'pk', sort: 'sk' },
    gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' },
    ls1: { sort: 'ranked', type: 'local', project: 'keys' },
  },
  models: {
    Member: {
      pk: { type: String, value: 'member#${id}' },
      sk: { type: String, value: 'member#' },
      id: { type: String, generate: 'ulid' },
      email: { type: String, required: true, unique: true },
      card: { type: String, required: true, enum: ['basic', 'Gold'] },
      joined: { type: Date, required: true },
      address: { type: Object, schema: { street: { type: String, required: true }, floor: { type: Number } } },
      topics: { type: Array, items: { type: String } },
      anything: { type: Object },
      gs1pk: { type: String, value: 'card#${card}' },
      gs1sk: { type: String, value: 'member#${joined}' },
    },
    Loan: {
      pk: { type: String, value: 'member#${memberId}' },
      sk: { type: String, value: 'loan#${isbn}#${copy:5:0}' },
      memberId: { type: String, required: true },
      isbn: { type: String, required: true },
      copy: { type: Number, required: true },
      note: { type: String, map: 'nt' },
      lost: { type: Boolean },
      prefix: { type: String, value: 'book#${isbn}', hidden: false },
      until: { type: Date, ttl: true },
      ranked: { type: Number },
      gs1pk: { type: String, value: '${prefix}' },
      gs1sk: { type: String, value: 'loan#${shelf}' },
      shelf: { type: String },
    },
  },
  params: { isoDates: true, timestamps: true },
};

export const table = new Table({ name: 'library', schema, partial: false });

export async function seed(endpoint) {
  table.setClient(new Dynamo({ client: new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }) }));
  const Member = table.getModel('Member');
  const Loan = table.getModel('Loan');
  const ann = await Member.create({ email: 'Ann@example.com', card: 'Gold', joined: new Date(1700000000123), address: { street: 'High', floor: 2 }, topics: ['go'], anything: { a: 1 } });
  await Member.create({ email: 'bo@example.com', card: 'basic', joined: new Date(1600000000000) });
  await Loan.create({ memberId: ann.id, isbn: '978-3', copy: 12, note: 'torn', lost: false, until: new Date(Date.now() + 86400000), ranked: 4, shelf: 'A' });
  await Loan.create({ memberId: ann.id, isbn: '978-4', copy: 1, shelf: 'B' });
  await Loan.update({ memberId: ann.id, isbn: '978-4', copy: 1, lost: true });
}
