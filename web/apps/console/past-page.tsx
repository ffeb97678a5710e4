// A table at a second of its recovery window, compared with now: what was added, removed and changed since.
import { CalendarClock, Equal, History } from "lucide";
import { useState } from "preact/hooks";
import { Badge, Button, Checkbox, Empty, MoreButton, Paged, TableSkeleton, format, go, here, link, usePages, useTitle } from "#ui";
import { Changes, changesOf } from "./diff.tsx";
import { Fault } from "./fault.tsx";
import { type Recovery, recoveryOf, useWatched } from "./history.ts";
import { type Compared, compareTable } from "./past.ts";
import { PutBack } from "./put-back.tsx";
import { TimeField, localSecond, secondOf } from "./restore.tsx";
import { type Table, keyNames, keysOf } from "./schema.ts";
import { Attributes, KeyText } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { undone } from "./undo.ts";
import { type Item, pick } from "./value.ts";
import { t } from "./words.ts";

export function PastPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("past")}`);
  return <TablePlace name={name}>{(table) => <Past table={table} />}</TablePlace>;
}

const hour = 3600; // seconds

function Past({ table }: { table: Table }) {
  const name = table.description.TableName;
  const recovery = useWatched((abort) => recoveryOf(name, abort), () => false, [name]);
  const r = recovery.value;
  if (recovery.problem) return <Fault problem={recovery.problem} onRetry={recovery.reload} />;
  if (!r) return <TableSkeleton columns={3} rows={4} />;
  if (!r.on) return <Empty level={2} icon={CalendarClock} title={t("past.off")} action={<Button kind="primary" href={link("/tables/:table/backups", { table: name })}>{t("pitr.turnOn")}</Button>}>{t("past.offText")}</Empty>;
  if (r.earliest === undefined || r.latest === undefined || r.earliest > r.latest) return <Empty level={2} icon={CalendarClock} title={t("pitr.soon")} action={<Button onPress={recovery.reload}>{t("hot.again")}</Button>} />;
  return <Chosen table={table} recovery={r} />;
}

function Chosen({ table, recovery }: { table: Table; recovery: Recovery }) {
  const name = table.description.TableName;
  const { earliest = 0, latest = 0 } = recovery;
  const asked = here.value.query.get("at");
  const at = /^\d{1,11}$/.test(asked ?? "") ? Number(asked) : undefined;
  const [wanted, want] = useState(localSecond(at ?? Math.max(earliest, latest - hour)));
  const [all, setAll] = useState(here.value.query.get("all") === "1");
  const second = secondOf(wanted);
  const ready = second !== undefined && second >= earliest;
  const show = () => { if (ready) go(link("/tables/:table/past", { table: name, at: second, ...(all ? { all: "1" } : {}) })); };
  return (
    <>
      <form class="row past-form" onSubmit={(e) => { e.preventDefault(); show(); }}>
        <div class="past-at"><TimeField value={wanted} recovery={recovery} onInput={want} /></div>
        <Checkbox label={t("past.all")} checked={all} onInput={setAll} />
        <Button kind="primary" icon={History} disabled={!ready} onPress={show}>{t("past.show")}</Button>
      </form>
      {at === undefined ? <Empty level={2} icon={CalendarClock} title={t("past.choose")}>{t("past.chooseText")}</Empty>
        : <Comparison key={`${asked} ${here.value.query.get("all")}`} table={table} at={at} all={here.value.query.get("all") === "1"} />}
    </>
  );
}

function Comparison({ table, at, all }: { table: Table; at: number; all: boolean }) {
  const name = table.description.TableName;
  const keys = keyNames(keysOf(table.description.KeySchema));
  const pages = usePages<Compared>((after, abort) => compareTable(name, at, all, after, abort), [name, at, all, undone.value]);
  const moment = format.dateTime(at * 1000, { dateStyle: "medium", timeStyle: "medium" });
  return (
    <>
      <h2 class="part">{t("past.title", { at: moment })}</h2>
      <Paged pages={pages} loading={<TableSkeleton columns={3} rows={6} />} empty={<Empty level={2} icon={Equal} title={t("past.same")}>{t("past.sameText", { at: moment })}</Empty>}>
        {(items) => (
          <>
            <ol class="tail" aria-label={t("past")}>{items.map((x) => <li key={JSON.stringify(pick((x.then ?? x.now) as Item, keys))}><One compared={x} keys={keys} table={name} onDone={() => void pages.reload()} /></li>)}</ol>
            <div class="row"><span class="muted small grow" role="status">{t("past.count", { n: items.length })}</span><MoreButton pages={pages} /></div>
          </>
        )}
      </Paged>
    </>
  );
}

function One({ compared: { then, now }, keys, table, onDone }: { compared: Compared; keys: readonly string[]; table: string; onDone: () => void }) {
  const [open, set] = useState(false);
  const key = pick((then ?? now) as Item, keys);
  const changes = then && now ? changesOf(then, now) : undefined;
  const same = changes?.length === 0;
  const kind = !then ? "past.added" : !now ? "past.removed" : same ? "past.unchanged" : "past.changed";
  const tone = !then ? "success" : !now ? "danger" : "info";
  return (
    <details class="tail-record" open={open} onToggle={(e) => set((e.currentTarget as HTMLDetailsElement).open)}>
      <summary class="past-summary">
        <span>{same ? <Badge plain>{t(kind)}</Badge> : <Badge tone={tone}>{t(kind)}</Badge>}</span>
        <span class="tail-key">{keys.map((k) => <KeyText key={k} value={key[k]} />)}</span>
        <span class="tail-brief clip muted">{changes?.slice(0, 5).map((c) => c.path).join(", ")}</span>
      </summary>
      {open && (
        <div class="stack tail-detail">
          {changes && changes.length > 0 && <section><h3>{t("past.differences")}</h3><Changes changes={changes} /></section>}
          <div class="past-sides">
            <section><h3>{t("past.then")}</h3>{then ? <Attributes item={then} keys={keys} /> : <p class="muted">{t("past.notThere")}</p>}</section>
            <section><h3>{t("past.now")}</h3>{now ? <Attributes item={now} keys={keys} /> : <p class="muted">{t("past.notThere")}</p>}</section>
          </div>
          <div class="row small">
            <span class="row grow">{now && <a href={link("/tables/:table", { table, item: JSON.stringify(key) })}>{t("tail.open")}</a>}<a href={link("/tables/:table/history", { table, item: JSON.stringify(key) })}>{t("tail.history")}</a></span>
            {!same && <PutBack table={table} keys={keys} then={then} now={now} label={t(then ? "past.put" : "past.putRemove")} onDone={onDone} />}
          </div>
        </div>
      )}
    </details>
  );
}
