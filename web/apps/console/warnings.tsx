// Warnings about tables, above their list.
import { useEffect, useState } from "preact/hooks";
import { Notice, format, link, useLoaded } from "#ui";
import { call, onAWS, served } from "./api.ts";
import type { Rate } from "./metrics.ts";
import { t } from "./words.ts";

const kinds = ["TTLBehind", "StreamBehind", "DeliveryBehind", "ReplicationBehind", "HotKey", "LogsFull"] as const;

interface Warning { TableName?: string; Kind: (typeof kinds)[number]; Amount: number; Of?: string }

const pause = 15_000; // milliseconds between polls
const shown = 10;

function useWarnings(): readonly Warning[] {
  const [found, set] = useState<readonly Warning[]>([]);
  useEffect(() => {
    const leave = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => void call<{ Warnings: Warning[] }>("ListWarnings", {}, leave.signal).then((now) => { set(now.Warnings.filter((w) => kinds.includes(w.Kind))); timer = setTimeout(look, pause); }, () => undefined);
    if (served.value.server) look();
    return () => { leave.abort(); clearTimeout(timer); };
  }, [served.value.server]);
  return found;
}

interface Dimensions { Namespace?: string; Dimensions?: { Name: string; Value: string }[] }
interface Alarm extends Dimensions { AlarmName: string; StateReason?: string; Metrics?: { MetricStat?: { Metric?: Dimensions } }[] }

const alarmsMax = 100;

/** CloudWatch's alarms about tables that are on; asked once, because each request is billed. */
function useAlarms(): readonly { table: string; text: string }[] {
  const loaded = useLoaded((abort) => (onAWS ? call<{ MetricAlarms?: Alarm[] }>("DescribeAlarms", { StateValue: "ALARM", AlarmTypes: ["MetricAlarm"], MaxRecords: alarmsMax }, abort) : Promise.resolve({ MetricAlarms: [] })), []);
  return (loaded.value.value?.MetricAlarms ?? []).flatMap((a) => {
    const of = [a, ...(a.Metrics ?? []).map((m) => m.MetricStat?.Metric)].find((m) => m?.Namespace === "AWS/DynamoDB");
    return of ? [{ table: of.Dimensions?.find((d) => d.Name === "TableName")?.Value ?? "", text: t("warning.alarm", { name: a.AlarmName, reason: a.StateReason ?? "" }) }] : [];
  });
}

/** "3 hours", of seconds. */
function span(seconds: number): string {
  const [n, unit] = seconds >= 7200 ? [seconds / 3600, "hour"] as const : seconds >= 120 ? [seconds / 60, "minute"] as const : [seconds, "second"] as const;
  return format.number(Math.round(n), { style: "unit", unit, unitDisplay: "long" });
}

function sentence(w: Warning): string {
  switch (w.Kind) {
    case "HotKey": return t("warning.HotKey", { n: Math.round(w.Amount), key: w.Of ?? "" });
    case "LogsFull": return t("warning.LogsFull", { share: format.percent(w.Amount) });
    case "ReplicationBehind": return t("warning.ReplicationBehind", { time: span(w.Amount), region: w.Of ?? "" });
    default: return t(`warning.${w.Kind}`, { time: span(w.Amount) });
  }
}

export function Warnings({ rates }: { rates: Map<string, Rate> | undefined }) {
  const found = useWarnings();
  const alarms = useAlarms();
  const counted = [...rates ?? []].flatMap(([table, r]) => [
    ...(r.throttled > 0 ? [{ table, text: t("warning.throttled", { n: r.throttled }) }] : []), ...(r.errors > 0 ? [{ table, text: t("warning.errors", { n: r.errors }) }] : []),
  ]);
  const all = [...alarms, ...counted, ...found.map((w) => ({ table: w.TableName ?? "", text: sentence(w) }))];
  if (all.length === 0) return null;
  return (
    <Notice tone="warning">
      <ul class="warnings" aria-label={t("warnings")}>
        {all.slice(0, shown).map((w) => <li key={`${w.table} ${w.text}`}>{w.table !== "" && <><a href={link("/tables/:table/metrics", { table: w.table })}>{w.table}</a>{": "}</>}{w.text}</li>)}
        {all.length > shown && <li>{t("warnings.more", { n: all.length - shown })}</li>}
      </ul>
    </Notice>
  );
}
