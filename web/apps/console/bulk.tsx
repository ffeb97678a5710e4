// Bulk actions: each selected item is changed or deleted on the condition that it is as it was read, after a preview of
// the effect and the cost.
import { Pencil, Plus, Trash, X } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Dialog, Form, Notice, Progress, Select, Skeleton, TextField, useLoaded } from "#ui";
import { type TableDescription, about } from "./api.ts";
import { writeCost } from "./cost.ts";
import { Changes, changesOf } from "./diff.tsx";
import { type Failure, callAgain, forEach } from "./many.ts";
import type { Picked } from "./pick.ts";
import { type FilterType, Unfit, valueOf } from "./query.ts";
import { keyNames, keysOf } from "./schema.ts";
import { KeyText } from "./show.tsx";
import { isValue } from "./tree.ts";
import { type Written, beforeUpdate, wrote } from "./undo.ts";
import { type Item, type Value, pick } from "./value.ts";
import { Fault } from "./fault.tsx";
import { t } from "./words.ts";
import { deleteOf, updateOf } from "./write.ts";

const shown = 8; // items of a preview

interface BulkProps {
  table: TableDescription;
  picked: Picked;
  /** After a write. */
  onDone: () => void;
}

export function BulkBar({ table, picked, onDone }: BulkProps) {
  const [open, set] = useState<"edit" | "delete" | undefined>();
  const n = picked.items.length;
  if (n === 0) {
    return null;
  }
  const close = (done: boolean) => {
    set(undefined);
    if (done) {
      picked.clear();
      onDone();
    }
  };
  return (
    <div class="row bulk" role="region" aria-label={t("pick.region")}>
      <strong class="small">{t("pick.n", { n })}</strong>
      {!about.readOnly && <><Button size="small" icon={Pencil} onPress={() => set("edit")}>{t("bulk.edit")}</Button><Button size="small" icon={Trash} onPress={() => set("delete")}>{t("bulk.delete")}</Button></>}
      <Button kind="quiet" size="small" icon={X} onPress={picked.clear}>{t("pick.none")}</Button>
      {open === "delete" && <Deletion table={table} items={picked.items} onClose={close} />}
      {open === "edit" && <Edit table={table} items={picked.items} onClose={close} />}
    </div>
  );
}

function Cost({ table, writes }: { table: TableDescription; writes: readonly Written[] }) {
  const cost = writeCost(table, writes);
  return <p class="small muted">{t(cost.indexes > 0 ? "bulk.costIndexes" : "bulk.cost", { n: cost.table + cost.indexes, indexes: cost.indexes })}</p>;
}

interface RunOf {
  done: number;
  failures: readonly Failure<Item>[];
  running: boolean;
}

/** Runs one request per item, and remembers what was written. */
function useRun(table: string, keys: readonly string[], said: (n: number) => string, onClose: (done: boolean) => void) {
  const [run, set] = useState<RunOf | undefined>();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = async (items: readonly Item[], one: (item: Item, abort: AbortSignal) => Promise<Written>) => {
    const written: Written[] = [];
    set({ done: 0, failures: [], running: true });
    const failures = await forEach(items, abort.current.signal, async (item) => {
      written.push(await one(item, abort.current.signal));
      set({ done: written.length, failures: [], running: true });
    });
    if (written.length > 0) wrote({ table, keys, items: written }, said(written.length));
    set({ done: written.length, failures, running: false });
    if (failures.length === 0) onClose(written.length > 0);
  };
  return { run, start };
}

function Progressed({ run, of }: { run: RunOf; of: number }) {
  const changed = run.failures.filter((f) => f.problem.code === "ConditionalCheckFailedException").length;
  const other = run.failures.find((f) => f.problem.code !== "ConditionalCheckFailedException");
  return (
    <div class="stack" role="status">
      {run.running && <Progress label={t("bulk.progress", { n: run.done, of })} value={run.done} max={of} />}
      <span class="small">{t("bulk.progress", { n: run.done, of })}</span>
      {changed > 0 && <Notice tone="warning">{t("bulk.changed", { n: changed })}</Notice>}
      {other && <Fault problem={other.problem} />}
    </div>
  );
}

