// What a design looks like wherever it is shown: keys part by part, entities, findings, and the ways between its views.
import { CircleX, Info, Map as MapIcon, Rows3, TriangleAlert, Workflow } from "lucide";
import { Icon, format, here, link } from "#ui";
import { type Design, type Finding, type KeyTemplate, type Segment, designOf, entityMark, fieldColour } from "./design.ts";
import { t } from "./words.ts";

/** A key with each of its parts in the colour of the field that it is made of. */
export function KeyChip({ design, segments }: { design: Design; segments: readonly Segment[] }) {
  return (
    <span class="key-chip">
      {segments.map((s, n) => s.field
        ? <span key={n} class="key-part" style={{ "--part": fieldColour(design, s.field) }} title={s.field}>{s.text}</span>
        : <span key={n} class="key-literal">{s.text}</span>)}
    </span>
  );
}

export function TemplateChip({ design, template }: { design: Design; template: KeyTemplate }) {
  return <KeyChip design={design} segments={template.parts} />;
}

export function EntityName({ design, entity, place }: { design: Design; entity: string | undefined; place?: string | undefined }) {
  const mark = entityMark(design, entity);
  return <span class="kind" style={{ "--kind": mark.colour }}><span aria-hidden="true">{mark.glyph}</span>{entity || t("design.unknown")}{place && place !== "key" && <span class="muted"> · {place}</span>}</span>;
}

/** The views of a table that its design adds. */
export function DesignNav({ table }: { table: string }) {
  const design = designOf(table);
  if (!design) {
    return null;
  }
  const path = here.value.path;
  const at = (pattern: string) => link(pattern, { table });
  const tabs = [
    { href: at("/tables/:table"), label: t("items"), icon: Rows3, on: path === at("/tables/:table").slice(1) },
    { href: at("/tables/:table/patterns"), label: t("design.patterns"), icon: Workflow, on: path.startsWith(at("/tables/:table/patterns").slice(1)) },
    { href: at("/tables/:table/map"), label: t("design.map"), icon: MapIcon, on: path === at("/tables/:table/map").slice(1) },
  ];
  return (
    <nav class="design-nav" aria-label={t("design.views", { name: design.name })}>
      {tabs.map((x) => <a key={x.href} href={x.href} aria-current={x.on ? "page" : undefined}><Icon of={x.icon} size={15} />{x.label}</a>)}
      <span class="design-source muted small clip" title={design.source.file}>{design.source.version ? t("design.attached", { name: design.name, n: design.source.version }) : t("design.of", { name: design.name })}</span>
    </nav>
  );
}

const marks = { error: CircleX, warning: TriangleAlert, info: Info };

/** The rules' findings, the worst first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const order = ["error", "warning", "info"];
  const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  return (
    <ul class="findings" aria-label={t("design.findings")}>
      {sorted.map((f, n) => (
        <li key={n} class={`finding ${f.severity}`}>
          <Icon of={marks[f.severity]} size={15} />
          <div>
            <p><span class="hidden-visually">{t(`severity.${f.severity}`)}: </span><code>{f.rule}</code> {f.message}</p>
            {f.witness && <p class="muted small"><code>{f.witness}</code></p>}
            {f.mend && <p class="muted small">{t("design.mend")} {f.mend}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

export function dollars(n: number): string {
  return format.number(n, { style: "currency", currency: "USD", maximumFractionDigits: n > 0 && n < 0.1 ? 4 : 2 });
}
