// A form for the arguments of a pattern, built from their schema. It produces JSON as text, so numbers keep their digits.
import { Plus, X } from "lucide";
import { Button, Checkbox, Select, TextArea, TextField } from "#ui";
import type { Schema } from "./design.ts";
import { t } from "./words.ts";

/** The typed values: texts by argument; lines are nested ones. */
export interface Typed { [name: string]: string | Typed[] }

export class Unfit extends Error {
  readonly field: string;

  constructor(field: string) {
    super(field);
    this.field = field;
  }
}

const pages = ["limit", "after", "_limit", "_after"];

function kindOf(s: Schema): "enum" | "boolean" | "integer" | "lines" | "json" | "text" {
  if (s.enum) return "enum";
  if (s.type === "boolean") return "boolean";
  if (s.type === "integer") return "integer";
  if (s.type === "array" && s.items?.type === "object" && s.items.properties) return "lines";
  return s.type === "array" || s.type === "object" ? "json" : "text";
}

/** The arguments as JSON. Throws Unfit with the place of an invalid one. */
export function argumentsOf(schema: Schema, typed: Typed, at = ""): string {
  const members: string[] = [];
  for (const [name, s] of Object.entries(schema.properties ?? {})) {
    const kind = kindOf(s);
    const value = typed[name];
    const place = at + name;
    if (kind === "lines") {
      const lines = Array.isArray(value) ? value : [];
      if (lines.length > 0 || schema.required?.includes(name)) members.push(`${JSON.stringify(name)}:[${lines.map((l, n) => argumentsOf(s.items ?? {}, l, `${place}.${n}.`)).join()}]`);
      continue;
    }
    const text = typeof value === "string" ? value : "";
    if (text === "" && kind !== "text") {
      if (schema.required?.includes(name)) throw new Unfit(place);
      continue;
    }
    if (text === "" && !schema.required?.includes(name)) continue;
    if (text === "" && s.format !== undefined) throw new Unfit(place);
    if (kind === "integer") {
      if (!/^-?(0|[1-9]\d*)$/.test(text.trim())) throw new Unfit(place);
      members.push(`${JSON.stringify(name)}:${text.trim()}`);
    } else if (kind === "boolean") {
      members.push(`${JSON.stringify(name)}:${text}`);
    } else if (kind === "json") {
      try {
        JSON.parse(text);
      } catch {
        throw new Unfit(place);
      }
      members.push(`${JSON.stringify(name)}:${text}`);
    } else {
      members.push(`${JSON.stringify(name)}:${JSON.stringify(text)}`);
    }
  }
  return `{${members.join()}}`;
}

/** The arguments of an address as typed values. */
export function typedOf(schema: Schema, given: unknown): Typed {
  const out: Typed = {};
  for (const [name, s] of Object.entries(schema.properties ?? {})) {
    const value = typeof given === "object" && given !== null ? (given as Record<string, unknown>)[name] : undefined;
    if (kindOf(s) === "lines") out[name] = Array.isArray(value) ? value.map((v) => typedOf(s.items ?? {}, v)) : schema.required?.includes(name) ? [{}] : [];
    else if (value !== undefined && value !== null) out[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return out;
}

interface FieldsProps { schema: Schema; typed: Typed; fault: string | undefined; at?: string; onChange: (typed: Typed) => void }

export function ArgumentFields({ schema, typed, fault, at = "", onChange }: FieldsProps) {
  const set = (name: string, value: string | Typed[]) => onChange({ ...typed, [name]: value });
  const all = Object.entries(schema.properties ?? {}).filter(([name]) => !/^_*after$/.test(name));
  const order = (name: string) => { // required arguments in the order of the design, the page size last
    const n = schema.required?.indexOf(name) ?? -1;
    return n >= 0 ? n : pages.includes(name) ? 1001 : 1000;
  };
  return (
    <>
      {all.sort(([a, x], [b, y]) => Number(kindOf(x) === "lines") - Number(kindOf(y) === "lines") || order(a) - order(b)).map(([name, s]) => {
        const kind = kindOf(s);
        const value = typed[name];
        const optional = !schema.required?.includes(name);
        const error = fault === at + name ? t(value ? `argument.fault.${kind === "integer" ? "integer" : "json"}` : "fault.required") : undefined;
        const text = typeof value === "string" ? value : "";
        const common = { label: name, name: at + name, optional, error, ...(s.description && !/^(UTC with|for \w)/.test(s.description) ? { hint: s.description } : {}) };
        switch (kind) {
          case "lines": {
            const lines = Array.isArray(value) ? value : [];
            return (
              <fieldset key={name} class="lines">
                <legend class="field-label">{name}</legend>
                {lines.map((line, n) => (
                  <div key={n} class="line-form">
                    <ArgumentFields schema={s.items ?? {}} typed={line} fault={fault} at={`${at}${name}.${n}.`} onChange={(changed) => set(name, lines.map((l, i) => (i === n ? changed : l)))} />
                    <Button kind="quiet" size="small" icon={X} label={t("argument.removeLine", { n: n + 1 })} onPress={() => set(name, lines.filter((_, i) => i !== n))} />
                  </div>
                ))}
                <div><Button size="small" icon={Plus} onPress={() => set(name, [...lines, {}])}>{t("argument.addLine")}</Button></div>
              </fieldset>
            );
          }
          case "enum": return <Select key={name} {...common} value={text} empty={optional ? t("argument.any") : t("argument.choose")} onInput={(v) => set(name, v)} choices={(s.enum ?? []).map((v) => ({ value: v, label: v }))} />;
          case "boolean": return <Checkbox key={name} label={name} checked={text === "true"} onInput={(on) => set(name, String(on))} />;
          case "json": return <div key={name} class="mono"><TextArea {...common} rows={3} value={text} onInput={(v) => set(name, v)} placeholder={s.type === "array" ? "[ ]" : "{ }"} /></div>;
          default: return <TextField key={name} {...common} value={text} onInput={(v) => set(name, v)} autocomplete="off" {...(kind === "integer" ? { inputMode: "numeric" as const } : {})}
            {...(s.format === "date-time" ? { placeholder: "2026-01-31T09:30:00.000Z" } : s.format === "date" ? { placeholder: "2026-01-31" } : {})} />;
        }
      })}
    </>
  );
}
