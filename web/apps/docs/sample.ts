// Example values of types: from their own examples, and from those of requests, whose fields recur in responses.
import { type API, type Schema, json, nameOf, resolved, typeOf } from "./document.ts";

const deepest = 6;
const moment = "2026-03-02T18:20:00.000Z";
const formats: Record<string, unknown> = {
  "date-time": moment, date: moment.slice(0, 10), email: "ana@example.com", uri: "https://example.com/", "uri-reference": "https://example.com/",
  uuid: "0b8f5c3e-2f5d-4c1a-9a57-6a1f3f0f7c11", binary: "",
};
const id = "01JDQ3M8Z4T6X2V7K9R5B1N0YC";

type Values = Record<string, unknown>;

/** All objects in the example requests, including nested ones. */
const objectsOf = new WeakMap<API, Values[]>();

function known(api: API): Values[] {
  let list = objectsOf.get(api);
  if (!list) {
    const all: Values[] = [];
    const collect = (value: unknown): void => {
      if (Array.isArray(value)) value.forEach(collect);
      else if (typeof value === "object" && value !== null) {
        all.push(value as Values);
        Object.values(value).forEach(collect);
      }
    };
    for (const e of api.entries) {
      for (const example of Object.values(json(e.operation.requestBody?.content)?.examples ?? {})) collect(example.value);
    }
    list = all;
    objectsOf.set(api, list);
  }
  return list;
}

/** All examples; those that share the most fields with a type come first. */
function examplesByLikeness(api: API, schema: Schema): Values[] {
  const names = Object.keys(schema.properties ?? {});
  const alike = (v: Values) => names.filter((n) => n in v).length;
  return [...known(api)].sort((a, b) => alike(b) - alike(a));
}

function fits(value: unknown, schema: Schema): boolean {
  if (schema.enum) return schema.enum.includes(value);
  switch (typeOf(schema)) {
    case "integer": return Number.isInteger(value);
    case "number": return typeof value === "number";
    case "array": return Array.isArray(value);
    case "object": return false;
    default: return typeof value === typeOf(schema);
  }
}

/** An example value of a type. */
export function sample(api: API, given: Schema | undefined, name = "", depth = 0): unknown {
  const schema = resolved(api, given);
  const declared = schema.examples?.[0] ?? given?.examples?.[0];
  if (declared !== undefined) return declared;
  switch (typeOf(schema)) {
    case "object": return depth > deepest ? {} : objectOf(api, schema, depth);
    case "array": return depth > deepest ? [] : [sample(api, schema.items, name, depth + 1)];
    case "integer": case "number": return schema.default ?? Math.min(Math.max(1, schema.minimum ?? 1, (schema.exclusiveMinimum ?? 0) + 1), schema.maximum ?? 1);
    case "boolean": return schema.default ?? true;
    case "string": return textOf(schema, name);
    default: return null;
  }
}

function objectOf(api: API, schema: Schema, depth: number): Values {
  const value: Values = {};
  if (typeof schema.additionalProperties === "object") {
    value["…"] = sample(api, schema.additionalProperties, "", depth + 1);
  }
  const examples = examplesByLikeness(api, schema);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = resolved(api, property);
    const said = nameOf(property) === undefined ? examples.find((e) => name in e && fits(e[name], type)) : undefined;
    const own = property.examples ?? type.examples ?? type.enum;
    value[name] = own === undefined && said ? said[name] : sample(api, property, name, depth + 1);
  }
  return value;
}

function textOf(schema: Schema, name: string): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.format !== undefined && schema.format in formats) return formats[schema.format];
  if (/(^id|Id|ID)$/.test(name) || /\bid\b/i.test(schema.description ?? "")) return id;
  if (/At$/.test(name)) return moment;
  if (/url$/i.test(name)) return formats["uri"];
  return name === "next" ? "eyJ2IjoxfQ" : "…";
}
