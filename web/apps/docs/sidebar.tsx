// The list of all operations next to the content, searchable and navigable by arrow keys.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { SearchField, go, here, link } from "#ui";
import { type API, found } from "./document.ts";
import { MethodName } from "./operation.tsx";
import { t } from "./words.ts";

/** The search text. */
export const searched = signal("");

/** Enter opens the first result, the down arrow moves into the list. */
export function Search({ api }: { api: API }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement;
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && box.current?.checkVisibility()) {
        event.preventDefault();
        box.current.querySelector("input")?.focus();
      }
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  const move = (event: KeyboardEvent) => {
    const first = found(api, searched.value)[0]?.entries[0];
    if (event.key === "Enter" && first) {
      go(link("/:id", { id: first.id }));
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      document.querySelector<HTMLElement>(".sidebar-list a")?.focus();
    }
  };
  return (
    <search class="search" ref={box} onKeyDown={move}>
      <SearchField label={t("search")} placeholder={t("search")} value={searched.value} onInput={(v) => { searched.value = v; }} />
      <kbd class="wide-only" aria-hidden="true">/</kbd>
    </search>
  );
}

export function Sidebar({ api }: { api: API }) {
  const list = useRef<HTMLDivElement>(null);
  const path = here.value.path;
  useEffect(() => {
    list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  }, [path]);
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    const next = links[links.indexOf(document.activeElement as HTMLElement) + step];
    event.preventDefault();
    (next ?? (step < 0 ? document.querySelector<HTMLElement>(".sidebar input") : undefined))?.focus();
  };
  const groups = found(api, searched.value);
  return (
    <nav class="sidebar" aria-label={t("operations")}>
      <Search api={api} />
      <div class="sidebar-list" ref={list} onKeyDown={walk}>
        {searched.value.trim() === "" && <ul><li><a href={link("/")} aria-current={path === "/" ? "page" : undefined}>{t("overview")}</a></li></ul>}
        {groups.map((g, n) => (
          <div key={g.tag}>
            <div class="sidebar-tag" id={`group-${n}`}>{g.tag}</div>
            <ul aria-labelledby={`group-${n}`}>
              {g.entries.map((e) => (
                <li key={e.id}>
                  <a href={link("/:id", { id: e.id })} aria-current={path === `/${e.id}` ? "page" : undefined} title={`${e.method.toUpperCase()} ${e.path}`}>
                    <span class="grow" lang="en">{e.operation.summary ?? e.id}</span><MethodName method={e.method} />
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        {groups.length === 0 && <p class="muted small">{t("search.none")}</p>}
      </div>
      <span class="hidden-visually" role="status">{searched.value.trim() === "" ? "" : t("search.found", { n: groups.reduce((n, g) => n + g.entries.length, 0) })}</span>
    </nav>
  );
}
