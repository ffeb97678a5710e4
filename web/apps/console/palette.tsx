// The command palette, the list of shortcuts, and the shortcuts themselves.
import { Bookmark, Command as CommandIcon, Database, History, Keyboard, Layers, Moon, Server, SquareTerminal, Table2, Undo2 } from "lucide";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Dialog, Icon, Switch, go, link } from "#ui";
import { chooseTheme, theme } from "#ui/theme.ts";
import { about } from "./api.ts";
import { type Command, commands, keysOn, onKey, turnKeys, useCommands } from "./commands.ts";
import { bookmarks, past } from "./queries.ts";
import { indexesOf, knownTable, loadNames, names } from "./schema.ts";
import { newTab } from "./view-tabs.tsx";
import { lastWrite, undo } from "./undo.ts";
import { t } from "./words.ts";

type Floating = "palette" | "keys" | undefined;
const floating = signal<Floating>(undefined);
const close = () => { floating.value = undefined; };

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Commands available everywhere. */
function everywhere(): Command[] {
  const to = t("palette.go");
  const goes = (label: string, address: string, icon: Command["icon"], keys?: string): Command => ({ label, group: to, run: () => go(address), ...(icon ? { icon } : {}), ...(keys === undefined ? {} : { keys }) });
  return [
    goes(t("tables"), link("/tables"), Table2, "g t"), goes("PartiQL", link("/partiql"), SquareTerminal, "g p"), goes(t("queries"), link("/queries"), Bookmark, "g b"),
    ...(about.readOnly ? [] : [goes(t("create"), link("/create"), Database)]),
    ...(lastWrite.value ? [{ label: t("undo.last"), group: t("palette.do"), icon: Undo2, keys: "u", run: () => void undo() }] : []),
    { label: t("tabs.new"), group: t("palette.do"), icon: Layers, keys: "t", run: () => newTab() },
    { label: t("keys"), group: t("palette.do"), icon: Keyboard, keys: "?", run: () => { floating.value = "keys"; } },
    { label: t("palette.dark"), group: t("palette.do"), icon: Moon, run: () => chooseTheme(theme.value === "dark" ? "light" : "dark") },
    ...(about.endpoints ?? []).filter((e) => e.current !== true).map((e) => ({ label: e.name, group: t("endpoint"), icon: Server, run: () => location.assign(e.path + location.hash) })),
    ...(names.value ?? []).flatMap((name) => [
      { label: name, group: t("palette.table"), icon: Table2, run: () => go(link("/tables/:table", { table: name })) },
      ...indexesOf(knownTable(name)?.description ?? emptyTable).map((i) => ({ label: `${name} · ${i.IndexName}`, group: t("index"), icon: Layers, run: () => go(link("/tables/:table", { table: name, index: i.IndexName })) })),
    ]),
    ...bookmarks.value.map((q) => ({ label: q.title, group: t("bookmarks"), icon: Bookmark, run: () => go(q.address) })),
    ...past.value.map((q) => ({ label: q.title, group: t("history"), icon: History, run: () => go(q.address) })),
  ];
}

const emptyTable = { TableName: "", TableStatus: "", KeySchema: [], AttributeDefinitions: [] };

export function PaletteButton() {
  return <Button kind="quiet" icon={CommandIcon} label={`${t("palette")} (${mac ? "⌘" : "Ctrl"}+K)`} onPress={() => { floating.value = "palette"; }} />;
}

/** The palette's host: listens to keys and shows its dialogs. */
export function Palette() {
  useCommands(everywhere);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        floating.value = floating.value === "palette" ? undefined : "palette";
      } else {
        onKey(event);
      }
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  return (
    <>
      {floating.value === "palette" && <Finder />}
      {floating.value === "keys" && <Keys />}
    </>
  );
}

const shown = 50;

function Finder() {
  const [sought, seek] = useState("");
  const [at, choose] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const [all] = useState(commands);
  useEffect(() => { if (!names.value) void loadNames(); }, []);
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (names.value ? commands() : all).filter((c) => words.every((w) => `${c.group} ${c.label}`.toLowerCase().includes(w))).slice(0, shown);
  const run = (c: Command | undefined) => {
    if (!c) return;
    close();
    setTimeout(c.run); // after the dialog has returned the focus
  };
  const key = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + found.length }[event.key];
    if (to !== undefined && found.length > 0) {
      event.preventDefault();
      choose(to % found.length);
      list.current?.children[to % found.length]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    <Dialog wide open title={t("palette")} onClose={close}>
      <div class="stack palette" style={{ "--gap": "var(--space-2)" }}>
        <input class="input" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={found[at] ? `palette-${at}` : undefined} aria-label={t("palette.find")} placeholder={t("palette.find")} value={sought} autofocus autocomplete="off"
          ref={(e) => { if (e && document.activeElement?.closest("dialog") !== e.closest("dialog")) e.focus(); }} onInput={(e) => { seek(e.currentTarget.value); choose(0); }} onKeyDown={key} />
        <ul id="palette-list" role="listbox" aria-label={t("palette")} ref={list} tabIndex={-1}>
          {found.map((c, n) => (
            <li key={n} id={`palette-${n}`} role="option" aria-selected={n === at} onPointerMove={() => choose(n)} onClick={() => run(c)}>
              {c.icon && <Icon of={c.icon} size={16} />}<span class="grow clip">{c.label}</span><span class="muted small">{c.group}</span>{c.keys !== undefined && <KeyCaps keys={c.keys} />}
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="muted">{t("palette.none")}</p>}
      </div>
    </Dialog>
  );
}

function KeyCaps({ keys }: { keys: string }) {
  return <span class="keycaps">{keys.split(" ").map((k, n) => <kbd key={n}>{k}</kbd>)}</span>;
}

function Keys() {
  const [on, turn] = useState(keysOn());
  const rows: [string, string][] = [
    [`${mac ? "⌘" : "Ctrl"} K`, t("palette")], ...commands().filter((c) => c.keys !== undefined).map((c): [string, string] => [c.keys ?? "", c.label]),
    ["↑ ↓", t("keys.rows")], ["Space", t("keys.pick")], ["Enter", t("keys.open")], [`${mac ? "⌘" : "Ctrl"} Enter`, t("keys.run")], ["Esc", t("keys.close")],
  ];
  return (
    <Dialog open title={t("keys")} onClose={close} actions={<Button kind="primary" onPress={close}>{t("done")}</Button>}>
      <div class="stack">
        <dl class="keys" tabIndex={0}>{rows.map(([keys, label]) => <div key={keys + label}><dt><KeyCaps keys={keys} /></dt><dd>{label}</dd></div>)}</dl>
        <Switch label={t("keys.on")} hint={t("keys.onHint")} checked={on} onInput={(now) => { turn(now); turnKeys(now); }} />
      </div>
    </Dialog>
  );
}
