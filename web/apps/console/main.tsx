// The console's entry point.
import "./style.css";
import "./design.css";
import "./checks.css";
import "./time.css";
import { Archive, Bookmark, Database, Gauge, SquareTerminal, Table2 } from "lucide";
import { useEffect } from "preact/hooks";
import { NotFound, Shell, here, link, start, view } from "#ui";
import { about, askServed, served, sessionEnded, user } from "./api.ts";
import { BackupsPage, TableBackupsPage } from "./backups.tsx";
import { ChecksPage } from "./checks.tsx";
import { CreateItemPage } from "./create-item.tsx";
import { CreateTable } from "./create-table.tsx";
import { EndpointMenu } from "./endpoint.tsx";
import { TablePage } from "./items.tsx";
import { ItemHistoryPage } from "./item-history.tsx";
import { MapPage } from "./map.tsx";
import { ImportPage } from "./import.tsx";
import { Palette, PaletteButton } from "./palette.tsx";
import { PartiQL } from "./partiql.tsx";
import { loadQueries } from "./queries.ts";
import { QueriesPage } from "./queries-page.tsx";
import { PastPage } from "./past-page.tsx";
import { ObservePage } from "./observe.tsx";
import { PatternsPage } from "./patterns.tsx";
import { PatternPage } from "./run-pattern.tsx";
import { ServerPage, TableMetricsPage } from "./server.tsx";
import { MembersPage, SlowPage, StoragePage } from "./server-views.tsx";
import { SettingsPage } from "./settings.tsx";
import { SignInAgain, SignInPage, Who } from "./sign-in.tsx";
import { StreamPage } from "./stream.tsx";
import { Tables } from "./tables.tsx";
import { ViewTabs } from "./view-tabs.tsx";
import { t } from "./words.ts";

function App() {
  const inside = about.signIn === undefined || user.value !== undefined;
  useEffect(() => { if (inside) void loadQueries(); }, [inside]);
  useEffect(() => { if (inside) void askServed().catch(() => undefined); }, [inside]); // without a response there are fewer views
  return (
    <Shell wide brand="monotable" icon={Database} tools={<><EndpointMenu />{inside && <PaletteButton />}<Who /></>} nav={inside ? [
      { href: link(here.value.path === "/" ? "/" : "/tables"), label: t("tables"), icon: Table2 }, // both are the list
      { href: link("/partiql"), label: "PartiQL", icon: SquareTerminal },
      { href: link("/queries"), label: t("queries"), icon: Bookmark },
      { href: link("/backups"), label: t("backups"), icon: Archive },
      ...(!served.value.server ? [] : [{ href: link("/server"), label: t("server"), icon: Gauge }]),
    ] : []}>
      {inside && <><Palette /><ViewTabs /></>}
      {sessionEnded.value && <SignInAgain />}
      {!inside ? <SignInPage /> : view({
        "/": () => <Tables />,
        "/tables": () => <Tables />,
        "/partiql": () => <PartiQL />,
        "/queries": () => <QueriesPage />,
        "/create": () => (about.readOnly ? <NotFound /> : <CreateTable />),
        "/tables/:table/settings": (v) => <SettingsPage name={v["table"] ?? ""} />,
        "/server": () => <ServerPage />,
        "/server/slow": () => <SlowPage />,
        "/server/storage": () => <StoragePage />,
        "/server/members": () => <MembersPage />,
        "/tables/:table/metrics": (v) => <TableMetricsPage name={v["table"] ?? ""} />,
        "/backups": () => <BackupsPage />,
        "/tables/:table/backups": (v) => <TableBackupsPage name={v["table"] ?? ""} />,
        "/tables/:table/import": (v) => (about.readOnly ? <NotFound /> : <ImportPage name={v["table"] ?? ""} />),
        "/tables/:table/history": (v) => <ItemHistoryPage name={v["table"] ?? ""} />,
        "/tables/:table/past": (v) => <PastPage name={v["table"] ?? ""} />,
        "/tables/:table/stream": (v) => <StreamPage name={v["table"] ?? ""} />,
        "/tables/:table/new": (v) => (about.readOnly ? <NotFound /> : <CreateItemPage name={v["table"] ?? ""} />),
        "/tables/:table/patterns": (v) => <PatternsPage name={v["table"] ?? ""} />,
        "/tables/:table/patterns/:pattern": (v) => <PatternPage name={v["table"] ?? ""} pattern={v["pattern"] ?? ""} />,
        "/tables/:table/observe": (v) => <ObservePage name={v["table"] ?? ""} />,
        "/tables/:table/checks": (v) => <ChecksPage name={v["table"] ?? ""} />,
        "/tables/:table/map": (v) => <MapPage name={v["table"] ?? ""} />,
        "/tables/:table": (v) => <TablePage name={v["table"] ?? ""} />,
      }, () => <NotFound />)}
    </Shell>
  );
}

void start(<App />);
