// The history of one item, as far back as the table keeps changes: each as a diff, with an undo.
import { History } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Badge, Button, Empty, Problem, TableSkeleton, format, here, link, useTitle } from "#ui";
import { Changes, changesOf } from "./diff.tsx";
import { Fault } from "./fault.tsx";
import { getItem } from "./item.tsx";
import { openedItem } from "./items.tsx";
import { type PastChange, type PastChanges, itemChanges } from "./past.ts";
import { PutBack } from "./put-back.tsx";
import { type Table, keyNames, keysOf } from "./schema.ts";
import { Attributes, KeyText } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { undone } from "./undo.ts";
import type { Item } from "./value.ts";
import { t } from "./words.ts";

export function ItemHistoryPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("tail.history")}`);
  return <TablePlace name={name}>{(table) => <Of table={table} />}</TablePlace>;
}

function Of({ table }: { table: Table }) {
  const one = here.value.query.get("item");
  const key = useMemo(() => openedItem(one), [one]);
  return key ? <ItemHistory key={one} table={table} itemKey={key} /> : <Empty level={2} icon={History} title={t("itemHistory.noItem")}>{t("itemHistory.noItemText")}</Empty>;
}

interface Found extends PastChanges { now: Item | undefined }

const wanted = 10; // changes that are loaded automatically

function ItemHistory({ table, itemKey }: { table: Table; itemKey: Item }) {
  const name = table.description.TableName;
  const keys = keyNames(keysOf(table.description.KeySchema));
  const [found, set] = useState<Found | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(true);
  const [again, look] = useState(0);
  const leave = useMemo(() => new AbortController(), [again, undone.value]);
  const search = async (from: Found | undefined) => {
    setBusy(true);
    setProblem(undefined);
    try {
      let f = from ?? { now: (await getItem(name, itemKey, leave.signal)).Item, changes: [], since: undefined, next: undefined, searched: undefined };
      const enough = f.changes.length + wanted;
      do {
        const last = f.changes[f.changes.length - 1];
        const page = await itemChanges(name, itemKey, f.next, last ? last.before : f.now, leave.signal);
        f = { ...page, now: f.now, changes: [...f.changes, ...page.changes] };
        set(f);
      } while (f.next !== undefined && f.changes.length < enough);
    } catch (thrown) {
      if (leave.signal.aborted) return;
      setProblem(Problem.of(thrown));
    }
    setBusy(false);
  };
  useEffect(() => {
    void search(undefined);
    return () => leave.abort();
  }, [leave]);
  const moment = (seconds: number) => format.dateTime(seconds * 1000, { dateStyle: "medium", timeStyle: "medium" });
  return (
    <>
      <p class="row small"><span class="muted">{t("tail.of")}</span><span class="tail-key">{Object.entries(itemKey).map(([n, value]) => <KeyText key={n} value={value} />)}</span><a href={link("/tables/:table", { table: name, item: JSON.stringify(itemKey) })}>{t("tail.open")}</a>
        {table.description.StreamSpecification?.StreamEnabled && <a href={link("/tables/:table/stream", { table: name, item: JSON.stringify(itemKey) })}>{t("itemHistory.live")}</a>}
      </p>
      {problem && <Fault problem={problem} onRetry={() => look(again + 1)} />}
      {!found ? !problem && <TableSkeleton columns={3} rows={4} />
        : found.since === undefined ? <Empty level={2} icon={History} title={t("itemHistory.off")} action={<Button kind="primary" href={link("/tables/:table/backups", { table: name })}>{t("backups")}</Button>}>{t("itemHistory.offText")}</Empty>
        : (
          <>
            {found.changes.length > 0
              ? <ol class="tail" aria-label={t("tail.history")}>{found.changes.map((c, n) => <li key={c.sequence}><Change change={c} first={n === 0} found={found} table={name} keys={keys} onDone={() => look(again + 1)} /></li>)}</ol>
              : !busy && found.next === undefined && <Empty level={2} icon={History} title={t("itemHistory.none")}>{t("itemHistory.noneText", { since: moment(found.since) })}</Empty>}
            <div class="row small muted" role="status">
              <span class="grow">{busy ? t("itemHistory.searching") : found.next === undefined ? t("itemHistory.since", { since: moment(found.since) }) : t("itemHistory.searched", { at: moment(found.searched ?? found.since) })}</span>
              {found.next !== undefined && <Button loading={busy} onPress={() => search(found)}>{t("itemHistory.more")}</Button>}
            </div>
          </>
        )}
    </>
  );
}

const tones = { INSERT: "success", MODIFY: "info", REMOVE: "danger" } as const;

function Change({ change: c, first, found, table, keys, onDone }: { change: PastChange; first: boolean; found: Found; table: string; keys: readonly string[]; onDone: () => void }) {
  const known = c.kind === "INSERT" || c.before !== undefined;
  const image = c.after ?? c.before;
  return (
    <article class="tail-detail history-change">
      <header class="row">
        <Badge tone={tones[c.kind]}>{t(c.expired ? "tail.expired" : `tail.${c.kind}`)}</Badge>
        <time class="number grow" dateTime={new Date(c.at).toISOString()}>{format.dateTime(c.at, { dateStyle: "medium", timeStyle: "medium" })} <span class="muted small">{format.relative(c.at)}</span></time>
        {known && (c.before !== undefined || found.now !== undefined) && <PutBack table={table} keys={keys} then={c.before} now={found.now} label={t(first ? "itemHistory.undo" : "itemHistory.before")} onDone={onDone} />}
      </header>
      {c.kind === "MODIFY" && c.before && c.after ? <Changes changes={changesOf(c.before, c.after)} /> : image ? <Attributes item={image} keys={keys} /> : <p class="muted">{t("tail.noImage")}</p>}
    </article>
  );
}
