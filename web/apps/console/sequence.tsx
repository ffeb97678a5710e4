// A schedule as a sequence diagram: actors as columns, the database last, requests from top to bottom.
import { Skull, Unplug, Trash2 } from "lucide";
import { Icon } from "#ui";
import { t } from "./words.ts";

export interface Step {
  process?: string;
  kind: "request" | "lost" | "crash" | "expire";
  operation?: string;
  pattern?: string;
  response?: string;
  item?: string;
  behind?: number;
  ends?: string;
  again?: boolean;
}

interface SequenceProps {
  label: string;
  processes: readonly string[];
  steps: readonly Step[];
  /** The violated invariants at the end, with the items that show it. */
  broken: string;
  items: readonly string[];
}

export function Sequence({ label, processes, steps, broken, items }: SequenceProps) {
  const actors = processes.filter((p) => steps.some((s) => s.process === p));
  return (
    <div class="sequence" role="group" aria-label={label} style={{ "--actors": String(actors.length) }}>
      <div class="sequence-head" aria-hidden="true">{actors.map((a) => <span key={a} class="sequence-actor">{a}</span>)}<span class="sequence-actor database">DynamoDB</span></div>
      <ol>
        {steps.map((s, n) => (
          <li key={n} class={`sequence-step ${s.kind}`} style={{ "--lane": String((s.process === undefined ? actors.length : actors.indexOf(s.process)) + 1) }}>
            <span class="sequence-number" aria-hidden="true">{n + 1}</span>
            {[...actors, ""].map((a, lane) => <span key={a} class="sequence-line" style={{ "--at": String(lane + 1) }} aria-hidden="true" />)}
            <div class="sequence-message">
              <span class="hidden-visually">{s.process ?? "DynamoDB"}: </span>
              <What step={s} />
            </div>
          </li>
        ))}
      </ol>
      <div class="sequence-end">
        <p><strong>{t("sequence.broken", { name: broken })}</strong></p>
        {items.length > 0 && <ul>{items.map((i) => <li key={i}><code>{i}</code></li>)}</ul>}
      </div>
    </div>
  );
}

function What({ step: s }: { step: Step }) {
  if (s.kind === "crash") {
    return <span class="sequence-event"><Icon of={Skull} size={14} /> {t("sequence.crash")}</span>;
  }
  if (s.kind === "expire") {
    return <span class="sequence-event"><Icon of={Trash2} size={14} /> {t("sequence.expire", { item: s.item ?? "" })}</span>;
  }
  return (
    <>
      <span class="sequence-request"><span class="sequence-operation">{s.operation}</span> <code>{s.pattern}</code></span>
      <span class="sequence-arrow" aria-hidden="true" />
      <span class="sequence-response">{s.kind === "lost" ? <><Icon of={Unplug} size={14} /> {t("sequence.lost")}</> : <>← {s.response}</>}{(s.behind ?? 0) > 0 && <em> · {t("sequence.behind", { n: s.behind ?? 0 })}</em>}{s.ends !== undefined && <span class="muted"> · {t(s.again ? "sequence.again" : "sequence.ends", { outcome: s.ends })}</span>}</span>
    </>
  );
}
