// Imports files into a table; shows their contents before anything is written.
import { FileUp, FolderUp, Play, Square, Upload } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Card, Empty, Notice, Problem, Progress, Select, TextField, format, link, useTitle } from "#ui";
import { writeCost } from "./cost.ts";
import type { CSVColumn, ColumnType } from "./csv.ts";
import { Fault } from "./fault.tsx";
import type { Entry, Source } from "./files.ts";
import { Grid } from "./grid.tsx";
import { Load } from "./load.ts";
import { type Table, keyNames, keyType, keysOf, loadTable } from "./schema.ts";
import { bytes } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { type Item, itemSize } from "./value.ts";
import { t } from "./words.ts";

const previewed = 20;

export function ImportPage({ name }: { name: string }) {
  useTitle(t("import"));
  return <TablePlace name={name} step={t("import")}>{(table) => <Import table={table} />}</TablePlace>;
}

function keyTypes(table: Table): (name: string) => ColumnType | undefined {
  const names = keyNames(keysOf(table.description.KeySchema));
  return (name) => {
    const type = names.includes(name) ? keyType(table.description, name) : undefined;
    return type === "B" ? "JSON" : type;
  };
}

interface Preview {
  source: Source;
  entries: readonly Entry[];
}

async function previewOf(source: Source): Promise<Preview> {
  const { entriesOf } = await import("./files.ts");
  const entries: Entry[] = [];
  for await (const entry of entriesOf(source)) {
    entries.push(entry);
    if (entries.length >= previewed) break;
  }
  return { source, entries };
}