function Deletion({ table, items, onClose }: { table: TableDescription; items: readonly Item[]; onClose: (done: boolean) => void }) {
  const keys = keyNames(keysOf(table.KeySchema));
  const { run, start } = useRun(table.TableName, keys, (n) => t("bulk.deleted", { n }), onClose);
  const remove = () => start(items, async (item, abort) => {
    const done = await callAgain<{ Attributes?: Item }>("DeleteItem", deleteOf(table.TableName, pick(item, keys), keys, item), abort);
    return { before: done.Attributes, after: undefined };
  });
  const over = run !== undefined && !run.running;
  return (
    <Dialog open title={t("bulk.deleteTitle", { n: items.length })} onClose={() => onClose(over)} actions={over
      ? <Button kind="primary" onPress={() => onClose(true)}>{t("done")}</Button>
      : <><Button onPress={() => onClose(false)}>{t("cancel")}</Button><Button kind="danger" icon={Trash} onPress={remove}>{t("delete")}</Button></>}>
      <div class="stack">
        {run ? <Progressed run={run} of={items.length} /> : (
          <>
            <ul class="preview" tabIndex={0} aria-label={t("pick.region")}>{items.slice(0, shown).map((item, n) => <li key={n}>{keys.map((k) => <KeyText key={k} value={item[k]} />)}</li>)}</ul>
            {items.length > shown && <p class="small muted">{t("bulk.andMore", { n: items.length - shown })}</p>}
            <p class="small">{t("bulk.condition")}</p>
            <Cost table={table} writes={items.map((before) => ({ before, after: undefined }))} />
          </>
        )}
      </div>
    </Dialog>
  );
}

type EditType = FilterType | "JSON";

interface OneEdit {
  name: string;
  how: "set" | "remove";
  type: EditType;
  text: string;
}

const first: OneEdit = { name: "", how: "set", type: "S", text: "" };

function valueOfEdit(e: OneEdit, n: number): Value {
  if (e.type !== "JSON") return valueOf(e.type, e.text, String(n));
  try {
    const v: unknown = JSON.parse(e.text);
    if (isValue(v)) return v;
  } catch {
    // shown below
  }
  throw new Unfit(String(n), "JSON");
}

/** An item with the edits applied; throws Unfit. */
function edited(item: Item, edits: readonly OneEdit[]): Item {
  const next = { ...item };
  for (const [n, e] of edits.entries()) {
    if (e.how === "remove") delete next[e.name];
    else next[e.name] = valueOfEdit(e, n);
  }
  return next;
}

function Edit({ table, items, onClose }: { table: TableDescription; items: readonly Item[]; onClose: (done: boolean) => void }) {
  const keys = keyNames(keysOf(table.KeySchema));
  const [edits, setEdits] = useState<readonly OneEdit[]>([first]);
  const [fault, setFault] = useState<{ n: number; text: string } | undefined>();
  const [reviewing, review] = useState(false);
  const { run, start } = useRun(table.TableName, keys, (n) => t("bulk.edited", { n }), onClose);
  const set = (n: number, by: Partial<OneEdit>) => { setEdits(edits.map((e, at) => (at === n ? { ...e, ...by } : e))); setFault(undefined); };
  const look = () => {
    for (const [n, e] of edits.entries()) {
      if (e.name.trim() === "") return setFault({ n, text: t("fault.name") });
      if (keys.includes(e.name)) return setFault({ n, text: t("bulk.key") });
    }
    try {
      edited({}, edits);
      review(true);
    } catch (thrown) {
      if (!(thrown instanceof Unfit)) throw thrown;
      setFault({ n: Number(thrown.field), text: t(thrown.type === "JSON" ? "edit.jsonFault" : `fault.${thrown.type}` as "fault.N") });
    }
  };
  const over = run !== undefined && !run.running;
  const names = [...new Set(items.flatMap((i) => Object.keys(i)))].filter((n) => !keys.includes(n)).sort();
  if (reviewing || run) {
    return <EditReview table={table} keys={keys} items={items} edits={edits} run={run} over={over} onBack={() => review(false)} onClose={onClose} onRun={(whole) => start(whole, async (read, abort) => {
      const wanted = edited(read, edits);
      const done = await callAgain<{ Attributes: Item }>("UpdateItem", updateOf(table.TableName, pick(read, keys), keys, read, wanted), abort);
      return { before: beforeUpdate(done.Attributes, read, wanted), after: done.Attributes };
    })} />;
  }
  return (
    <Dialog wide open title={t("bulk.editTitle", { n: items.length })} onClose={() => onClose(false)} actions={<><Button onPress={() => onClose(false)}>{t("cancel")}</Button><Button kind="primary" type="submit" form="bulk">{t("item.review")}</Button></>}>
      <Form id="bulk" class="stack" noValidate onSubmit={look}>
        {edits.map((e, n) => (
          <div class="bulk-edit" key={n}>
            <Select label={t("bulk.how")} value={e.how} onInput={(how) => set(n, { how })} choices={[{ value: "set", label: t("bulk.set") }, { value: "remove", label: t("bulk.remove") }]} />
            <TextField label={t("filter.name")} name={`bulk-name-${n}`} value={e.name} list="bulk-names" onInput={(name) => set(n, { name })} error={fault?.n === n ? fault.text : undefined} autocomplete="off" />
            {e.how === "set" && <Select label={t("filter.type")} value={e.type} onInput={(type) => set(n, { type, text: type === "BOOL" ? "true" : e.text })} choices={(["S", "N", "BOOL", "NULL", "B", "JSON"] as const).map((type) => ({ value: type, label: type === "JSON" ? "DynamoDB JSON" : t(`type.${type}`) }))} />}
            {e.how === "set" && (e.type === "BOOL" ? <Select label={t("value")} value={e.text} onInput={(text) => set(n, { text })} choices={["true", "false"].map((value) => ({ value, label: value }))} />
              : e.type !== "NULL" && <TextField label={t("value")} name={`bulk-value-${n}`} value={e.text} onInput={(text) => set(n, { text })} autocomplete="off" />)}
            {edits.length > 1 && <Button kind="quiet" icon={X} label={t("edit.remove", { name: e.name })} onPress={() => setEdits(edits.filter((_, at) => at !== n))} />}
          </div>
        ))}
        <datalist id="bulk-names">{names.map((n) => <option key={n} value={n} />)}</datalist>
        <div><Button size="small" icon={Plus} onPress={() => setEdits([...edits, first])}>{t("bulk.add")}</Button></div>
      </Form>
    </Dialog>
  );
}

