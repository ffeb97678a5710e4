// The form fields of key attributes and indexes, to define tables.
import { Select, TextField } from "#ui";
import type { Throughput } from "./api.ts";
import { t } from "./words.ts";

export interface KeyAttribute {
  name: string;
  type: "S" | "N" | "B";
}

export interface NewIndex {
  name: string;
  global: boolean;
  pk: KeyAttribute;
  sk: KeyAttribute;
  projection: "ALL" | "KEYS_ONLY" | "INCLUDE";
  include: string;
}

export const newIndex: NewIndex = { name: "", global: true, pk: { name: "", type: "S" }, sk: { name: "", type: "S" }, projection: "ALL", include: "" };

export function KeyField({ label, value, optional = false, onInput }: { label: string; value: KeyAttribute; optional?: boolean; onInput: (value: KeyAttribute) => void }) {
  return (
    <div class="key-field">
      <TextField label={label} optional={optional} value={value.name} onInput={(name) => onInput({ ...value, name })} maxLength={255} autocomplete="off" />
      <Select label={t("key.type", { key: label })} labelHidden value={value.type} onInput={(type) => onInput({ ...value, type })} choices={(["S", "N", "B"] as const).map((v) => ({ value: v, label: t(`type.${v}`) }))} />
    </div>
  );
}

/** The fields of an index; a local one has the partition key of its table. */
export function IndexFields({ value: i, local, onInput }: { value: NewIndex; local: boolean; onInput: (value: NewIndex) => void }) {
  return (
    <div class="stack" style={{ "--gap": "var(--space-3)" }}>
      <TextField label={t("index.name")} value={i.name} onInput={(name) => onInput({ ...i, name })} autocomplete="off" />
      {local && (
        <Select label={t("index.kind")} hint={t(i.global ? "index.globalHint" : "index.localHint")} value={i.global ? "GSI" : "LSI"} onInput={(kind) => onInput({ ...i, global: kind === "GSI" })}
          choices={[{ value: "GSI", label: t("index.global") }, { value: "LSI", label: t("index.local") }]} />
      )}
      {i.global && <KeyField label={t("key.pk")} value={i.pk} onInput={(pk) => onInput({ ...i, pk })} />}
      <KeyField label={t("key.sk")} optional={i.global} value={i.sk} onInput={(sk) => onInput({ ...i, sk })} />
      <Select label={t("index.projection")} value={i.projection} onInput={(projection) => onInput({ ...i, projection })} choices={(["ALL", "KEYS_ONLY", "INCLUDE"] as const).map((v) => ({ value: v, label: t(`projection.${v}`) }))} />
      {i.projection === "INCLUDE" && <TextField label={t("index.include")} hint={t("index.includeHint")} value={i.include} onInput={(include) => onInput({ ...i, include })} autocomplete="off" />}
    </div>
  );
}

const schemaOf = (pk: string, sk: string) => [{ AttributeName: pk, KeyType: "HASH" }, ...(sk ? [{ AttributeName: sk, KeyType: "RANGE" }] : [])];

/** An index in the form of CreateTable and UpdateTable. tablePK is the partition key of a local one. */
export function indexInput(i: NewIndex, tablePK: string, throughput: Throughput | undefined): object {
  return {
    IndexName: i.name, KeySchema: schemaOf(i.global ? i.pk.name : tablePK, i.sk.name),
    Projection: { ProjectionType: i.projection, ...(i.projection === "INCLUDE" ? { NonKeyAttributes: i.include.split(",").map((n) => n.trim()).filter(Boolean) } : {}) },
    ...(i.global && throughput ? { ProvisionedThroughput: throughput } : {}),
  };
}

/** The key attributes, each once; the endpoint rejects one with two types. */
export function definitions(keys: readonly KeyAttribute[]): { AttributeName: string; AttributeType: string }[] {
  const seen = new Map(keys.filter((k) => k.name !== "").map((k) => [`${k.name} ${k.type}`, k]));
  return [...seen.values()].map((k) => ({ AttributeName: k.name, AttributeType: k.type }));
}

export function tableKeys(pk: KeyAttribute, sk: KeyAttribute): object[] {
  return schemaOf(pk.name, sk.name);
}
