// The live changes of a table: its stream, each change as a diff.
import { Activity, ArrowRight, Pause, Play, Radio } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Badge, Button, Empty, Icon, Notice, Progress, SearchField, Select, format, here, link, toast, useTitle } from "#ui";
import { about, call } from "./api.ts";
import { ask, asked, choice } from "./asked.ts";
import { streamViews } from "./create-table.tsx";
import { type Change, Changes, changesOf } from "./diff.tsx";
import { Fault, toastFault } from "./fault.tsx";
import { openedItem } from "./items.tsx";
import { type Table, keyNames, keysOf, loadTable, useSettled } from "./schema.ts";
import { Attributes, Cell, KeyText } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { type Kind, type Start, type StreamRecord, Tail } from "./tail.ts";
import { type Item, short } from "./value.ts";
import { t } from "./words.ts";

export function StreamPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("tail")}`);
  return <TablePlace name={name}>{(table) => <Stream table={table} />}</TablePlace>;
}

function Stream({ table }: { table: Table }) {
  useSettled(table);
  const d = table.description;
  const on = d.StreamSpecification?.StreamEnabled === true;
  if (!on || !d.LatestStreamArn) {
    return <NoStream name={d.TableName} />;
  }
  return <Live key={d.LatestStreamArn} table={table} arn={d.LatestStreamArn} view={d.StreamSpecification?.StreamViewType ?? ""} />;
}

/** Without a stream: what it would show, and how to enable it. */
function NoStream({ name }: { name: string }) {
  const [view, choose] = useState<string>("NEW_AND_OLD_IMAGES");
  const turnOn = async () => {
    try {
      await call("UpdateTable", { TableName: name, StreamSpecification: { StreamEnabled: true, StreamViewType: view } });
      toast("success", t("settings.changed"));
    } catch (thrown) {
      toastFault(thrown);
    }
    loadTable(name);
  };
  return (
    <Empty level={2} icon={Radio} title={t("tail.off")} action={!about.readOnly && (
      <div class="row tail-on">
        <Select label={t("stream.choose")} value={view} onInput={choose} choices={streamViews.map((v) => ({ value: v, label: t(`stream.${v}`) }))} />
        <Button kind="primary" icon={Play} onPress={turnOn}>{t("tail.turnOn")}</Button>
      </div>
    )}>
      {t("tail.offText")}
    </Empty>
  );
}

const kinds: readonly Kind[] = ["INSERT", "MODIFY", "REMOVE"];
const starts: readonly Start[] = ["now", "oldest"];
const tones = { INSERT: "success", MODIFY: "info", REMOVE: "danger" } as const;

function Live({ table, arn, view }: { table: Table; arn: string; view: string }) {
  const one = here.value.query.get("item");
  const only = useMemo(() => openedItem(one), [one]);
  const [start, setStart] = choice("from", starts, only ? "oldest" : "now");
  const tail = useMemo(() => new Tail(arn, start, only), [arn, start, only]);
  useEffect(() => () => tail.stop(), [tail]);
  const sought = asked("text");
  const hidden = asked("without").split(",");
  const shown = kinds.filter((k) => !hidden.includes(k));
  const keys = keyNames(keysOf(table.description.KeySchema));
  const text = sought.trim().toLowerCase();
  const all = tail.records.value;
  const records = all.filter((r) => shown.includes(r.kind) && (text === "" || textOf(r, keys).includes(text)));
  const state = tail.state.value;
  const paused = state === "paused";
  return (
    <>
      <div class="row tail-bar">
        <Select label={t("tail.from")} labelHidden value={start} onInput={setStart} choices={starts.map((s) => ({ value: s, label: t(`tail.${s}`) }))} />
        <div class="how" role="group" aria-label={t("tail.kinds")}>
          {kinds.map((k) => <button key={k} type="button" class="how-one" aria-pressed={shown.includes(k)} onClick={() => ask("without", kinds.filter((x) => shown.includes(x) === (x === k)).join())}>{t(`tail.${k}`)}</button>)}
        </div>
        <div class="tail-search"><SearchField label={t("tail.search")} value={sought} onInput={(text) => ask("text", text)} /></div>
        <div class="row fixed end">
          <span class={`tail-state ${state}`} role="status"><span class="tail-dot" aria-hidden="true" />{t(`tail.state.${state}`)}<span class="muted"> · {t("tail.count", { n: tail.count.value })}</span></span>
          {state !== "ended" && <Button icon={paused ? Play : Pause} onPress={() => (paused ? tail.resume() : tail.pause())}>{t(paused ? "tail.resume" : "tail.pause")}</Button>}
        </div>
      </div>
      {only && <p class="row small"><span class="muted">{t("tail.of")}</span><span class="tail-key">{Object.entries(only).map(([name, value]) => <KeyText key={name} value={value} />)}</span><a href={link("/tables/:table", { table: table.description.TableName, item: JSON.stringify(only) })}>{t("tail.open")}</a><a href={link("/tables/:table/stream", { table: table.description.TableName })}>{t("tail.all")}</a></p>}
      {view !== "NEW_AND_OLD_IMAGES" && <Notice tone="info">{t("tail.partial", { view: t(`stream.${view}` as "stream.KEYS_ONLY") })}</Notice>}
      {tail.problem.value && <Fault problem={tail.problem.value} />}
      {records.length > 0 ? (
        <ol class="tail" aria-label={t("tail")}>
          {records.map((r) => <li key={r.id}><Record record={r} keys={keys} table={table.description.TableName} /></li>)}
        </ol>
      ) : tail.problem.value ? null : state === "opening" ? <Progress label={t("tail.state.opening")} />
        : all.length > 0 ? <Empty level={2} icon={Activity} title={t("tail.noMatch")}>{t("tail.noMatchText", { n: all.length })}</Empty>
        : <Empty level={2} icon={Activity} title={t("tail.waiting")} action={start === "now" && <Button onPress={() => setStart("oldest")}>{t("tail.showOldest")}</Button>}>{t("tail.waitingText")}</Empty>}
    </>
  );
}

function textOf(r: StreamRecord, keys: readonly string[]): string {
  return keys.map((k) => (r.keys[k] ? short(r.keys[k] as Item[string]) : "")).join(" ").toLowerCase();
}

function differences(r: StreamRecord): Change[] | undefined {
  return r.kind === "MODIFY" && r.before && r.after ? changesOf(r.before, r.after) : undefined;
}

const inLine = 3; // differences that a collapsed record shows

function Record({ record: r, keys, table }: { record: StreamRecord; keys: readonly string[]; table: string }) {
  const [open, set] = useState(false);
  const changes = differences(r);
  const image = r.after ?? r.before;
  const rest = Object.keys(image ?? {}).filter((name) => !keys.includes(name));
  return (
    <details class="tail-record" open={open} onToggle={(e) => set((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>
        <time class="number muted" dateTime={new Date(r.at).toISOString()}>{format.dateTime(r.at, { timeStyle: "medium" })}</time>
        <span><Badge tone={tones[r.kind]}>{t(r.expired ? "tail.expired" : `tail.${r.kind}`)}</Badge></span>
        <span class="tail-key">{keys.map((k) => <KeyText key={k} value={r.keys[k]} />)}</span>
        <span class="tail-brief clip">
          {changes ? changes.slice(0, inLine).map((c) => <Brief key={c.path} change={c} />) : image && rest.slice(0, inLine).map((name) => <span key={name} class="tail-change"><span class="muted">{name}</span> <Cell value={image[name]} /></span>)}
          {(changes ?? rest).length > inLine && <span class="muted">+{(changes ?? rest).length - inLine}</span>}
        </span>
      </summary>
      {open && (
        <div class="stack tail-detail">
          {changes ? <Changes changes={changes} /> : image ? <Attributes item={image} keys={keys} /> : <p class="muted">{t("tail.noImage")}</p>}
          <div class="row small muted">
            <span>{format.dateTime(r.at, { dateStyle: "medium", timeStyle: "medium" })}</span><code class="tail-sequence">{r.sequence}</code>
            {r.kind !== "REMOVE" && <a href={link("/tables/:table", { table, item: JSON.stringify(r.keys) })}>{t("tail.open")}</a>}
          </div>
        </div>
      )}
    </details>
  );
}

function Brief({ change: c }: { change: Change }) {
  return (
    <span class="tail-change">
      <span class="muted">{c.path}</span>{" "}
      {c.before && <del class="value">{short(c.before).slice(0, 40) || "∅"}</del>}
      {c.before && c.after && <Icon of={ArrowRight} size={12} />}
      {c.after && <ins class="value">{short(c.after).slice(0, 40) || "∅"}</ins>}
    </span>
  );
}
