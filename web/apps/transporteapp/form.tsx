import { Combobox, Select, TextField, ask } from "#ui";
import { api } from "#clients/transporteapp";
import { t } from "./words.ts";

export type Catalog = "regimen_fiscal" | "uso_cfdi" | "tipo_permiso" | "config_autotransporte" | "sub_tipo_rem" | "figura_transporte" | "clave_unidad" | "motivo_cancelacion" | "estado";

/** A form field by its API name; "domicilioFiscal.estado" is a nested member. */
export interface Line {
  name: string;
  label: Parameters<typeof t>[0];
  hint?: Parameters<typeof t>[0];
  type?: "date" | "number" | "datetime-local" | "email";
  max?: number;
  upper?: boolean;
  optional?: boolean;
  /** Keys of the tax office. */
  catalog?: Catalog;
  choices?: readonly { value: string; label: string }[];
}

/** A form's values: texts by field name. */
export type Texts = Readonly<Record<string, string>>;

/** The fields of a form. wrong has error messages by field name. */
export function Lines({ lines, values, onInput, wrong }: { lines: readonly Line[]; values: Texts; onInput: (values: Texts) => void; wrong: (name: string) => string | undefined }) {
  return (
    <div class="pairs">
      {lines.map((l) => {
        const common = {
          label: t(l.label), name: l.name, value: values[l.name] ?? "", error: wrong(l.name), ...(l.hint ? { hint: t(l.hint) } : {}), ...(l.optional ? { optional: true } : {}),
          onInput: (text: string) => onInput({ ...values, [l.name]: l.upper ? text.toUpperCase() : text }),
        };
        if (l.catalog) {
          const catalog = l.catalog;
          return <Combobox key={l.name} {...common} search={(text, signal) => search(catalog, text, signal)} />;
        }
        if (l.choices) {
          return <Select key={l.name} {...common} {...(l.optional ? { empty: "–" } : {})} choices={l.choices} />;
        }
        return (
          <TextField key={l.name} {...common} type={l.type ?? "text"} {...(l.max ? { maxLength: l.max } : {})} autocomplete="off"
            {...(l.type === "number" ? { step: "any", inputMode: "decimal" as const } : {})} {...(l.type === "datetime-local" && /:[0-5][1-9]$|:[1-5]0$/.test((values[l.name] ?? "").slice(16)) ? { step: 1 } : {})} />
        );
      })}
    </div>
  );
}

/** Tax office keys with a prefix, or whose meaning contains the words. */
export async function search(catalog: Catalog, text: string, signal: AbortSignal): Promise<{ value: string; label: string }[]> {
  const found = await ask(api.GET("/catalogos/{nombre}", { params: { path: { nombre: catalog }, query: { q: text, limit: 50 } }, signal }));
  return found.items.map((c) => ({ value: c.clave, label: c.descripcion }));
}

/** Converts an API object to texts. */
export function texts(from: object | undefined, before = ""): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(from ?? {})) {
    if (value === undefined || value === null || Array.isArray(value)) continue;
    if (typeof value === "object") Object.assign(out, texts(value as object, `${before}${name}.`));
    else out[before + name] = String(value);
  }
  return out;
}

/** Converts texts to an API object; empty ones are left out, and number fields become numbers. */
export function made<T>(values: Texts, lines: readonly Line[]): T {
  const numbers = new Set(lines.filter((l) => l.type === "number").map((l) => l.name));
  const out: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(values)) {
    const said = text.trim();
    if (said === "") continue;
    const steps = name.split(".");
    let at = out;
    for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
    at[steps.at(-1) ?? ""] = numbers.has(name) ? Number(said) : said;
  }
  return out as T;
}
