// The checks of a table's design: its items are compared with it, and its writes run in every order.
import { CircleCheck, Play, Square } from "lucide";
import { useEffect } from "preact/hooks";
import { Badge, Button, Icon, Notice, Progress, Select, Stat, format, language, link, useTitle } from "#ui";
import { askWork, onAWS } from "./api.ts";
import { choice } from "./asked.ts";
import { type Design } from "./design.ts";
import { EntityName } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { Designed } from "./patterns.tsx";
import { type Table } from "./schema.ts";
import { Races } from "./races.tsx";
import { Sidebar } from "./tables.tsx";
import { type Item, brief } from "./value.ts";
import { useWork } from "./work.ts";
import { t } from "./words.ts";

type Kind = "unknown" | "value" | "key" | "index-missing" | "index-stale" | "index-unwanted" | "copy-missing" | "copy-orphan" | "copy-diverged" | "marker-missing" | "marker-orphan" | "marker-foreign" | "count" | "person";
interface Nonconforming { kind: Kind; subject: string; items: number; examples: { key: Item; message: string }[] }
interface Compared { items: number; expired: number; findings: Nonconforming[]; cut: boolean; units: number }
interface Reading { pass: number; items: number; units: number }

const limits = ["1000", "10000", "100000", "1000000"] as const;

export function ChecksPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("design.checks")}`);
  return <Designed name={name} side={() => <Sidebar table={name} />}>{(design, table) => <div key={`${name} ${language.value}`} class="stack checks"><Conform design={design} table={table} /><Races design={design} table={table} /></div>}</Designed>;
}

function Conform({ design, table }: { design: Design; table: Table }) {
  const name = table.description.TableName;
  const [limit, setLimit] = choice("limit", limits, "10000");
  const work = useWork<Compared, Reading>((onProgress, abort) => askWork("conform", { table: name, limit: Number(limit) }, onProgress, abort));
  useEffect(() => { if (!onAWS) work.run(); }, []); // where reading is free
  const { done, progress } = work;
  const wrong = done?.findings.reduce((n, f) => n + f.items, 0) ?? 0;
  const total = Math.max(table.description.ItemCount ?? 0, progress?.items ?? 0, 1);
  return (
    <section class="stack" aria-label={t("conform")}>
      <h2 class="part">{t("conform")}</h2>
      <p class="muted reading">{t("conform.text")}</p>
      <form class="row map-bar" onSubmit={(e) => { e.preventDefault(); work.run(); }}>
        <Select label={t("conform.limit")} value={limit} onInput={setLimit} choices={limits.map((l) => ({ value: l, label: t("map.items", { n: Number(l) }) }))} />
        {work.running ? <Button icon={Square} onPress={work.stop}>{t("map.stop")}</Button> : <Button kind="primary" icon={Play} type="submit">{t("conform.run")}</Button>}
        <p class="muted small grow" role="status">{work.running ? t((progress?.pass ?? 1) > 1 ? "conform.again" : "conform.reading", { n: progress?.items ?? 0 }) : done ? t(done.cut ? "conform.some" : "conform.all", { n: done.items, units: done.units }) : t("conform.notYet")}</p>
      </form>
      {work.running && <Progress label={t("conform.run")} value={progress?.items ?? 0} max={Math.min(Number(limit), total)} />}
      {work.problem && <Fault problem={work.problem} />}
      {done && (
        <>
          <div class="grid stats-row">
            <Stat label={t("conform.read")} value={format.number(done.items)} note={done.expired > 0 ? t("conform.expired", { n: done.expired }) : ""} />
            <Stat label={t("conform.wrong")} value={format.number(wrong)} note={t("conform.kinds", { n: done.findings.length })} />
          </div>
          {done.cut && <Notice tone="info">{t("conform.cut")}</Notice>}
          {done.findings.length === 0 ? <p class="row good"><Icon of={CircleCheck} size={18} />{t("conform.none")}</p>
            : <ul class="nonconforming">{done.findings.map((f) => <li key={`${f.kind} ${f.subject}`}><Wrong design={design} table={name} finding={f} /></li>)}</ul>}
        </>
      )}
    </section>
  );
}

/** Items that do not conform in the same way. */
function Wrong({ design, table, finding: f }: { design: Design; table: string; finding: Nonconforming }) {
  const [entity, ...rest] = f.subject.split(".");
  const known = design.entities.some((e) => e.name === entity);
  return (
    <details class="wrong" open={f.items <= 3}>
      <summary><span class="wrong-kind">{t(`conform.${f.kind}`)}</span> {known && <EntityName design={design} entity={entity} />}{rest.length > 0 && <code>{rest.join(".")}</code>} <Badge tone="warning">{t("cost.items", { n: f.items })}</Badge></summary>
      <ul class="wrong-items">
        {f.examples.map((e, n) => (
          <li key={n}>
            <a href={link("/tables/:table", { table, view: "entities", item: JSON.stringify(e.key) })}><code>{Object.values(e.key).map((v) => brief(v, 200)).join(" · ")}</code></a>
            <span class="small">{e.message}</span>
          </li>
        ))}
      </ul>
      {f.items > f.examples.length && <p class="muted small">{t("conform.more", { n: f.items - f.examples.length })}</p>}
    </details>
  );
}
