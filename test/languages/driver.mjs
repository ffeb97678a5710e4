// Runs generated TypeScript for the Go tests: it reads calls as lines of JSON, and answers each with a line. A call goes through the
// generated class, with inputs as a program would give them; what is returned is written as stored values again.
//
//   node driver.mjs DIRECTORY      the directory has the compiled code

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

const at = (file) => import(pathToFileURL(resolve(process.argv[2], file)).href);
const { DB, personKept } = await at("index.js");
const { document } = await at("descriptors.js");
const { Runtime } = await at("runtime/index.js");
const { link } = await at("runtime/link.js");
const { decode, decodeAll, encode, encodeAll } = await at("runtime/codec.js");
const program = link(document);

const worlds = new Map(); // the databases that are open
let db, client, settings; // of the world that a call is for
let ids = 0;

// The ids of a call are numbered, as those of the Go code are in these tests.
function newID(kind) {
  const n = String(ids++);
  switch (kind) {
    case "uuid":
      return `00000000-0000-4000-8000-${n.padStart(12, "0")}`;
    case "ksuid":
      return n.padStart(27, "0");
    default:
      return n.padStart(26, "0");
  }
}

const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

// The method of a pattern; one that takes nothing has no input.
function method(pattern, suffix = "") {
  const want = plain(pattern) + suffix.toLowerCase();
  const name = Object.getOwnPropertyNames(DB.prototype).find((m) => plain(m) === want);
  if (!name) {
    throw new Error(`the class has no method for ${pattern}${suffix}`);
  }
  const r = program.reads.get(pattern);
  const c = program.collections.get(pattern);
  const w = program.writes.get(pattern);
  const takes = (r ?? c ?? w).params.length > 0 || r?.range || w?.lines;
  return (input, ...more) => (takes ? db[name](input, ...more) : db[name](...more));
}

// Values of JSON as the SDK has them, and the other way round: bytes are base64.
function revived(v) {
  if (v === null || v === undefined) return undefined;
  if (v.B !== undefined) return { B: new Uint8Array(Buffer.from(v.B, "base64")) };
  if (v.BS !== undefined) return { BS: v.BS.map((b) => new Uint8Array(Buffer.from(b, "base64"))) };
  if (v.L !== undefined) return { L: v.L.map(revived) };
  if (v.M !== undefined) return { M: revivedAll(v.M) };
  return v;
}

// Without a prototype, as the runtime has them: a field can be called toString.
const revivedAll = (m) => Object.assign(Object.create(null), Object.fromEntries(Object.entries(m ?? {}).map(([k, v]) => [k, revived(v)])));

function shown(v) {
  if (v.B !== undefined) return { B: Buffer.from(v.B).toString("base64") };
  if (v.BS !== undefined) return { BS: v.BS.map((b) => Buffer.from(b).toString("base64")) };
  if (v.L !== undefined) return { L: v.L.map(shown) };
  if (v.M !== undefined) return { M: shownAll(v.M) };
  return v;
}

const shownAll = (m) => Object.fromEntries(Object.entries(m).map(([k, v]) => [k, shown(v)]));

// What a program gives for stored values.
function given(params, values, prefix) {
  const v = revivedAll(values);
  return Object.fromEntries(params.filter((p) => v[p.name] !== undefined).map((p) => [
    p.name === prefix ? `${p.name}Prefix` : p.name, v[p.name].NULL && p.removable ? null : decode(p.type, p.name, v[p.name]),
  ]));
}

function readInput(r, input) {
  const out = given(r.params, input.values, r.prefix);
  const f = r.range && r.entity.field(r.range);
  if (f && input.from) out[`${f.name}From`] = decode(f.type, f.name, revived(input.from));
  if (f && input.to) out[`${f.name}To`] = decode(f.type, f.name, revived(input.to));
  return out;
}

function writeInput(w, input) {
  const lines = (input.lines ?? []).map((line) => given(w.lineParams, line));
  return { ...given(w.params, input.values), ...(w.lines ? { lines } : {}) };
}

// What a write returns, as stored values.
function outcome(w, result) {
  const items = {};
  for (const t of w.returned ?? []) {
    const list = t.each ? result[t.name] ?? [] : [result[t.name]];
    items[t.step] = list.map((x) => encoded(w.steps[t.step].entity, x));
  }
  return { items, replayed: result.replayed ?? false, record: result.replayed ? encoded(w.idempotent.record, result.record) : null };
}

const encoded = (e, x) => (x === undefined ? null : shownAll(encodeAll(e.fields, x)));

