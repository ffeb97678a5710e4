// One item by the design: its entity, its keys explained part by part, its fields, and related items.
import { ArrowRight, SearchX, Workflow } from "lucide";
import { Empty, Icon, Problem, Skeleton, link } from "#ui";
import { type Design, type Link, type Meaning as Meant, designOf, fieldColour, fieldOf, useMeanings } from "./design.ts";
import { EntityName, KeyChip, TemplateChip } from "./design-bits.tsx";
import { Fault } from "./fault.tsx";
import { Whole } from "./show.tsx";
import { type Item, short } from "./value.ts";
import { t } from "./words.ts";

export function Meaning({ table, item }: { table: string; item: Item }) {
  const design = designOf(table);
  const meanings = useMeanings(table, "", [item]);
  if (meanings instanceof Problem) return <Fault problem={meanings} />;
  const meaning = meanings?.[0];
  if (!design || !meaning) {
    return <div aria-busy="true"><Skeleton lines={6} /></div>;
  }
  const entity = design.entities.find((e) => e.name === meaning.entity);
  if (!entity) {
    return <Empty level={3} icon={SearchX} title={t("design.unknown")}>{t("design.unknownText")}</Empty>;
  }
  const links = meaning.links ?? [];
  return (
    <div class="stack meaning">
      <div class="stack" style={{ "--gap": "var(--space-1)" }}>
        <h3 class="meaning-name"><EntityName design={design} entity={meaning.entity} place={meaning.place} /></h3>
        {entity.doc && <p class="muted">{entity.doc}</p>}
      </div>
      <KeysExplained design={design} meaning={meaning} item={item} />
      {links.length > 0 && (
        <section class="stack" style={{ "--gap": "var(--space-2)" }}>
          <h4>{t("design.leads")}</h4>
          <ul class="leads">{links.map((l, n) => <li key={n}><Lead design={design} to={l} /></li>)}</ul>
        </section>
      )}
      <section class="stack" style={{ "--gap": "var(--space-2)" }}>
        <h4>{t("design.fields")}</h4>
        <dl class="attributes">
          {entity.fields.map((f) => {
            const value = fieldOf(item, f);
            return (value || !f.optional) && (
              <div key={f.name} class="line">
                <dt><span class="line-name">{f.name}</span><span class="field-type">{f.type}</span></dt>
                <dd>{value ? f.kind === "secret" ? <span class="muted">•••</span> : <Whole value={value} /> : <span class="muted">{t("design.fieldMissing")}</span>}{f.doc && <p class="muted small">{f.doc}</p>}</dd>
              </div>
            );
          })}
        </dl>
      </section>
    </div>
  );
}

function KeysExplained({ design, meaning, item }: { design: Design; meaning: Meant; item: Item }) {
  const entity = design.entities.find((e) => e.name === meaning.entity);
  const places = (entity?.places ?? []).filter((p) => p.keys.every((k) => item[k.attribute] !== undefined) && (p.kind === "entry" ? meaning.entries?.includes(p.index ?? "") : p.name === meaning.place));
  return (
    <section class="stack" style={{ "--gap": "var(--space-2)" }}>
      <h4>{t("design.keys")}</h4>
      {places.map((p) => (
        <div key={p.name} class="key-explained">
          <p class="muted small">{p.index ? t("design.inIndex", { index: p.index }) : t("design.inTable")}</p>
          <dl>
            {p.keys.map((k) => {
              const segments = meaning.keys?.[k.attribute] ?? [];
              return (
                <div key={k.attribute} class="key-line">
                  <dt><code>{k.attribute}</code></dt>
                  <dd>
                    <KeyChip design={design} segments={segments} />
                    <p class="small muted key-made">{t("design.madeOf")} <TemplateChip design={design} template={k} /></p>
                    <ul class="key-parts">
                      {segments.filter((s) => s.field).map((s, n) => <li key={n} style={{ "--part": fieldColour(design, s.field ?? "") }}><span class="key-part">{s.field}</span> <span class="value S">{s.text}</span></li>)}
                    </ul>
                  </dd>
                </div>
              );
            })}
          </dl>
        </div>
      ))}
    </section>
  );
}

function Lead({ design, to }: { design: Design; to: Link }) {
  if (to.pattern) {
    return (
      <a class="lead" href={link("/tables/:table/patterns/:pattern", { table: design.own[design.of] ?? "", pattern: to.pattern, with: JSON.stringify(to.arguments ?? {}), run: "1" })}>
        <Icon of={Workflow} size={15} /><strong>{to.pattern}</strong><span class="muted small clip">{Object.entries(to.arguments ?? {}).map(([k, v]) => `${k} = ${String(v)}`).join(", ")}</span>
      </a>
    );
  }
  return (
    <a class="lead" href={link("/tables/:table", { table: design.own[to.table ?? ""] ?? "", item: JSON.stringify(to.key ?? {}) })}>
      <Icon of={ArrowRight} size={15} /><EntityName design={design} entity={to.entity} /><span class="muted small clip mono-text">{Object.values(to.key ?? {}).map(short).join(" · ")}</span>
    </a>
  );
}
