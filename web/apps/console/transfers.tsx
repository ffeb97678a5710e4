// Exports of tables to buckets and imports from buckets into new tables, with their progress.
import { Download, Upload } from "lucide";
import { useState } from "preact/hooks";
import { Button, Dialog, Empty, Form, Notice, Problem, Progress, Select, Table as Rows, TableSkeleton, TextField, format, link, toast } from "#ui";
import { about, call } from "./api.ts";
import { Fault } from "./fault.tsx";
import { type Transfer, type Watched, isMoving, listExports, listImports, recoveryOf, useWatched } from "./history.ts";
import { type KeyAttribute, KeyField, definitions, tableKeys } from "./key-field.tsx";
import { localSecond, secondOf } from "./restore.tsx";
import { type Table, loadNames, tableState } from "./schema.ts";
import { State, bytes } from "./show.tsx";
import { t } from "./words.ts";

export function Exports({ table }: { table: Table | undefined }) {
  const name = table?.description.TableName;
  const list = useWatched((abort) => listExports(table, abort), (all) => all.some((x) => isMoving(x.status)), [name]);
  const [making, make] = useState(false);
  const offer = table && !about.readOnly;
  return (
    <div class="stack" style={{ "--gap": "var(--space-2)" }}>
      <div class="row"><h2 class="part grow">{t("exports")}</h2>{offer && list.value && list.value.length > 0 && <Button size="small" icon={Upload} onPress={() => make(true)}>{t("export.begin")}</Button>}</div>
      <Transfers list={list} caption={t("exports")} withTable={!table} empty={<Empty icon={Upload} title={t("export.none")} action={offer && <Button icon={Upload} onPress={() => make(true)}>{t("export.begin")}</Button>}>{t(table ? "export.noneText" : "export.noneAll")}</Empty>} />
      {making && table && <Export table={table} onClose={() => make(false)} onDone={() => { make(false); list.reload(); }} />}
    </div>
  );
}

export function Imports() {
  const list = useWatched((abort) => listImports(undefined, abort), (all) => all.some((x) => isMoving(x.status)), []);
  const [making, make] = useState(false);
  return (
    <div class="stack" style={{ "--gap": "var(--space-2)" }}>
      <div class="row"><h2 class="part grow">{t("imports")}</h2>{!about.readOnly && list.value && list.value.length > 0 && <Button size="small" icon={Download} onPress={() => make(true)}>{t("import.begin")}</Button>}</div>
      <Transfers list={list} caption={t("imports")} withTable empty={<Empty icon={Download} title={t("import.none")} action={!about.readOnly && <Button icon={Download} onPress={() => make(true)}>{t("import.begin")}</Button>}>{t("import.noneText")}</Empty>} />
      {making && <Import onClose={() => make(false)} onDone={() => { make(false); list.reload(); void loadNames(); }} />}
    </div>
  );
}

function Transfers({ list, caption, withTable, empty }: { list: Watched<Transfer[]>; caption: string; withTable: boolean; empty: preact.ComponentChildren }) {
  if (list.problem) return <Fault problem={list.problem} onRetry={list.reload} />;
  if (!list.value) return <TableSkeleton columns={5} rows={2} />;
  if (list.value.length === 0) return <>{empty}</>;
  return (
    <Rows caption={caption} rows={list.value} rowKey={(x) => x.arn} columns={[
      { key: "place", title: t("transfer.place"), cell: (x) => <code class="breaks">{x.place}</code> },
      ...(withTable ? [{ key: "table", title: t("of.table"), cell: (x: Transfer) => <a href={link("/tables/:table", { table: x.table })}>{x.table}</a> }] : []),
      { key: "status", title: t("table.status"), beside: true, cell: (x) => <State status={x.status} /> },
      { key: "started", title: t("transfer.started"), cell: (x) => (x.started === undefined ? "–" : format.dateTime(x.started * 1000)) },
      { key: "of", title: t("transfer.progress"), cell: (x) => <Far transfer={x} /> },
      { key: "items", title: t("table.items"), numeric: true, cell: (x) => (x.items === undefined ? "–" : format.number(x.items)) },
      { key: "size", title: t("table.size"), numeric: true, cell: (x) => (x.bytes === undefined ? "–" : bytes(x.bytes)) },
    ]} />
  );
}