/** Items are read completely before they are compared: an index or a list of attributes may have shown only a part. */
async function readWhole(table: string, keys: readonly string[], items: readonly Item[], abort: AbortSignal): Promise<Item[]> {
  const found: Item[] = [];
  const failures = await forEach(items, abort, async (item) => {
    const { Item: whole } = await callAgain<{ Item?: Item }>("GetItem", { TableName: table, Key: pick(item, keys), ConsistentRead: true }, abort);
    if (whole) found.push(whole);
  });
  if (failures[0]) throw failures[0].problem;
  return found;
}

interface ReviewProps {
  table: TableDescription;
  keys: readonly string[];
  items: readonly Item[];
  edits: readonly OneEdit[];
  run: RunOf | undefined;
  over: boolean;
  onRun: (items: readonly Item[]) => Promise<void>;
  onBack: () => void;
  onClose: (done: boolean) => void;
}

function EditReview({ table, keys, items, edits, run, over, onRun, onBack, onClose }: ReviewProps) {
  const loaded = useLoaded((abort) => readWhole(table.TableName, keys, items, abort), []);
  const whole = loaded.value.value ?? [];
  const changing = whole.map((before) => ({ before, after: edited(before, edits) })).filter(({ before, after }) => changesOf(before, after).length > 0);
  return (
    <Dialog wide open title={t("bulk.editTitle", { n: items.length })} onClose={() => onClose(over)} actions={over
      ? <Button kind="primary" onPress={() => onClose(true)}>{t("done")}</Button>
      : <><Button onPress={onBack} disabled={run !== undefined}>{t("item.goOn")}</Button><Button kind="primary" disabled={changing.length === 0} onPress={() => onRun(changing.map((c) => c.before))}>{t("bulk.run", { n: changing.length })}</Button></>}>
      <div class="stack">
        {run ? <Progressed run={run} of={changing.length} />
          : loaded.problem.value ? <Fault problem={loaded.problem.value} />
          : !loaded.value.value ? <Skeleton lines={6} />
          : (
            <>
              <p>{t("bulk.changing", { n: changing.length, all: items.length })}</p>
              <div class="previews stack" role="region" tabIndex={0} aria-label={t("pick.region")}>
              {changing.slice(0, shown).map(({ before, after }, n) => <section key={n} class="stack" style={{ "--gap": "var(--space-1)" }}><h3 class="preview-key">{keys.map((k) => <KeyText key={k} value={before[k]} />)}</h3><Changes changes={changesOf(before, after)} /></section>)}
              </div>
              {changing.length > shown && <p class="small muted">{t("bulk.andMore", { n: changing.length - shown })}</p>}
              <p class="small">{t("bulk.condition")}</p>
              <Cost table={table} writes={changing} />
            </>
          )}
      </div>
    </Dialog>
  );
}
