import { ChevronLeft, ChevronRight, History } from "lucide";
import { useState } from "preact/hooks";
import { dateTime, day as dayName } from "../format.ts";
import { usePages } from "../pages.ts";
import { ui } from "../ui-words.ts";
import { Badge, Empty } from "./bits.tsx";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { PagedTable } from "./table.tsx";

/** A request by a member of staff, as each system records it. */
interface Act {
  at: string;
  actorId: string;
  operation: string;
  target: string;
  /** The status of the response; missing if it was not recorded. */
  status?: number;
  requestId: string;
}

interface ActsProps {
  load: (query: { day: string; limit: number; cursor: string | undefined }, signal: AbortSignal) => Promise<{ items: readonly Act[]; next?: string | undefined }>;
  /** Descriptions of the operations; one without is shown by its id. */
  names: Readonly<Record<string, string>>;
}

const dayLength = 86_400_000;
const kept = 365;

/** Days are UTC days, as stored. */
function shifted(day: string, by: number): string {
  return new Date(Date.parse(day) + by * dayLength).toISOString().slice(0, 10);
}

/** The acts of staff on a day, newest first. */
export function Acts({ load, names }: ActsProps) {
  const today = new Date().toISOString().slice(0, 10);
  const earliest = shifted(today, -kept);
  const [day, setDay] = useState(today);
  const list = usePages((cursor, signal) => load({ day, limit: 50, cursor }, signal), [day]);
  const choose = (wanted: string) => { if (wanted >= earliest && wanted <= today) setDay(wanted); }; // a date field is empty while the user types
  const elsewhere = new Date(day).getTimezoneOffset() !== 0;
  return (
    <div class="stack">
      <p class="muted">{ui("acts.text")}</p>
      <div class="day-picker">
        <Button icon={ChevronLeft} label={ui("acts.before")} disabled={day <= earliest} onPress={() => choose(shifted(day, -1))} />
        <TextField label={ui("acts.day")} labelHidden name="day" type="date" value={day} onInput={choose} min={earliest} max={today} />
        <Button icon={ChevronRight} label={ui("acts.after")} disabled={day >= today} onPress={() => choose(shifted(day, 1))} />
        <span>{dayName(day, { dateStyle: "full" })}</span>
        {elsewhere && <span class="small muted">{ui("acts.utc", { time: dateTime(day, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" }) })}</span>}
      </div>
      <PagedTable caption={ui("acts.title")} pages={list} rowKey={(a) => a.requestId + a.at} empty={<Empty level={2} icon={History} title={ui("acts.none")} />} columns={[
        { key: "what", title: ui("acts.what"), cell: (a) => names[a.operation] ?? <code>{a.operation}</code> },
        { key: "outcome", title: ui("acts.outcome"), beside: true, cell: (a) => <Outcome status={a.status} /> },
        { key: "who", title: ui("acts.who"), cell: (a) => <span class="breaks">{a.actorId}</span> },
        { key: "when", title: ui("acts.when"), cell: (a) => <time dateTime={a.at}>{dateTime(a.at, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit", second: "2-digit" })}</time> },
        { key: "target", title: ui("acts.target"), cell: (a) => <Request of={a} /> },
      ]} />
    </div>
  );
}

/** The outcome of an act. */
function Outcome({ status }: { status: number | undefined }) {
  if (status === undefined) {
    return <Badge tone="info">{ui("acts.unknown")}</Badge>;
  }
  if (status < 400) {
    return <Badge tone="success">{ui("acts.done")}</Badge>;
  }
  return status < 500 ? <Badge tone="warning">{ui("acts.refused", { status: String(status) })}</Badge> : <Badge tone="danger">{ui("acts.failed", { status: String(status) })}</Badge>;
}

/** The request; if it failed, its id in the log. */
function Request({ of: { target, status, requestId } }: { of: Act }) {
  return (
    <span class="stack breaks" style={{ "--gap": "var(--space-1)" }}>
      <code>{target}</code>
      {status === undefined && <span class="small muted">{ui("acts.unknownText")}</span>}
      {!(status !== undefined && status < 400) && <code class="small muted">{requestId}</code>}
    </span>
  );
}
