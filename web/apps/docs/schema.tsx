// The fields of a type with their constraints; nested types expand in place.
import { Badge, format, link } from "#ui";
import { type API, type Parameter, type Schema, nameOf, resolved, shortType, typeOf } from "./document.ts";
import { t } from "./words.ts";

const deepest = 4;

/** The constraints of a value, in words. */
function bounds(schema: Schema): string[] {
  const said: string[] = [];
  const range = (least: number | undefined, most: number | undefined, what: "value" | "length" | "items") => {
    const n = (of: number) => format.number(of);
    if (least !== undefined && most !== undefined && least === most) said.push(t(`bounds.${what}.exactly`, { least: n(least) }));
    else if (least !== undefined && most !== undefined) said.push(t(`bounds.${what}.both`, { least: n(least), most: n(most) }));
    else if (least !== undefined) said.push(t(`bounds.${what}.least`, { least: n(least) }));
    else if (most !== undefined) said.push(t(`bounds.${what}.most`, { most: n(most) }));
  };
  range(schema.minimum ?? (schema.exclusiveMinimum === undefined ? undefined : schema.exclusiveMinimum + 1), schema.maximum, "value");
  range(schema.minLength || undefined, schema.maxLength, "length");
  range(schema.minItems, schema.maxItems, "items");
  if (schema.default !== undefined) said.push(t("bounds.default", { value: JSON.stringify(schema.default) }));
  return said;
}

function Limits({ schema }: { schema: Schema }) {
  const said = bounds(schema);
  const choices = schema.enum ?? (typeOf(schema) === "array" ? schema.items?.enum : undefined);
  return (
    <>
      {choices && <div class="row choices">{choices.map((v) => <code key={String(v)}>{String(v)}</code>)}</div>}
      {(said.length > 0 || schema.pattern) && (
        <p class="small muted">
          {said.join(" · ")}
          {schema.pattern && <>{said.length > 0 && " · "}{schema.patternDescription ? <span lang="en">{schema.patternDescription}</span> : <code>{schema.pattern}</code>}</>}
        </p>
      )}
    </>
  );
}

function Type({ api, schema }: { api: API; schema: Schema }) {
  const text = shortType(api, schema);
  const name = nameOf(schema) ?? nameOf(schema.items);
  return name === undefined ? <span class="type">{text}</span> : <a class="type" href={link("/types/:name", { name })}>{text}</a>;
}

/** The expandable type of a field: an object or a list of objects. */
function inside(api: API, schema: Schema): Schema | undefined {
  for (const of of [schema, schema.items, typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined]) {
    const found = of && resolved(api, of);
    if (found?.properties) return found;
  }
  return undefined;
}

export function Fields({ api, schema, depth = 0 }: { api: API; schema: Schema; depth?: number }) {
  const of = resolved(api, schema);
  const shown = typeOf(of) === "array" && of.items ? resolved(api, of.items) : of;
  const fields = Object.entries(shown.properties ?? {});
  if (fields.length === 0) {
    return <p><Type api={api} schema={schema} /></p>;
  }
  return (
    <ul class="fields">
      {fields.map(([name, property]) => {
        const within = depth < deepest ? inside(api, property) : undefined;
        const type = resolved(api, property);
        const about = property.description ?? type.description;
        return (
          <li key={name}>
            <div class="row field-line">
              <code class="field-name">{name}</code>
              <Type api={api} schema={property} />
              {!(shown.required ?? []).includes(name) && <span class="muted small">{t("optional")}</span>}
            </div>
            {about && <p lang="en">{about}</p>}
            <Limits schema={{ ...type, ...property }} />
            {within && (
              <details class="inner">
                <summary>{t("fieldsOf", { name: nameOf(property) ?? nameOf(property.items) ?? name })}</summary>
                <Fields api={api} schema={within} depth={depth + 1} />
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

export function Parameters({ api, parameters }: { api: API; parameters: readonly Parameter[] }) {
  return (
    <ul class="fields">
      {parameters.map((p) => (
        <li key={`${p.in}.${p.name}`}>
          <div class="row field-line">
            <code class="field-name">{p.name}</code>
            <Type api={api} schema={p.schema} />
            <Badge plain>{t(`in.${p.in}`)}</Badge>
            {!p.required && <span class="muted small">{t("optional")}</span>}
          </div>
          {p.description && <p lang="en">{p.description}</p>}
          <Limits schema={resolved(api, p.schema)} />
        </li>
      ))}
    </ul>
  );
}
