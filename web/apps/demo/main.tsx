// The start page of `make run`.
import "./style.css";
import { BookOpen, Clapperboard, Coffee, Database, FileCode, Table2, Layers, PenLine, Truck, Wallet, ArrowRight, type IconNode } from "lucide";
import { useEffect } from "preact/hooks";
import { Badge, Button, CodeTabs, Icon, Problem, Shell, Skeleton, Stat, format, keep, kept, pageData, readToken, start, useLoaded } from "#ui";
import { Picture } from "./picture.tsx";
import { t } from "./words.ts";

interface System {
  name: string;
  title: string;
  about: string;
  admins: boolean;
  token: string;
  lines: string[];
  design?: string;
  /** Its tables, with their addresses in the console. */
  tables?: { name: string; console: string }[];
}

interface Data {
  systems: System[];
  sub: string;
  signing: string;
  data: string;
}

const data = pageData<Data>() ?? { systems: [], sub: "", signing: "", data: "" };
const icons: Record<string, IconNode> = { appcore: Wallet, catfecito: Coffee, trinity: Clapperboard, portfolio: PenLine, transporteapp: Truck };
const known = ["appcore", "catfecito", "trinity", "portfolio", "transporteapp"] as const;

// Provides each system's pages with a token, unless a user has already signed in there.
for (const s of data.systems) {
  const name = `access-token /${s.name}/`;
  const found = readToken(kept(name) ?? "");
  if (!found || found.expires < Date.now()) keep(name, s.token);
}

function Card({ system: s }: { system: System }) {
  const name = known.find((k) => k === s.name);
  return (
    <section class="card system" data-product={s.name}>
      <div class="system-band"><span class="system-icon"><Icon of={icons[s.name] ?? Layers} size={26} /></span></div>
      <h3>{s.title}</h3>
      <p class="muted">{name ? t(`about.${name}`) : s.about}</p>
      <div class="row system-actions">
        <Button kind="primary" href={`${s.name}/`} icon={ArrowRight}>{t("open")}<span class="hidden-visually"> {s.title}</span></Button>
        <Button kind="quiet" href={`${s.name}/docs`} icon={BookOpen}>{t("api")}<span class="hidden-visually"> {s.title}</span></Button>
        {s.tables?.length === 1 && <Button kind="quiet" href={s.tables[0]?.console ?? ""} icon={Table2}>{t("tables")}<span class="hidden-visually"> {s.title}</span></Button>}
        {s.design && <Button kind="quiet" href={s.design} icon={FileCode}>{t("design")}<span class="hidden-visually"> {s.title}</span></Button>}
      </div>
      {(s.tables?.length ?? 0) > 1 && (
        <nav class="system-tables" aria-label={`${t("tables")} ${s.title}`}>
          <Icon of={Table2} size={15} />
          {s.tables?.map((table) => <a key={table.name} href={table.console}>{table.name}</a>)}
        </nav>
      )}
    </section>
  );
}

const often = 5000;

function Status() {
  const status = useLoaded(async (signal) => {
    const response = await fetch("status", { signal });
    if (!response.ok) throw Problem.response(response, undefined);
    return (await response.json()) as { tables: number; items: number; bytes: number };
  }, []);
  useEffect(() => {
    const timer = setInterval(() => void status.reload(), often);
    return () => clearInterval(timer);
  }, [status]);
  const now = status.value.value;
  const gone = status.problem.value !== undefined;
  const shown = (value: string | undefined) => value ?? <Skeleton width="4rem" height="1.5rem" />;
  return (
    <section class="stack">
      <div class="row"><h2>{t("database")}</h2>{gone ? <Badge tone="danger">{t("database.gone")}</Badge> : <Badge tone="success">{t("database.running")}</Badge>}</div>
      <div class="stats">
        <Stat label={t("database.items")} value={shown(now && format.number(now.items))} />
        <Stat label={t("database.tables")} value={shown(now && format.number(now.tables))} />
        <Stat label={t("database.size")} value={shown(now && format.number(now.bytes / 1e6, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 }))} />
      </div>
      <p>{data.data ? t("database.where", { place: data.data }) : t("database.memory")} {t("database.stop")} <a href="metrics">{t("metrics")}</a></p>
    </section>
  );
}

function App() {
  return (
    <Shell brand={t("page.title")} icon={Database}>
      <div class="hero">
        <div class="stack">
          <h1>{t("headline")}</h1>
          <p class="lead">{t("lead")}</p>
        </div>
        <Picture label={t("picture")} systems={data.systems} />
      </div>
      <section class="stack part">
        <h2>{t("systems")}</h2>
        <div class="grid systems">{data.systems.map((s) => <Card key={s.name} system={s} />)}</div>
      </section>
      <div class="sides part">
        <section class="stack">
          <h2>{t("shell")}</h2>
          <p class="muted">{t("shell.text")}</p>
          <CodeTabs label={t("shell")} texts={data.systems.map((s) => ({ key: s.name, label: s.title, text: s.lines.join("\n") }))} />
          {data.signing && <p class="small muted">{t("shell.others")}<code>{data.signing} --system {data.systems[0]?.name ?? "NAME"} --sub USER</code></p>}
        </section>
        <Status />
      </div>
    </Shell>
  );
}

void start(<App />, { reading: true });
