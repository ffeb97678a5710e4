// The map of a table: the entities in the table and in each index, with counts and sizes, and the largest partitions.
import { Play, Square } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge, Button, Problem, Progress, Select, Stat, format, link, useTitle } from "#ui";
import { askDesign, onAWS, served } from "./api.ts";
import { choice } from "./asked.ts";
import { type Design, type DesignPlace, type Entity } from "./design.ts";
import { EntityName, TemplateChip } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { HotKeys } from "./hot-keys.tsx";
import { Designed } from "./patterns.tsx";
import { keyAddress } from "./query.ts";
import { type Table, indexesOf, keyNames, keysFor } from "./schema.ts";
import { bytes } from "./show.tsx";
import { Sidebar } from "./tables.tsx";
import { t } from "./words.ts";

interface Kind { entity: string; place: string; index?: string; items: number; bytes: number; samples: Record<string, string>[] }
interface Partition { index?: string; key: string; items: number; bytes: number }
interface Chart { items: number; bytes: number; kinds: Kind[]; partitions: Partition[] }

const limits = ["1000", "10000", "100000"] as const;
const samplesMax = 3;
const shownPartitions = 8;

/** Adds up the charts of parts of a table. */
class Sum {
  items = 0;
  bytes = 0;
  units = 0;
  readonly kinds = new Map<string, Kind>();
  readonly partitions = new Map<string, Partition>();

  /** A new object with the same maps, so that views notice the change. */
  copy(): Sum {
    return Object.assign(new Sum(), this);
  }

  add(c: Chart, units: number): void {
    this.items += c.items;
    this.bytes += c.bytes;
    this.units += units;
    for (const k of c.kinds) {
      const id = JSON.stringify([k.index, k.entity, k.place]);
      const known = this.kinds.get(id);
      this.kinds.set(id, known ? { ...known, items: known.items + k.items, bytes: known.bytes + k.bytes, samples: [...known.samples, ...k.samples].slice(0, samplesMax) } : k);
    }
    for (const p of c.partitions) {
      const id = JSON.stringify([p.index, p.key]);
      const known = this.partitions.get(id);
      this.partitions.set(id, known ? { ...known, items: known.items + p.items, bytes: known.bytes + p.bytes } : p);
    }
  }
}

