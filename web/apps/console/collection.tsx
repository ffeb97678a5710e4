// Items as they lie in their partitions: one partition after the other, its kinds of items interleaved by the sort key.
import { Layers } from "lucide";
import { Icon } from "#ui";
import { Cell, KeyText } from "./show.tsx";
import { type Item, brief, kindOf } from "./value.ts";
import { t } from "./words.ts";

const glyphs = ["●", "■", "▲", "◆", "★", "⬟", "✚", "○"];
const summaryOf = 4; // attributes that a row shows beside its key

export function Collection({ items, keys, open }: { items: readonly Item[]; keys: readonly string[]; open: (item: Item) => string }) {
  const [pk = "", sk] = keys;
  const kinds = [...new Set(items.map((i) => kindOf(i, keys)))];
  const partitions: { key: Item[string] | undefined; text: string; items: Item[] }[] = [];
  const at = new Map<string, number>();
  for (const item of items) { // a scan may come back to a partition on another page only
    const text = item[pk] ? JSON.stringify(item[pk]) : "";
    const known = at.get(text);
    if (known === undefined) {
      at.set(text, partitions.length);
      partitions.push({ key: item[pk], text, items: [item] });
    } else {
      partitions[known]?.items.push(item);
    }
  }
  return (
    <div class="stack">
      {kinds.length > 1 && (
        <ul class="row kinds" aria-label={t("kinds")}>
          {kinds.map((k) => <li key={k}><Kind kind={k} kinds={kinds} /><span class="muted small number">{items.filter((i) => kindOf(i, keys) === k).length}</span></li>)}
        </ul>
      )}
      {partitions.map((p) => (
        <section class="partition" key={p.text} aria-label={p.key ? brief(p.key, 200) : ""}>
          <h2 class="partition-head"><Icon of={Layers} size={15} /><KeyText value={p.key} /><span class="muted small">{t("cost.items", { n: p.items.length })}</span></h2>
          <ul class="partition-items">
            {p.items.map((item, n) => {
              const kind = kindOf(item, keys);
              const rest = Object.keys(item).filter((name) => !keys.includes(name) && !/^(GSI|LSI)\d/i.test(name) && !("S" in (item[name] ?? {}) && brief(item[name] ?? { S: "" }, 40) === kind));
              const depth = sk !== undefined && item[sk] && "S" in item[sk] ? Math.min(3, Math.max(0, Math.floor((item[sk].S.split("#").length - 1) / 2))) : 0;
              return (
                <li key={n}>
                  <a class="entry" href={open(item)} style={{ "--kind": colour(kinds, kind), "--depth": String(depth) }}>
                    <Kind kind={kind} kinds={kinds} />
                    {sk !== undefined && <span class="entry-key"><KeyText value={item[sk]} /></span>}
                    <span class="entry-rest">{rest.slice(0, summaryOf).map((name) => <span key={name} class="entry-part"><span class="muted">{name}</span> <Cell value={item[name]} /></span>)}{rest.length > summaryOf && <span class="muted">+{rest.length - summaryOf}</span>}</span>
                  </a>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

function colour(kinds: readonly string[], kind: string): string {
  return `var(--kind-${(kinds.indexOf(kind) % glyphs.length) + 1})`;
}

function Kind({ kind, kinds }: { kind: string; kinds: readonly string[] }) {
  return <span class="kind" style={{ "--kind": colour(kinds, kind) }}><span aria-hidden="true">{glyphs[kinds.indexOf(kind) % glyphs.length]}</span>{kind || t("kind.none")}</span>;
}
