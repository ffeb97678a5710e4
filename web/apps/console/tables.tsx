// All tables: a list on the home page, links next to other views.
import { Database, Plus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Badge, Button, CodeTabs, Empty, Problem, SearchField, Skeleton, Table, TableSkeleton, type Tone, format, here, link, useChosenInSight, useTitle } from "#ui";
import { about, endpoint, onAWS, served } from "./api.ts";
import { type Rate, rates } from "./metrics.ts";
import { type Table as Described, indexesOf, keysOf, knownTable, loadNames, loadTable, names, namesProblem, onDemand, refresh, tableState } from "./schema.ts";
import { bytes } from "./show.tsx";
import { Fault } from "./fault.tsx";
import { Warnings } from "./warnings.tsx";
import { t } from "./words.ts";

const step = 50; // tables; they are described when shown
const namesOf = 100; // a request; more are listed once

export function Status({ status }: { status: string }) {
  const tones: Record<string, Tone> = { ACTIVE: "success", CREATING: "info", UPDATING: "info", DELETING: "warning", ARCHIVED: "warning" };
  return <Badge tone={tones[status] ?? "danger"}>{status}</Badge>;
}

/** Enabled features, or what stands for none. */
export function Flags({ table, none }: { table: Described; none?: preact.ComponentChildren }) {
  const d = table.description;
  const flags = [d.StreamSpecification?.StreamEnabled && t("flag.stream"), table.ttl && t("flag.ttl"), table.pitr && t("flag.pitr"), d.DeletionProtectionEnabled && t("flag.protected")].filter(Boolean);
  return flags.length === 0 ? <>{none}</> : <span class="row" style={{ "--gap": "var(--space-1)" }}>{flags.map((f) => <Badge plain key={String(f)}>{f}</Badge>)}</span>;
}

export function Tables() {
  useTitle(undefined);
  const [sought, seek] = useState("");
  const [shown, show] = useState(step);
  useEffect(() => { refresh(); void loadNames(); }, []);
  const rate = useRates();
  const all = names.value;
  const found = (all ?? []).filter((n) => n.toLowerCase().includes(sought.trim().toLowerCase()));
  const rows = found.slice(0, shown).map((name) => ({ name, state: tableState(name) }));
  const described = (of: (table: Described) => preact.ComponentChildren) => ({ state }: (typeof rows)[number]) => (state === "loading" ? <Skeleton width="4rem" /> : state instanceof Problem ? null : of(state));
  return (
    <div class="stack">
      <div class="row">
        <div class="grow">
          <h1>{t("tables")}</h1>
          <p class="muted small"><code>{endpoint}</code> · {about.region}{about.readOnly && <> · {t("readOnly")}</>}</p>
        </div>
        {all && all.length > 8 && <div class="tables-search"><SearchField label={t("tables.search")} value={sought} onInput={seek} /></div>}
        {!about.readOnly && all && all.length > 0 && <Button kind="primary" icon={Plus} href={link("/create")}>{t("create")}</Button>}
      </div>
      <Warnings rates={rate} />
      {namesProblem.value ? <Fault problem={namesProblem.value} onRetry={() => void loadNames()} />
        : !all ? <TableSkeleton columns={6} />
        : all.length === 0 ? <First />
        : found.length === 0 ? <Empty level={2} icon={Database} title={t("tables.noMatch", { text: sought })} />
        : (
          <Table caption={t("tables")} rows={rows} rowKey={(r) => r.name} foot={found.length > shown ? <Button onPress={() => show(shown + step)}>{t("show.more", { n: found.length - shown })}</Button> : undefined} columns={[
            { key: "name", title: t("table.name"), cell: (r) => <a class="strong" href={link("/tables/:table", { table: r.name })}>{r.name}</a> },
            { key: "status", title: t("table.status"), beside: true, cell: (r) => (r.state instanceof Problem ? <span class="small muted">{r.state.code}</span> : described((x) => <Status status={x.description.TableStatus} />)(r)) },
            { key: "keys", title: t("table.keys"), cell: described((x) => <KeyNames table={x} />) },
            { key: "items", title: t("table.items"), numeric: true, cell: described((x) => format.number(x.description.ItemCount ?? 0)) },
            { key: "size", title: t("table.size"), numeric: true, cell: described((x) => bytes(x.description.TableSizeBytes ?? 0)) },
            ...(rate ? [{ key: "rate", title: t("table.rate"), numeric: true, cell: (r: (typeof rows)[number]) => <RateCell rate={rate.get(r.name)} /> }] : []),
            { key: "indexes", title: t("table.indexes"), numeric: true, cell: described((x) => format.number(indexesOf(x.description).length)) },
            { key: "billing", title: t("table.billing"), cell: described((x) => t(onDemand(x.description) ? "billing.onDemand" : "billing.provisioned")) },
            { key: "flags", title: t("table.flags"), cell: described((x) => <Flags table={x} none={<span class="absent">–</span>} />) },
          ]} />
        )}
      {onAWS && all && all.length > 0 && <p class="muted small">{t("tables.aws")}</p>}
    </div>
  );
}