// The runtime with another limit, which no generated method has.
function limited(pattern, limit) {
  const reads = { ...document.reads, [pattern]: { ...document.reads[pattern], limit } };
  return new Runtime({ ...document, reads }, client, settings);
}

const operations = {
  open({ world, endpoint, tables, now, cursorKey, concurrent }) {
    client = new DynamoDBClient({
      endpoint, region: "us-east-1", credentials: { accessKeyId: "test", secretAccessKey: "test" }, maxAttempts: 1,
    });
    settings = { tables, cursorKey: Buffer.from(cursorKey, "base64"), clock: () => new Date(now), newID, sequential: !concurrent };
    db = new DB(client, settings);
    worlds.set(world, { db, client, settings });
  },
  close({ world }) {
    client.destroy();
    worlds.delete(world);
  },
  async load({ records }) {
    const list = records.map((r) => ({ entity: r.entity, value: decodeAll(r.entity, program.entities.get(r.entity).fields, revivedAll(r.values)) }));
    await db.load(list);
  },
  async get({ pattern, input }) {
    const r = program.reads.get(pattern);
    return encoded(r.entity, await method(pattern)(readInput(r, input)));
  },
  async batch({ pattern, inputs }) {
    const r = program.reads.get(pattern);
    return (await method(pattern, r.each ? "" : "Batch")(inputs.map((input) => readInput(r, input)))).map((x) => encoded(r.entity, x));
  },
  async count({ pattern, input }) {
    return await method(pattern)(readInput(program.reads.get(pattern), input));
  },
  async page({ pattern, input, limit, size, after }) {
    const r = program.reads.get(pattern);
    const options = { limit: size, after };
    const in_ = readInput(r, input);
    const page = (r.limit ?? 0) === limit && !r.limit
      ? await method(pattern)(in_, options)
      : await limited(pattern, limit).page(pattern, in_, options);
    return { items: page.items.map((x) => encoded(r.entity, x)), next: page.next };
  },
  async all({ pattern, input, limit }) {
    const r = program.reads.get(pattern);
    const in_ = readInput(r, input);
    const out = [];
    if ((r.limit ?? 0) !== limit) {
      out.push(...(await limited(pattern, limit).list(pattern, in_)));
    } else if (r.limit) {
      out.push(...(await method(pattern)(in_)));
    } else {
      for await (const x of method(pattern, "All")(in_)) out.push(x);
    }
    return out.map((x) => encoded(r.entity, x));
  },
  async collect({ pattern, input, size, after }) {
    const c = program.collections.get(pattern);
    const in_ = given(c.params, input.values);
    const call = method(pattern);
    const found = await (c.page ? call(in_, { limit: size, after }) : call(in_));
    const members = c.results.map((name, i) => {
      const list = i === c.root ? [found[name]].filter((x) => x !== undefined) : found[name];
      return list.map((x) => encoded(c.members[i].entity, x));
    });
    return { members, next: found.next ?? "" };
  },
  // Makes writes at once, and answers with the codes of their errors; "" for none.
  async atOnce({ pattern, inputs }) {
    const w = program.writes.get(pattern);
    const calls = inputs.map((input) => method(pattern)(writeInput(w, input)));
    return (await Promise.allSettled(calls)).map((r) => (r.status === "fulfilled" ? "" : r.reason.code ?? r.reason.message));
  },
  async write({ pattern, input, firstID }) {
    ids = firstID;
    const w = program.writes.get(pattern);
    return outcome(w, (await method(pattern)(writeInput(w, input))) ?? {});
  },
  async export({ id, after }) {
    const out = [];
    for await (const x of db.exportPerson(id, after)) {
      out.push({ entity: x.entity, values: encoded(program.entities.get(x.entity), x.value), json: x.json(), resume: x.resume });
    }
    return out;
  },
  async erase({ id, firstID }) {
    ids = firstID;
    return { erased: await db.erasePerson(id), kept: personKept };
  },
  async tx({ writes, firstID }) {
    ids = firstID;
    const all = writes.map(({ pattern }) => program.writes.get(pattern));
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(db.op));
    const done = await db.tx(writes.map(({ pattern, input }, i) => db.op[names.find((m) => plain(m) === plain(pattern))](writeInput(all[i], input))));
    return done.results.map((x, i) => ({ ...outcome(all[i], x ?? {}), replayed: done.replayed }));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  let answer;
  ({ db, client, settings } = worlds.get(call.world) ?? {});
  try {
    answer = { result: (await operations[call.op](call)) ?? null };
  } catch (err) {
    answer = { error: { name: err.name, message: err.message, codes: err.codes ?? [], lines: err.lines, txWrite: err.txWrite, stack: err.stack } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
worlds.forEach((world) => world.client.destroy());
