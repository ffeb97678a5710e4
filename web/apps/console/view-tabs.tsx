// Several views in one window as tabs, each with its address. The tab strip is hidden if there is only one.
import { signal } from "@preact/signals";
import { Plus, X } from "lucide";
import { Button, go, here, link, match } from "#ui";
import { t } from "./words.ts";

interface Tab {
  id: number;
  address: string;
}

const keptAt = "console-tabs";

interface Tabs {
  all: readonly Tab[];
  chosen: number;
}

function restored(): Tabs {
  try {
    const tabs = JSON.parse(sessionStorage.getItem(keptAt) ?? "") as Tabs;
    const all = tabs.all.filter((tab) => typeof tab.id === "number" && tab.address.startsWith("#/"));
    if (all.some((tab) => tab.id === tabs.chosen)) return { all, chosen: tabs.chosen };
  } catch {
    // none are kept
  }
  return { all: [{ id: 1, address: location.hash || "#/" }], chosen: 1 };
}

const tabs = signal<Tabs>(restored());

function set(next: Tabs): void {
  tabs.value = next;
  try {
    sessionStorage.setItem(keptAt, JSON.stringify(next));
  } catch {
    // they last as long as the page
  }
}

function noted(): readonly Tab[] {
  return tabs.value.all.map((tab) => (tab.id === tabs.value.chosen ? { ...tab, address: location.hash || "#/" } : tab));
}

/** Opens a tab at an address, or at the tables. */
export function newTab(address = link("/tables")): void {
  const id = Math.max(...tabs.value.all.map((tab) => tab.id)) + 1;
  set({ all: [...noted(), { id, address }], chosen: id });
  go(address);
}

function show(id: number): void {
  const all = noted();
  const tab = all.find((x) => x.id === id);
  if (!tab) return;
  set({ all, chosen: id });
  go(tab.address);
}

function closeTab(id: number): void {
  const all = noted();
  const at = all.findIndex((tab) => tab.id === id);
  const rest = all.filter((tab) => tab.id !== id);
  if (tabs.value.chosen !== id) {
    set({ ...tabs.value, all: rest });
    return;
  }
  const next = rest[Math.min(at, rest.length - 1)];
  if (!next) return;
  set({ all: rest, chosen: next.id });
  go(next.address);
}

/** A tab's title, from its address: the table and the query. */
function titleOf(address: string): string {
  const [path = "", query = ""] = address.replace(/^#/, "").split("?", 2);
  const [, first = "", table, view] = path.split("/");
  const asked = new URLSearchParams(query);
  if (first === "partiql") return "PartiQL";
  if (first !== "tables" || table === undefined) return t("tables");
  return [match("/:table", `/${table}`)?.["table"] ?? table, view, asked.get("index"), asked.get("pk")].filter(Boolean).join(" · ");
}

export function ViewTabs() {
  const { all, chosen } = tabs.value;
  if (all.length < 2) {
    return null;
  }
  void here.value; // the active tab's title follows the current address
  return (
    <nav class="view-tabs" aria-label={t("tabs")}>
      {all.map((tab) => {
        const title = titleOf(tab.id === chosen ? location.hash : tab.address);
        return (
          <span key={tab.id} class={tab.id === chosen ? "view-tab chosen" : "view-tab"}>
            <button type="button" class="clip" aria-current={tab.id === chosen ? "true" : undefined} title={title} onClick={() => show(tab.id)}>{title}</button>
            <Button kind="quiet" size="small" icon={X} label={t("tabs.close", { title })} onPress={() => closeTab(tab.id)} />
          </span>
        );
      })}
      <Button kind="quiet" size="small" icon={Plus} label={t("tabs.new")} onPress={() => newTab()} />
    </nav>
  );
}
