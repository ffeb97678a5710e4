// Items by the entities of the design: one table per entity, with its fields.
import { Problem, Skeleton } from "#ui";
import { type Design, type Meaning, designOf, fieldOf, useMeanings } from "./design.ts";
import { EntityName, KeyChip } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { Cell, KeyText } from "./show.tsx";
import type { Item } from "./value.ts";
import { widthOf } from "./widths.ts";
import { t } from "./words.ts";

const columnsMax = 8; // fields next to the key

interface EntitiesProps {
  table: string;
  index: string;
  items: readonly Item[];
  /** The key attributes, shown first: the table's or the index's. */
  keys: readonly string[];
  open: (item: Item) => string;
}

export function Entities({ table, index, items, keys, open }: EntitiesProps) {
  const design = designOf(table);
  const meanings = useMeanings(table, index, items);
  if (meanings instanceof Problem) return <Fault problem={meanings} />;
  if (!design || !meanings) {
    return <div aria-busy="true"><Skeleton lines={8} /></div>;
  }
  const groups = new Map<string, { meaning: Meaning; rows: { item: Item; meaning: Meaning }[] }>();
  for (const [n, item] of items.entries()) {
    const meaning = meanings[n] ?? {};
    const id = `${meaning.entity ?? ""}.${meaning.place ?? ""}`;
    const group = groups.get(id) ?? { meaning, rows: [] };
    group.rows.push({ item, meaning });
    groups.set(id, group);
  }
  const rank = (m: Meaning) => { const n = design.entities.findIndex((e) => e.name === m.entity); return n < 0 ? design.entities.length : n; };
  const sorted = [...groups.entries()].sort(([, a], [, b]) => rank(a.meaning) - rank(b.meaning) || Number(b.meaning.place === "key") - Number(a.meaning.place === "key"));
  return <div class="stack entities">{sorted.map(([id, g]) => <Group key={id} design={design} meaning={g.meaning} rows={g.rows} keys={keys} open={open} />)}</div>;
}

function Group({ design, meaning, rows, keys, open }: { design: Design; meaning: Meaning; rows: readonly { item: Item; meaning: Meaning }[]; keys: readonly string[]; open: (item: Item) => string }) {
  const entity = design.entities.find((e) => e.name === meaning.entity);
  const inKeys = new Set(rows.flatMap((r) => keys.flatMap((k) => (r.meaning.keys?.[k] ?? []).flatMap((s) => (s.field ? [s.field] : [])))));
  const fields = (entity?.fields ?? []).filter((f) => !inKeys.has(f.name) && rows.some((r) => fieldOf(r.item, f))).slice(0, columnsMax);
  const widths = [...keys.map((k) => widthOf(k.length, rows.map((r) => r.item[k]))),
    ...fields.map((f) => widthOf(f.name.length + f.type.length + 1, rows.map((r) => (f.kind === "secret" ? undefined : fieldOf(r.item, f)))))];
  const name = meaning.entity ? `${meaning.entity}${meaning.place && meaning.place !== "key" ? ` ${meaning.place}` : ""}` : t("design.unknown");
  return (
    <div class="entity-group">
      <h2 class="entity-head"><EntityName design={design} entity={meaning.entity} place={meaning.place} /><span class="muted small">{t("cost.items", { n: rows.length })}</span>{(entity?.doc ?? "") !== "" && <span class="muted small clip entity-doc">{entity?.doc}</span>}{!entity && <span class="muted small clip entity-doc">{t("design.unknownText")}</span>}</h2>
      <div class="table-box grid-box" role="region" aria-label={name} tabIndex={0}>
        <table class="table data-grid" style={{ minWidth: `${widths.reduce((a, b) => a + b, 0)}px` }}>
          <caption class="hidden-visually">{name}</caption>
          <colgroup>{widths.map((w, n) => <col key={n} style={{ width: `${w}px` }} />)}</colgroup>
          <thead><tr>{keys.map((k) => <th key={k} scope="col">{k}</th>)}{fields.map((f) => <th key={f.name} scope="col" title={f.doc}>{f.name} <span class="field-type">{f.type}</span></th>)}</tr></thead>
          <tbody>
            {rows.map(({ item, meaning: m }, n) => (
              <tr key={n}>
                {keys.map((k, at) => {
                  const segments = m.keys?.[k];
                  const shown = segments ? <KeyChip design={design} segments={segments} /> : <KeyText value={item[k]} />;
                  return <td key={k}>{at === 0 ? <a class="open" href={open(item)}>{shown}</a> : shown}</td>;
                })}
                {fields.map((f) => <td key={f.name}>{f.kind === "secret" ? <span class="muted">•••</span> : <Cell value={fieldOf(item, f)} />}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