const ratePause = 5000; // milliseconds between polls of the rates

/** The rates of tables; undefined if not available, or if each request would cost money. */
function useRates(): Map<string, Rate> | undefined {
  const [found, set] = useState<Map<string, Rate> | undefined>();
  useEffect(() => {
    const leave = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => void rates(leave.signal).then((now) => { set(now); timer = setTimeout(look, ratePause); }, () => undefined);
    if (served.value.metrics && !onAWS) look();
    return () => { leave.abort(); clearTimeout(timer); };
  }, [served.value.metrics]);
  return found;
}

function RateCell({ rate }: { rate: Rate | undefined }) {
  return (
    <span class="rate">
      {rate && rate.throttled > 0 && <Badge tone="warning">{t("alarm.throttled", { n: rate.throttled })}</Badge>}
      {rate && rate.errors > 0 && <Badge tone="danger">{t("alarm.errors", { n: rate.errors })}</Badge>}
      {format.number(rate?.perSecond ?? 0, { maximumFractionDigits: 1 })}
    </span>
  );
}

function KeyNames({ table }: { table: Described }) {
  const { pk, sk } = keysOf(table.description.KeySchema);
  return <code>{pk}{sk !== undefined && <> · {sk}</>}</code>;
}

/** No tables yet: how to create the first. */
function First() {
  const cli = `aws dynamodb create-table --table-name shop --billing-mode PAY_PER_REQUEST \\
  --attribute-definitions AttributeName=PK,AttributeType=S AttributeName=SK,AttributeType=S \\
  --key-schema AttributeName=PK,KeyType=HASH AttributeName=SK,KeyType=RANGE${onAWS ? "" : ` \\\n  --endpoint-url ${endpoint}`}`;
  return (
    <Empty level={2} icon={Database} title={t("tables.none")} action={
      <div class="stack first">
        {!about.readOnly && <div><Button kind="primary" icon={Plus} href={link("/create")}>{t("create.first")}</Button></div>}
        <CodeTabs label={t("tables.how")} texts={[
          { key: "cli", label: "AWS CLI", text: cli },
          { key: "design", label: "monotable provision", text: `monotable provision shop.design.yaml --apply${onAWS ? "" : ` --endpoint ${endpoint}`}` },
        ]} />
      </div>
    }>
      {t("tables.noneText")}
    </Empty>
  );
}

/** The tables next to a view, with the indexes of the current one. */
export function Sidebar({ table }: { table: string }) {
  const [sought, seek] = useState("");
  useEffect(() => { if (!names.value || names.value.length <= namesOf) void loadNames(); }, []);
  useEffect(() => { if (knownTable(table)) loadTable(table); }, [table]); // other programs change tables, too
  const list = useChosenInSight<HTMLDivElement>(here.value.path, names.value?.length);
  const all = names.value ?? [];
  const state = tableState(table);
  const walk = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("a")];
    event.preventDefault();
    links[links.indexOf(document.activeElement as HTMLElement) + by]?.focus();
  };
  return (
    <nav class="sidebar" aria-label={t("tables")}>
      {all.length > 8 && <SearchField label={t("tables.search")} value={sought} onInput={seek} />}
      <div class="sidebar-list" ref={list} onKeyDown={walk}>
        <ul>
          {all.filter((n) => n === table || n.toLowerCase().includes(sought.trim().toLowerCase())).map((name) => (
            <li key={name}>
              <a href={link("/tables/:table", { table: name })} aria-current={name === table ? "page" : undefined}><span class="clip" title={name}>{name}</span></a>
              {name === table && state !== "loading" && !(state instanceof Problem) && indexesOf(state.description).length > 0 && (
                <ul class="sidebar-indexes">
                  {indexesOf(state.description).map((i) => (
                    <li key={i.IndexName}><a href={link("/tables/:table", { table: name, index: i.IndexName })} aria-current={here.value.query.get("index") === i.IndexName ? "true" : undefined}><span class="clip" title={i.IndexName}>{i.IndexName}</span><span class="index-sort">{i.global ? "GSI" : "LSI"}</span></a></li>
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      </div>
    </nav>
  );
}

/** A table that failed to load or is loading. */
export function Waiting({ state, onRetry }: { state: Problem | "loading"; onRetry: () => void }) {
  if (state === "loading") {
    return <div class="stack"><Skeleton width="14rem" height="2rem" /><TableSkeleton columns={5} rows={8} /></div>;
  }
  return state.code === "ResourceNotFoundException"
    ? <Empty level={1} icon={Database} title={t("table.missing")} action={<Button href={link("/tables")}>{t("tables")}</Button>}>{state.detail}</Empty>
    : <Fault problem={state} onRetry={onRetry} />;
}