function Import({ table }: { table: Table }) {
  const [preview, setPreview] = useState<Preview | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [over, setOver] = useState(false);
  const choose = async (files: readonly File[]) => {
    setProblem(undefined);
    try {
      const { sourceOf } = await import("./files.ts");
      setPreview(await previewOf(await sourceOf(files, keyTypes(table))));
    } catch (thrown) {
      setPreview(undefined);
      setProblem(Problem.of(thrown));
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void choose([...(event.dataTransfer?.files ?? [])]);
  };
  return (
    <div class={over ? "stack import over" : "stack import"} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
      <h1>{t("import.title", { name: table.description.TableName })}</h1>
      {problem && <Fault problem={problem} />}
      {!preview ? (
        <Empty level={2} icon={FileUp} title={t("import.choose")} action={<Choose onChoose={choose} />}>{t("import.chooseText")}</Empty>
      ) : <Chosen key={preview.source.files.map((f) => f.name).join()} table={table} preview={preview} onColumns={(columns) => void previewOf({ ...preview.source, columns }).then(setPreview)} onOther={() => setPreview(undefined)} />}
    </div>
  );
}

function Choose({ onChoose }: { onChoose: (files: readonly File[]) => Promise<void> }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => void onChoose([...(input.files ?? [])]).then(() => { input.value = ""; });
  return (
    <div class="row centred">
      <Button kind="primary" icon={FileUp} onPress={() => files.current?.click()}>{t("import.files")}</Button>
      <Button icon={FolderUp} onPress={() => folder.current?.click()}>{t("import.folder")}</Button>
      <input ref={files} type="file" hidden multiple name="files" accept=".json,.jsonl,.ndjson,.csv,.gz,.txt" onChange={(e) => take(e.currentTarget)} />
      <input ref={(e) => { folder.current = e; if (e) e.webkitdirectory = true; }} type="file" hidden name="folder" onChange={(e) => take(e.currentTarget)} />
    </div>
  );
}

function Chosen({ table, preview, onColumns, onOther }: { table: Table; preview: Preview; onColumns: (columns: readonly CSVColumn[]) => void; onOther: () => void }) {
  const d = table.description;
  const keys = keyNames(keysOf(d.KeySchema));
  const { source, entries } = preview;
  const items = entries.flatMap((e) => (e.item ? [e.item] : []));
  const fault = entries.find((e) => e.fault !== undefined);
  const [replace, setReplace] = useState<"keep" | "replace">("keep");
  const [load, setLoad] = useState<Load | undefined>();
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const [took, setTook] = useState(0);
  const size = source.files.reduce((n, f) => n + f.size, 0);
  const cost = writeCost(d, items.map((after) => ({ before: undefined, after })));
  const each = items.length > 0 ? (cost.table + cost.indexes) / items.length : 1;
  const run = async () => {
    const { entriesOf } = await import("./files.ts");
    const next = new Load(d.TableName, keys, replace === "replace");
    setLoad(next);
    setRunning(true);
    setProblem(undefined);
    const begun = performance.now();
    try {
      await next.run(entriesOf(source));
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
    setTook(performance.now() - begun);
    setRunning(false);
    loadTable(d.TableName);
  };
  useEffect(() => () => load?.stop(), [load]);
  return (
    <>
      <div class="row">
        <span class="grow">{source.files.length === 1 ? source.files[0]?.name : t("import.count", { n: source.files.length })} · {bytes(size)}{source.expected !== undefined && <> · {t("cost.items", { n: source.expected })}</>}</span>
        {!running && <Button size="small" onPress={onOther}>{t("import.other")}</Button>}
      </div>
      {source.format === "csv" && !load && <Mapping columns={source.columns} keys={keys} onColumns={onColumns} />}
      {fault && !load && <Notice tone="warning"><code>{fault.at}</code> {fault.fault}</Notice>}
      {!load && items.length > 0 && <Card level={2} title={t("import.preview", { n: items.length })}><Grid caption={t("import.preview", { n: items.length })} items={items} columns={columnsOf(items, keys)} keys={keys} /></Card>}
      {!load && (
        <div class="stack" style={{ "--gap": "var(--space-3)" }}>
          <Select label={t("import.there")} value={replace} onInput={setReplace} choices={[{ value: "keep", label: t("import.keep") }, { value: "replace", label: t("import.replace") }]} hint={t(replace === "keep" ? "import.keepHint" : "import.replaceHint")} />
          <p class="muted small">{t("import.cost", { size: bytes(Math.round(items.reduce((n, i) => n + itemSize(i), 0) / Math.max(1, items.length))), units: format.number(each, { maximumFractionDigits: 1 }) })}</p>
          <div><Button kind="primary" icon={Upload} disabled={items.length === 0} onPress={run}>{t("import.run")}</Button></div>
        </div>
      )}
      {load && <Run load={load} running={running} problem={problem} took={took} expected={source.expected} table={d.TableName} onAgain={() => void run()} />}
    </>
  );
}

function columnsOf(items: readonly Item[], keys: readonly string[]): string[] {
  return [...keys, ...new Set(items.flatMap((i) => Object.keys(i)).filter((n) => !keys.includes(n)))];
}

/** The attribute of each column. */
function Mapping({ columns, keys, onColumns }: { columns: readonly CSVColumn[]; keys: readonly string[]; onColumns: (columns: readonly CSVColumn[]) => void }) {
  const set = (n: number, by: Partial<CSVColumn>) => onColumns(columns.map((c, at) => (at === n ? { ...c, ...by } : c)));
  const missing = keys.filter((k) => !columns.some((c) => c.name === k));
  return (
    <Card level={2} title={t("import.columns")}>
      <div class="stack">
        {missing.map((name) => <Notice key={name} tone="warning">{t("import.keyColumn", { name })}</Notice>)}
        <div class="mapping">
          {columns.map((c, n) => (
            <div class="mapping-one" key={n}>
              <code class="clip">{c.head}</code>
              <TextField label={t("import.attribute", { head: c.head })} labelHidden value={c.name} placeholder={t("import.leftOut")} onInput={(name) => set(n, { name })} autocomplete="off" />
              <Select label={t("edit.type", { name: c.head })} labelHidden value={c.type} onInput={(type) => set(n, { type })} choices={(["S", "N", "BOOL", "JSON"] as const).map((type) => ({ value: type, label: type === "JSON" ? "DynamoDB JSON" : t(`type.${type}`) }))} />
            </div>
          ))}
        </div>
      </div>
    </Card>
  );
}

function Run({ load, running, problem, took, expected, table, onAgain }: { load: Load; running: boolean; problem: Problem | undefined; took: number; expected: number | undefined; table: string; onAgain: () => void }) {
  const s = load.state.value;
  const short = !running && !load.stopped && expected !== undefined && s.read !== expected;
  return (
    <Card level={2} title={t(running ? "import.running" : load.stopped ? "import.stopped" : "import.done")}>
      <div class="stack">
        {running && (expected === undefined ? <Progress label={t("import")} /> : <Progress label={t("import")} value={s.read} max={expected} />)}
        <p class="cost-text row" role="status">
          <span>{t("import.written", { n: s.written })}</span>
          {s.there > 0 && <span>{t("import.kept", { n: s.there })}</span>}
          {s.faults > 0 && <span>{t("import.faults", { n: s.faults })}</span>}
          <span class="muted">{t("partiql.units", { n: s.units })}</span>
          {!running && took > 0 && <span class="muted">{t("import.rate", { n: Math.round(s.written / (took / 1000)) })}</span>}
        </p>
        {problem && <Fault problem={problem} />}
        {short && <Notice tone="warning">{t("import.short", { n: s.read, expected: expected ?? 0 })}</Notice>}
        {s.shown.length > 0 && <ul class="faults">{s.shown.map((f) => <li key={f.at}><code>{f.at}</code> {f.text}</li>)}</ul>}
        <div class="row">
          {running ? <Button icon={Square} onPress={() => load.stop()}>{t("import.stop")}</Button> : <><Button kind="primary" href={link("/tables/:table", { table })}>{t("items")}</Button>{(problem || load.stopped) && <Button icon={Play} onPress={onAgain}>{t("again")}</Button>}</>}
        </div>
      </div>
    </Card>
  );
}
