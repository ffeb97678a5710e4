// The current endpoint, if there are several; switching keeps the view.
import { Server } from "lucide";
import { Menu } from "#ui";
import { about } from "./api.ts";
import { t } from "./words.ts";

export function EndpointMenu() {
  const current = about.endpoints?.find((e) => e.current === true);
  if (!about.endpoints || !current) {
    return null;
  }
  return <span class="endpoint"><Menu label={t("endpoint")} icon={Server} text={current.name} kind="secondary" size="small" items={about.endpoints.map((e) => ({ label: e.name, checked: e.current === true, onPress: () => { if (e.current !== true) location.assign(e.path + location.hash); } }))} /></span>;
}
