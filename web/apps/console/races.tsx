// The races of a design: its writes run in every order, with violations as sequence diagrams.
import { CircleCheck, CircleX, Play, Square } from "lucide";
import { Badge, Button, Icon, Notice, format, link } from "#ui";
import { askWork } from "./api.ts";
import type { Design, Finding } from "./design.ts";
import { Fault } from "./fault.tsx";
import type { Table } from "./schema.ts";
import { Sequence, type Step } from "./sequence.tsx";
import { t } from "./words.ts";
import { useWork } from "./work.ts";

interface Broken extends Finding { invariant: string; steps: Step[]; items: string[] }
interface Race {
  name: string;
  doc?: string;
  default?: boolean;
  processes: { name: string; call: string; ends: string[] | null }[];
  crash?: boolean;
  stale?: boolean;
  expire?: boolean;
  states: number;
  orders?: string;
  bound?: string;
  skipped?: string;
  findings: Broken[];
}
interface Explored { invariants: number; races: Race[] }
interface Exploring { race: string; states: number; bound: number }

export function Races({ design, table }: { design: Design; table: Table }) {
  const work = useWork<Explored, Exploring>((onProgress, abort) => askWork("races", { table: table.description.TableName }, onProgress, abort));
  const { done, progress } = work;
  return (
    <section class="stack" aria-label={t("races")}>
      <h2 class="part">{t("races")}</h2>
      <p class="muted reading">{t("races.text")}</p>
      <div class="row map-bar">
        {work.running ? <Button icon={Square} onPress={work.stop}>{t("map.stop")}</Button> : <Button kind="primary" icon={Play} onPress={work.run}>{t("races.run")}</Button>}
        <p class="muted small grow" role="status">{work.running ? (progress ? t("races.exploring", { race: progress.race, n: progress.states }) : t("races.begun")) : done ? t("races.explored", { races: done.races.length, broken: done.races.reduce((n, r) => n + r.findings.filter((f) => f.accepted === undefined).length, 0) }) : ""}</p>
      </div>
      {work.problem && <Fault problem={work.problem} />}
      {done && done.races.length === 0 && <p class="muted">{t("races.none")}</p>}
      {done && <ul class="races">{done.races.map((r) => <li key={r.name}><RaceCard design={design} table={table.description.TableName} race={r} /></li>)}</ul>}
    </section>
  );
}

function RaceCard({ design, table, race: r }: { design: Design; table: string; race: Race }) {
  const holds = r.findings.length === 0 && !r.skipped;
  return (
    <details class="race" open={!holds && !r.skipped}>
      <summary>
        <Icon of={holds || r.skipped ? CircleCheck : CircleX} size={16} /><strong class="race-name">{r.name}</strong>
        {r.skipped ? <Badge plain>{t("races.skipped")}</Badge> : holds ? <Badge tone="success">{t("races.holds")}</Badge> : <Badge tone="danger">{t("races.broken", { n: r.findings.length })}</Badge>}
        {r.crash && <Badge plain>{t("races.crash")}</Badge>}{r.stale && <Badge plain>{t("races.stale")}</Badge>}{r.expire && <Badge plain>{t("races.expire")}</Badge>}
        <span class="muted small">{t("races.states", { n: r.states })}{r.orders ? ` · ${t("races.orders", { n: orders(r.orders) })}` : ""}</span>
      </summary>
      <div class="stack race-body">
        {r.doc && <p>{r.doc}</p>}
        {r.skipped && <p class="muted">{r.skipped}</p>}
        {r.bound && <Notice tone="info">{t("races.bound", { bound: r.bound })}</Notice>}
        <ul class="race-processes">{r.processes.map((p) => <li key={p.name}><strong>{p.name}</strong> <code>{p.call}</code>{(p.ends ?? []).length > 0 && <span class="muted small"> → {(p.ends ?? []).join(", ")}</span>}</li>)}</ul>
        {r.findings.map((f, n) => (
          <figure key={n} class="race-finding">
            <figcaption><code>{f.rule}</code> {f.message}{f.accepted !== undefined && <Badge plain>{t("races.accepted")}</Badge>}</figcaption>
            <Sequence label={f.message} processes={r.processes.map((p) => p.name)} steps={f.steps} broken={f.invariant || f.rule} items={f.items} />
            <p class="muted small">{t("races.patterns")} {f.subject.split("+").map((p, i) => <span key={p}>{i > 0 && ", "}{design.patterns.some((x) => x.name === p) ? <a href={link("/tables/:table/patterns/:pattern", { table, pattern: p })}>{p}</a> : p}</span>)}{f.accepted !== undefined && <> · {f.accepted}</>}</p>
          </figure>
        ))}
      </div>
    </details>
  );
}

/** A number of orders, which may exceed JavaScript's precision. */
function orders(n: string): string {
  return n.length > 15 ? `10^${n.length - 1}` : format.number(Number(n)); // 15 digits are exact
}