/** Its progress; of exports, relative to the table's current size. */
function Far({ transfer: x }: { transfer: Transfer }) {
  if (x.failure) return <span class="small failure">{x.failure}</span>;
  if (!isMoving(x.status)) {
    const took = x.started !== undefined && x.ended !== undefined ? format.number(Math.max(0, x.ended - x.started), { style: "unit", unit: "second", unitDisplay: "short", maximumFractionDigits: 1 }) : "";
    return <span class="small muted">{[x.of === undefined ? "" : t("export.of", { at: format.dateTime(x.of * 1000, { dateStyle: "medium", timeStyle: "medium" }) }), took, x.errors ? t("import.errors", { n: x.errors }) : ""].filter(Boolean).join(" · ")}</span>;
  }
  return <Measured table={x.table} items={x.items ?? 0} />;
}

function Measured({ table, items }: { table: string; items: number }) {
  const state = tableState(table);
  const all = state === "loading" || state instanceof Problem ? 0 : state.description.ItemCount ?? 0;
  return <Progress label={t("transfer.progress")} {...(all > 0 && items > 0 ? { value: Math.min(items, all), max: all } : {})} />;
}

function Export({ table, onClose, onDone }: { table: Table; onClose: () => void; onDone: () => void }) {
  const d = table.description;
  const [f, set] = useState({ bucket: "", prefix: "", format: "DYNAMODB_JSON", at: "", type: "FULL_EXPORT", from: "", to: "", view: "NEW_AND_OLD_IMAGES" });
  const [problem, setProblem] = useState<Problem | undefined>();
  const recovery = useWatched((abort) => recoveryOf(d.TableName, abort), () => false, []);
  const off = recovery.value?.on === false;
  const earliest = recovery.value?.earliest;
  const first = Math.floor(earliest ?? 0) + 1; // changes can be exported from one second after the earliest
  const incremental = f.type === "INCREMENTAL_EXPORT";
  const begin = async () => {
    setProblem(undefined);
    try {
      if (off) await call("UpdateContinuousBackups", { TableName: d.TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
      await call("ExportTableToPointInTime", {
        TableArn: d.TableArn, S3Bucket: f.bucket.trim(), ExportFormat: f.format, ...(f.prefix.trim() ? { S3Prefix: f.prefix.trim() } : {}), ...(incremental
          ? { ExportType: f.type, IncrementalExportSpecification: { ExportFromTime: secondOf(f.from), ...(f.to ? { ExportToTime: secondOf(f.to) } : {}), ExportViewType: f.view } }
          : f.at ? { ExportTime: secondOf(f.at) } : {}),
      });
      toast("success", t("export.begun"));
      onDone();
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <Dialog open title={t("export.title", { name: d.TableName })} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" disabled={f.bucket.trim().length < 3 || !recovery.value || incremental && secondOf(f.from) === undefined} type="submit" form="export">{t("export.begin")}</Button></>}>
      <Form id="export" class="stack" noValidate onSubmit={begin}>
        {problem && <Fault problem={problem} />}
        {off && <Notice tone="info">{t("export.pitr")}</Notice>}
        <TextField label={t("transfer.bucket")} name="bucket" value={f.bucket} onInput={(bucket) => set({ ...f, bucket })} autocomplete="off" placeholder="my-exports" autofocus />
        <TextField label={t("transfer.prefix")} name="prefix" optional value={f.prefix} onInput={(prefix) => set({ ...f, prefix })} autocomplete="off" />
        <Select label={t("transfer.format")} value={f.format} onInput={(v) => set({ ...f, format: v })} choices={[{ value: "DYNAMODB_JSON", label: "DynamoDB JSON" }, { value: "ION", label: "Amazon Ion" }]} />
        {!off && earliest !== undefined && <Select label={t("export.type")} value={f.type} onInput={(type) => set({ ...f, type, from: f.from || localSecond(first) })} choices={[{ value: "FULL_EXPORT", label: t("export.full") }, { value: "INCREMENTAL_EXPORT", label: t("export.incremental") }]} />}
        {incremental && earliest !== undefined && (
          <>
            <TextField label={t("export.from")} name="from" hint={t("export.fromHint")} type="datetime-local" step={1} min={localSecond(first)} value={f.from} onInput={(from) => set({ ...f, from })} />
            <TextField label={t("export.to")} name="to" hint={t("export.toHint")} optional type="datetime-local" step={1} min={localSecond(first)} value={f.to} onInput={(to) => set({ ...f, to })} />
            <Select label={t("export.view")} value={f.view} onInput={(view) => set({ ...f, view })} choices={[{ value: "NEW_AND_OLD_IMAGES", label: t("export.both") }, { value: "NEW_IMAGE", label: t("export.new") }]} />
          </>
        )}
        {!off && !incremental && earliest !== undefined && <TextField label={t("export.at")} hint={t("export.atHint")} optional type="datetime-local" step={1} min={localSecond(earliest)} value={f.at} onInput={(at) => set({ ...f, at })} />}
      </Form>
    </Dialog>
  );
}

function Import({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [f, set] = useState({ bucket: "", prefix: "", format: "DYNAMODB_JSON", compression: "GZIP", name: "" });
  const [pk, setPK] = useState<KeyAttribute>({ name: "PK", type: "S" });
  const [sk, setSK] = useState<KeyAttribute>({ name: "SK", type: "S" });
  const [problem, setProblem] = useState<Problem | undefined>();
  const begin = async () => {
    setProblem(undefined);
    try {
      await call("ImportTable", {
        S3BucketSource: { S3Bucket: f.bucket.trim(), ...(f.prefix.trim() ? { S3KeyPrefix: f.prefix.trim() } : {}) }, InputFormat: f.format, InputCompressionType: f.compression,
        TableCreationParameters: { TableName: f.name.trim(), AttributeDefinitions: definitions([pk, sk]), KeySchema: tableKeys(pk, sk), BillingMode: "PAY_PER_REQUEST" },
      });
      toast("success", t("import.begun", { name: f.name.trim() }));
      onDone();
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <Dialog open title={t("import.begin")} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" disabled={f.bucket.trim().length < 3 || f.name.trim().length < 3 || !pk.name} type="submit" form="import">{t("import.begin")}</Button></>}>
      <Form id="import" class="stack" noValidate onSubmit={begin}>
        {problem && <Fault problem={problem} />}
        <p class="muted">{t("import.text")}</p>
        <TextField label={t("transfer.bucket")} name="bucket" value={f.bucket} onInput={(bucket) => set({ ...f, bucket })} autocomplete="off" autofocus />
        <TextField label={t("transfer.prefix")} name="prefix" optional hint={t("import.prefixHint")} value={f.prefix} onInput={(prefix) => set({ ...f, prefix })} autocomplete="off" />
        <div class="grid" style={{ "--column": "10rem" }}>
          <Select label={t("transfer.format")} value={f.format} onInput={(v) => set({ ...f, format: v })} choices={[{ value: "DYNAMODB_JSON", label: "DynamoDB JSON" }, { value: "ION", label: "Amazon Ion" }, { value: "CSV", label: "CSV" }]} />
          <Select label={t("transfer.compression")} value={f.compression} onInput={(v) => set({ ...f, compression: v })} choices={[{ value: "GZIP", label: "GZIP" }, { value: "ZSTD", label: "ZSTD" }, { value: "NONE", label: t("transfer.plain") }]} />
        </div>
        <TextField label={t("restore.target")} name="target" hint={t("create.nameHint")} value={f.name} onInput={(name) => set({ ...f, name })} maxLength={255} autocomplete="off" />
        <KeyField label={t("key.pk")} value={pk} onInput={setPK} />
        <KeyField label={t("key.sk")} optional value={sk} onInput={setSK} />
      </Form>
    </Dialog>
  );
}
