// The views of one table, as links below its name.
import { Archive, CalendarClock, Eye, Gauge, ListChecks, Map as MapIcon, Radio, Rows3, Settings2, Workflow, type IconNode } from "lucide";
import { Icon, here, link, useChosenInSight } from "#ui";
import { served } from "./api.ts";
import { designOf } from "./design.ts";
import { DesignSource } from "./design-bits.tsx";
import { t } from "./words.ts";

interface View {
  /** The part after the table in the address. */
  path: "" | `/${string}`;
  label: string;
  icon: IconNode;
}

function views(designed: boolean): View[] {
  return [
    { path: "", label: t("items"), icon: Rows3 },
    ...(designed ? [{ path: "/patterns" as const, label: t("design.patterns"), icon: Workflow }, { path: "/map" as const, label: t("design.map"), icon: MapIcon }, { path: "/observe" as const, label: t("observe"), icon: Eye }, { path: "/checks" as const, label: t("design.checks"), icon: ListChecks }] : []),
    { path: "/stream", label: t("tail"), icon: Radio },
    ...(served.value.metrics ? [{ path: "/metrics" as const, label: t("metrics"), icon: Gauge }] : []),
    ...(served.value.server ? [{ path: "/past" as const, label: t("past"), icon: CalendarClock }] : []),
    { path: "/backups", label: t("backups"), icon: Archive },
    { path: "/settings", label: t("settings"), icon: Settings2 },
  ];
}

export function TableViews({ table }: { table: string }) {
  const at = here.value.path;
  const design = designOf(table);
  const nav = useChosenInSight<HTMLElement>(at, design !== undefined);
  const address = (path: View["path"]) => link(`/tables/:table${path}`, { table });
  return (
    <nav class="table-views" ref={nav} aria-label={t("table.views")}>
      {views(design !== undefined).map((v) => (
        <a key={v.path} href={address(v.path)} aria-current={`#${at}` === address(v.path) || v.path === "/patterns" && `#${at}`.startsWith(`${address(v.path)}/`) ? "page" : undefined}><Icon of={v.icon} size={15} />{v.label}</a>
      ))}
      {design && <DesignSource design={design} />}
    </nav>
  );
}
