// Items by partition, in the order of the sort key, so entities of a partition are interleaved.
import { Layers } from "lucide";
import { Icon, Problem, Skeleton } from "#ui";
import { Chunk, chunks } from "./chunk.tsx";
import { type Design, type Meaning, designOf, entityMark, useMeanings } from "./design.ts";
import { EntityName, KeyChip } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { Cell, KeyText } from "./show.tsx";
import { type Item, brief, kindOf } from "./value.ts";
import { t } from "./words.ts";

const glyphs = ["●", "■", "▲", "◆", "★", "⬟", "✚", "○"];
const summaryOf = 4; // attributes that a row shows next to its key
const entryHeight = 35; // in pixels, until a row has been rendered

interface CollectionProps {
  table: string;
  index: string;
  items: readonly Item[];
  keys: readonly string[];
  /** How many of the keys identify the partition. */
  partition: number;
  open: (item: Item) => string;
}

/** An item's entity: by the design if the table has one, otherwise by its type attribute or the words of its key. */
interface KindOf { id: string; meaning?: Meaning }

export function Collection({ table, index, items, keys, partition, open }: CollectionProps) {
  const design = designOf(table);
  const meanings = useMeanings(table, index, items);
  const pks = keys.slice(0, partition);
  const sk = keys[partition];
  if (meanings instanceof Problem) return <Fault problem={meanings} />;
  if (design && !meanings) {
    return <div aria-busy="true"><Skeleton lines={8} /></div>;
  }
  const found = new Map(items.map((item, n): [Item, KindOf] => {
    const meaning = meanings?.[n];
    return [item, design ? { id: `${meaning?.entity ?? ""}.${meaning?.place ?? ""}`, meaning: meaning ?? {} } : { id: kindOf(item, keys) }];
  }));
  const kindAt = (item: Item): KindOf => found.get(item) ?? { id: "" };
  const kinds = [...new Map(items.map((i) => [kindAt(i).id, kindAt(i)])).values()];
  const ids = kinds.map((k) => k.id);
  const partitions: { text: string; items: Item[] }[] = [];
  const at = new Map<string, number>();
  for (const item of items) { // a scan can return to a partition only on another page
    const text = JSON.stringify(pks.map((k) => item[k]));
    const known = at.get(text);
    if (known === undefined) {
      at.set(text, partitions.length);
      partitions.push({ text, items: [item] });
    } else {
      partitions[known]?.items.push(item);
    }
  }
  const entry = (item: Item) => {
    const kind = kindAt(item);
    const rest = Object.keys(item).filter((name) => !keys.includes(name) && !/^(GSI|LSI)\d/i.test(name) && !("S" in (item[name] ?? {}) && brief(item[name] ?? { S: "" }, 40) === kind.id));
    const secrets = secretsOf(design, kind.meaning);
    const segments = sk !== undefined ? kind.meaning?.keys?.[sk] : undefined;
    const depth = sk !== undefined && item[sk] && "S" in item[sk] ? Math.min(3, Math.max(0, Math.floor((item[sk].S.split("#").length - 1) / 2))) : 0;
    return (
      <a class="entry" href={open(item)} style={{ "--kind": design ? entityMark(design, kind.meaning?.entity).colour : colour(ids, kind.id), "--depth": String(depth) }}>
        <Kind kind={kind} kinds={ids} design={design} />
        {sk !== undefined && <span class="entry-key">{design && segments ? <KeyChip design={design} segments={segments} /> : <KeyText value={item[sk]} />}</span>}
        <span class="entry-rest">{rest.slice(0, summaryOf).map((name) => <span key={name} class="entry-part"><span class="muted">{name}</span> {secrets.has(name) ? <span class="muted">•••</span> : <Cell value={item[name]} />}</span>)}{rest.length > summaryOf && <span class="muted">+{rest.length - summaryOf}</span>}</span>
      </a>
    );
  };
  return (
    <div class="stack">
      {kinds.length > 1 && (
        <ul class="row kinds" aria-label={t("kinds")}>
          {kinds.map((k) => <li key={k.id}><Kind kind={k} kinds={ids} design={design} /><span class="muted small number">{items.filter((i) => kindAt(i).id === k.id).length}</span></li>)}
        </ul>
      )}
      {partitions.map((p, place) => (
        <section class="partition" key={p.text} aria-label={pks.map((k) => (p.items[0]?.[k] ? brief(p.items[0][k], 200) : "")).join(" ")}>
          <h2 class="partition-head"><Icon of={Layers} size={15} />{pks.map((k) => <KeyText key={k} value={p.items[0]?.[k]} />)}<span class="muted small">{t("cost.items", { n: p.items.length })}</span></h2>
          {chunks(p.items).map((part, at) => (
            <Chunk key={at} first={place === 0 && at === 0} height={part.length * entryHeight}>
              {() => <ul class="partition-items">{part.map((item, n) => <li key={n}>{entry(item)}</li>)}</ul>}
            </Chunk>
          ))}
        </section>
      ))}
    </div>
  );
}

function colour(kinds: readonly string[], kind: string): string {
  return `var(--kind-${(kinds.indexOf(kind) % glyphs.length) + 1})`;
}

/** The attributes of an item whose values are not shown. */
function secretsOf(design: Design | undefined, meaning: Meaning | undefined): ReadonlySet<string> {
  const entity = design?.entities.find((e) => e.name === meaning?.entity);
  return new Set(entity?.fields.filter((f) => f.kind === "secret").flatMap((f) => f.path.slice(0, 1)));
}

function Kind({ kind, kinds, design }: { kind: KindOf; kinds: readonly string[]; design: Design | undefined }) {
  if (design) {
    return <EntityName design={design} entity={kind.meaning?.entity} place={kind.meaning?.place} />;
  }
  return <span class="kind" style={{ "--kind": colour(kinds, kind.id) }}><span aria-hidden="true">{glyphs[kinds.indexOf(kind.id) % glyphs.length]}</span>{kind.id || t("kind.none")}</span>;
}