export function MapPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("design.map")}`);
  return <Designed name={name} side={() => <Sidebar table={name} />}>{(design, table) => <TableMap key={name} design={design} table={table} />}</Designed>;
}

function TableMap({ design, table }: { design: Design; table: Table }) {
  const name = table.description.TableName;
  const [limit, setLimit] = choice("limit", limits, "1000");
  const [state, set] = useState<{ sum: Sum; done: boolean; running: boolean; problem?: Problem }>({ sum: new Sum(), done: false, running: false });
  const running = useRef<AbortController | null>(null);
  const run = async (most: number) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    let sum = new Sum();
    set({ sum, done: false, running: true });
    try {
      let start: unknown = null;
      do {
        sum = sum.copy();
        const page: { chart: Chart; next: unknown; units: number } = await askDesign("chart", { table: name, start }, mine.signal);
        if (mine.signal.aborted) return;
        sum.add(page.chart, page.units);
        start = page.next;
        set({ sum, done: !start, running: Boolean(start) && sum.items < most });
      } while (start && sum.items < most);
    } catch (thrown) {
      if (!mine.signal.aborted) set({ sum, done: false, running: false, problem: Problem.of(thrown) });
    }
  };
  const stop = () => { running.current?.abort(); set((s) => ({ ...s, running: false })); };
  useEffect(() => {
    if (!onAWS) void run(Number(limit)); // where reading is free
    return () => running.current?.abort();
  }, []);
  const { sum } = state;
  const total = Math.max(table.description.ItemCount ?? 0, sum.items);
  const unknown = [...sum.kinds.values()].filter((k) => k.entity === "" && !k.index).reduce((n, k) => n + k.items, 0);
  return (
    <div class="stack map">
      <form class="row map-bar" onSubmit={(e) => { e.preventDefault(); void run(Number(limit)); }}>
        <Select label={t("map.limit")} value={limit} onInput={setLimit} choices={limits.map((l) => ({ value: l, label: t("map.items", { n: Number(l) }) }))} />
        {state.running ? <Button icon={Square} onPress={stop}>{t("map.stop")}</Button> : <Button kind="primary" icon={Play} type="submit">{t("map.count")}</Button>}
        <p class="muted small grow" role="status">{sum.items === 0 && !state.running ? t("map.notYet") : t(state.done ? "map.all" : "map.some", { n: sum.items, total, units: sum.units })}</p>
      </form>
      {state.running && <Progress label={t("map.count")} value={sum.items} max={Math.min(Number(limit), Math.max(total, 1))} />}
      {state.problem && <Fault problem={state.problem} />}
      <div class="grid stats-row">
        <Stat label={t("table.items")} value={format.number(sum.items)} note={bytes(sum.bytes)} />
        <Stat label={t("map.partitions")} value={format.number([...sum.partitions.values()].filter((p) => !p.index).length)} />
        <Stat label={t("design.unknown")} value={format.number(unknown)} note={t("map.unknownNote")} />
      </div>
      <Where design={design} table={table} sum={sum} index="" />
      {indexesOf(table.description).map((i) => <Where key={i.IndexName} design={design} table={table} sum={sum} index={i.IndexName} />)}
      {served.value.metrics && <HotKeys table={name} />}
    </div>
  );
}

interface Row { entity: Entity | undefined; place: DesignPlace | undefined; kind: Kind | undefined }

/** The entities in the table or in one index: their key templates from the design, with actual figures. */
function Where({ design, table, sum, index }: { design: Design; table: Table; sum: Sum; index: string }) {
  const name = table.description.TableName;
  const keys = keysFor(table.description, index);
  const counted = [...sum.kinds.values()].filter((k) => (k.index ?? "") === index);
  const rows: Row[] = design.entities.filter((e) => e.table === design.of).flatMap((entity) => entity.places
    .filter((p) => (index === "" ? p.kind !== "entry" : p.index === index))
    .map((place) => ({ entity, place, kind: counted.find((k) => k.entity === entity.name && (index !== "" || k.place === place.name)) })));
  const others = counted.filter((k) => !rows.some((r) => r.kind === k));
  const all: Row[] = [...rows, ...others.map((kind) => ({ entity: design.entities.find((e) => e.name === kind.entity), place: undefined, kind }))];
  const most = Math.max(1, ...counted.map((k) => k.items));
  const partitions = [...sum.partitions.values()].filter((p) => (p.index ?? "") === index).sort((a, b) => b.bytes - a.bytes).slice(0, shownPartitions);
  const heaviest = partitions[0]?.bytes ?? 1;
  const title = index === "" ? t("of.table") : index;
  return (
    <div class="stack map-part">
      <h2 class="part">{title} <code class="muted small">{keyNames(keys).join(" · ")}</code></h2>
      <div class="table-box grid-box map-box" role="region" aria-label={t("map.entities", { where: title })} tabIndex={0}>
        <table class="table data-grid map-grid">
          <caption class="hidden-visually">{t("map.entities", { where: title })}</caption>
          <thead><tr><th scope="col">{t("design.entity")}</th>{keyNames(keys).map((k) => <th key={k} scope="col">{k}</th>)}<th scope="col" class="numeric">{t("table.items")}</th><th scope="col" class="numeric">{t("map.average")}</th><th scope="col">{t("map.samples")}</th></tr></thead>
          <tbody>
            {all.map((r, n) => (
              <tr key={n} class={r.kind ? undefined : "map-empty"}>
                <td><EntityName design={design} entity={r.entity?.name} place={r.place?.kind === "entry" ? undefined : r.place?.name ?? r.kind?.place} />{r.place?.where && <Badge plain>{t("map.where", { condition: r.place.where })}</Badge>}</td>
                {keyNames(keys).map((k) => <td key={k}>{template(design, r, k)}</td>)}
                <td class="numeric"><span class="map-count" style={{ "--part": String((r.kind?.items ?? 0) / most) }}>{format.number(r.kind?.items ?? 0)}</span></td>
                <td class="numeric">{r.kind ? bytes(Math.round(r.kind.bytes / r.kind.items)) : "–"}{r.entity?.size !== undefined && r.place?.kind === "key" && <span class="muted small"> / {bytes(r.entity.size)}</span>}</td>
                <td class="map-samples">{(r.kind?.samples ?? []).map((s, i) => <a key={i} href={link("/tables/:table", { table: name, index, ...keyAddress(keys, (k) => s[k]), view: "entities" } as Record<string, string | undefined>)}><code>{Object.values(s).join(" · ")}</code></a>)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {partitions.length > 0 && (
        <details class="why" open={index === ""}>
          <summary>{t("map.largest")}</summary>
          <ol class="partitions">
            {partitions.map((p) => (
              <li key={p.key}>{keys.pks.length > 1 ? <code class="clip">{p.key}</code> : <a href={link("/tables/:table", { table: name, index, pk: p.key, view: "entities" })}><code class="clip">{p.key}</code></a>}<span class="bar" aria-hidden="true" style={{ "--part": String(p.bytes / heaviest) }} /><span class="number small muted">{t("map.partition", { n: p.items, size: bytes(p.bytes) })}</span></li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function template(design: Design, r: Row, attribute: string) {
  const key = r.place?.keys.find((k) => k.attribute === attribute);
  return key ? <TemplateChip design={design} template={key} /> : <span class="absent">–</span>;
}
