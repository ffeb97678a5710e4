// The display of a design: keys part by part, entities, findings.
import { CircleX, Info, TriangleAlert } from "lucide";
import { Icon, format } from "#ui";
import { type Design, type Finding, type KeyTemplate, type Segment, entityMark, fieldColour } from "./design.ts";
import { t } from "./words.ts";

/** A key with each part in the colour of its field. */
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

/** The design that a table is shown by. */
export function DesignSource({ design }: { design: Design }) {
  return <span class="design-source muted small clip" title={design.source.file}>{design.source.version ? t("design.attached", { name: design.name, n: design.source.version }) : t("design.of", { name: design.name })}</span>;
}

const marks = { error: CircleX, warning: TriangleAlert, info: Info };

/** The rules' findings, most severe first. */
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
            {f.fix && <p class="muted small">{t("design.fix")} {f.fix}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

export function dollars(n: number): string {
  return format.number(n, { style: "currency", currency: "USD", maximumFractionDigits: n > 0 && n < 0.1 ? 4 : 2 });
}
