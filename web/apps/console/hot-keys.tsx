// The most used and most throttled keys of a table: contributor insights, of this server and of AWS.
import { Flame } from "lucide";
import { Button, Card, Empty, Notice, Progress, Skeleton, format, link, toast, useLoaded } from "#ui";
import { about, call } from "./api.ts";
import { toastFault } from "./fault.tsx";
import { t } from "./words.ts";

interface Key { values: string[]; amount: number }
interface Ranking { title: string; keys: Key[] }
interface Insights { on: boolean; rankings: Ranking[] }

const stretch = 600; // seconds: about the retention of this server
const most = 10;
const kinds = { PKC: "hot.accessed", SKC: "hot.items", PKT: "hot.throttled", SKT: "hot.throttledItems" } as const;

async function insightsOf(table: string, abort: AbortSignal): Promise<Insights> {
  const said = await call<{ ContributorInsightsStatus?: string; ContributorInsightsRuleList?: string[] }>("DescribeContributorInsights", { TableName: table }, abort);
  const on = said.ContributorInsightsStatus === "ENABLED" || said.ContributorInsightsStatus === "ENABLING";
  const to = Math.floor(Date.now() / 60_000) * 60 + 60;
  const rankings = await Promise.all((said.ContributorInsightsRuleList ?? []).map(async (rule): Promise<Ranking> => {
    const report = await call<{ Contributors: { Keys: string[]; ApproximateAggregateValue: number }[] }>("GetInsightRuleReport", { RuleName: rule, StartTime: to - stretch, EndTime: to, Period: stretch, MaxContributorCount: most }, abort)
      .catch(() => ({ Contributors: [] })); // on AWS a listed rule exists only some time later
    const kind = /-(PKC|SKC|PKT|SKT)-/.exec(rule)?.[1] as keyof typeof kinds | undefined;
    return { title: kind ? t(kinds[kind]) : rule, keys: report.Contributors.map((c) => ({ values: c.Keys, amount: c.ApproximateAggregateValue })) };
  }));
  return { on, rankings };
}

export function HotKeys({ table }: { table: string }) {
  const loaded = useLoaded((abort) => insightsOf(table, abort), [table]);
  const i = loaded.value.value;
  const set = async (on: boolean) => {
    try {
      await call("UpdateContributorInsights", { TableName: table, ContributorInsightsAction: on ? "ENABLE" : "DISABLE" });
      toast("success", t("settings.changed"));
    } catch (thrown) {
      toastFault(thrown);
    }
    void loaded.reload();
  };
  const there = i?.rankings.filter((r) => r.keys.length > 0) ?? [];
  return (
    <Card level={2} title={t("hot")} action={i?.on && (
      <span class="row fixed"><Button size="small" onPress={() => loaded.reload()}>{t("hot.again")}</Button>{!about.readOnly && <Button kind="quiet" size="small" onPress={() => set(false)}>{t("turnOff")}</Button>}</span>
    )}>
      {loaded.problem.value ? <Notice tone="warning">{loaded.problem.value.detail}</Notice> : !i ? <Skeleton lines={3} />
        : !i.on ? <Empty icon={Flame} title={t("hot.off")} action={!about.readOnly && <Button onPress={() => set(true)}>{t("turnOn")}</Button>}>{t("hot.offText")}</Empty>
        : there.length === 0 ? <p class="muted">{t("hot.none")}</p>
        : <div class="grid" style={{ "--column": "22rem" }}>{there.map((r) => <Ranked key={r.title} table={table} ranking={r} />)}</div>}
    </Card>
  );
}

function Ranked({ table, ranking: r }: { table: string; ranking: Ranking }) {
  const top = r.keys[0]?.amount ?? 1;
  return (
    <div class="stack hot">
      <h3>{r.title}</h3>
      <ol>
        {r.keys.map((k) => {
          const name = k.values.join(" · ");
          const [pk, sk] = k.values;
          return <li key={name}><span class="row fixed"><a class="grow breaks" href={link("/tables/:table", { table, pk, ...(sk === undefined ? {} : { op: "=", sk }) })}><code>{name}</code></a><span class="number">{format.number(k.amount, { maximumFractionDigits: 1 })}</span></span><Progress label={name} value={k.amount} max={top} /></li>;
        })}
      </ol>
    </div>
  );
}
