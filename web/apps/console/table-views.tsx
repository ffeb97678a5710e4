// The views of one table, as links below its name.
import { Archive, Gauge, Radio, Rows3, Settings2, type IconNode } from "lucide";
import { Icon, here, link } from "#ui";
import { t } from "./words.ts";

interface View {
  /** What follows the table in the address. */
  path: "" | `/${string}`;
  label: string;
  icon: IconNode;
}

function views(): View[] {
  return [
    { path: "", label: t("items"), icon: Rows3 },
    { path: "/stream", label: t("tail"), icon: Radio },
    { path: "/metrics", label: t("metrics"), icon: Gauge },
    { path: "/backups", label: t("backups"), icon: Archive },
    { path: "/settings", label: t("settings"), icon: Settings2 },
  ];
}

export function TableViews({ table }: { table: string }) {
  const at = here.value.path;
  const address = (path: View["path"]) => link(`/tables/:table${path}`, { table });
  return (
    <nav class="table-views" aria-label={t("table.views")}>
      {views().map((v) => (
        <a key={v.path} href={address(v.path)} aria-current={address(v.path) === `#${at}` ? "page" : undefined}><Icon of={v.icon} size={15} />{v.label}</a>
      ))}
    </nav>
  );
}
