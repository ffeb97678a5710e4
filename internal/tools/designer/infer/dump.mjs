// Loads a module with models of ElectroDB, OneTable or dynamodb-toolbox and writes them as JSON, functions as true, behind a mark.
// Everything else that the module prints goes to standard error.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [kind, file] = process.argv.slice(2);
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

const plain = (key, value) => {
  if (typeof value === 'function') return ['String', 'Number', 'Boolean', 'Date', 'Object', 'Array', 'Set', 'Buffer', 'ArrayBuffer'].includes(value.name) ? value.name : true;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Set) return [...value];
  return value;
};

// values are what the module exports, and what is in lists and plain objects that it exports.
function* values(exported, met = new Set()) {
  for (const value of Object.values(exported)) {
    if (value === null || typeof value !== 'object' || met.has(value)) continue;
    met.add(value);
    yield value;
    if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || value[Symbol.toStringTag] === 'Module') yield* values(value, met);
  }
}

function electrodb(found) {
  const out = new Map();
  const add = (entity) => {
    if (entity?.schema?.model?.entity && entity.schema.indexes) out.set(entity.model?.schema ?? entity, { ...entity.schema, Table: entity.config?.table });
  };
  // A service joins entities under its own name, so that its are the ones that count.
  const joined = new Set();
  for (const value of found) {
    if (value.entities && value.service && value.collections) {
      for (const entity of Object.values(value.entities)) {
        add({ ...entity, schema: { ...entity.schema, model: { ...entity.schema.model, service: value.service.name ?? value.service } }, config: { table: entity.config?.table ?? value.config?.table } });
        joined.add(entity.schema.model.entity);
      }
    }
  }
  for (const value of found) if (!value.entities && !joined.has(value.schema?.model?.entity)) add(value);
  return [...out.values()];
}

function onetable(found) {
  for (const value of found) {
    if (value.schema?.definition && value.name) {
      const params = { typeField: value.typeField, createdField: value.createdField, updatedField: value.updatedField, isoDates: value.isoDates, timestamps: value.timestamps };
      return { ...value.schema.definition, Table: value.name, params };
    }
  }
  return found.find((value) => value.indexes?.primary && value.models);
}

// sample makes a value of a schema of dynamodb-toolbox: each text and number is of its own, so that it is found again in a key. The last
// item's numbers have one digit, which shows the zeros that a key puts before short ones.
function sample(schema, state) {
  const at = state.n++;
  if (schema.enum?.length) return schema.enum[state.variant % schema.enum.length];
  switch (schema.type) {
    case 'string': return `Q${String.fromCharCode(97 + state.variant)}${(at + 37) * 7}Zq${'x'.repeat(state.variant)}`;
    case 'number': return state.variant === 3 ? 1 + (at % 9) : (100003 + at * 7919) * (state.variant + 1);
    case 'boolean': return state.variant % 2 === 0;
    case 'binary': return new Uint8Array([1, 2, 3, state.variant]);
    case 'set': return new Set([sample(schema.elements, state)]);
    case 'list': return [sample(schema.elements, state)];
    case 'map': return Object.fromEntries(Object.entries(schema.attributes).map(([name, inner]) => [name, sample(inner, state)]));
    case 'tuple': return schema.elements.map((inner) => sample(inner, state));
    case 'anyOf': return sample(schema.elements[0], state);
    default: return undefined;
  }
}

// toolbox has no texts of keys, only functions that make them: so its entities say what they would write of made-up items.
function toolbox(found, require) {
  const library = require('dynamodb-toolbox');
  const out = [];
  for (const entity of found) {
    if (!entity.entityName || !entity.build) continue;
    const model = JSON.parse(JSON.stringify(entity.build(library.EntityDTO)));
    model.items = [];
    model.computed = typeof entity.computeKey === 'function';
    const { partitionKey, sortKey, indexes } = entity.table;
    const keys = [partitionKey, sortKey, ...Object.values(indexes ?? {}).flatMap((x) => [x.partitionKey, x.sortKey, ...(x.partitionKeys ?? []), ...(x.sortKeys ?? [])])].map((key) => key?.name);
    const own = entity.attributes?.attributes ?? entity.attributes ?? entity.schema.attributes;
    try {
      for (let variant = 0; variant < 4; variant++) {
        const state = { n: 0, variant };
        const input = {};
        for (const [name, schema] of Object.entries(model.schema.attributes)) {
          const props = own[name]?.props;
          if (!own[name] || [props?.putLink, props?.keyLink].some((made) => typeof made === 'function')) continue; // the entity makes it
          if (schema.putDefault && !schema.enum && keys.includes(schema.savedAs ?? name)) continue; // always the same
          const value = sample(schema, state);
          if (value !== undefined) input[name] = value;
        }
        model.items.push(entity.build(library.PutItemCommand).item(input).params().Item);
      }
    } catch (error) {
      model.fault = String(error.message ?? error);
    }
    out.push(model);
  }
  return out;
}

try {
  const module = await import(pathToFileURL(file).href);
  const found = [...values({ module })];
  const model = await { electrodb, onetable, toolbox }[kind](found, createRequire(file));
  if (!model || Array.isArray(model) && model.length === 0) throw new Error(`it exports no model of ${kind}`);
  write('\x1e' + JSON.stringify(model, plain) + '\n', () => process.exit(0)); // a module may keep connections open
} catch (error) {
  const hint = error.code === 'ERR_UNKNOWN_FILE_EXTENSION' ? ' (TypeScript needs Node.js 22.18 or newer, or the module compiled to JavaScript)' : '';
  write('\x1e!' + String(error.message ?? error).split('\n')[0] + hint + '\n', () => process.exit(0));
}
