// Commands of the current view, for the palette and shortcuts. A view adds its own with useCommands.
import type { IconNode } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { keep, kept } from "#ui";

export interface Command {
  label: string;
  /** Its group: "shop", "Go to". */
  group: string;
  icon?: IconNode;
  /** A key, or two after each other: "n", "g t". */
  keys?: string;
  run: () => void;
}

const providers = new Map<symbol, () => readonly Command[]>();

/** All commands: those of the innermost view first. */
export function commands(): Command[] {
  return [...providers.values()].reverse().flatMap((list) => list());
}

/** Adds commands while the view is mounted. */
export function useCommands(list: () => readonly Command[]): void {
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => {
    const id = Symbol("commands");
    providers.set(id, () => latest.current());
    return () => { providers.delete(id); };
  }, []);
}

const off = "console-keys-off";

/** Whether single-key shortcuts are active: speech input software may trigger them by mistake. */
export function keysOn(): boolean {
  return kept(off) === undefined;
}

export function turnKeys(on: boolean): void {
  keep(off, on ? undefined : "1");
}

const sequence = 1000; // milliseconds between the two keys of one command
let begun: { key: string; at: number } | undefined;

function typing(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && (target as HTMLInputElement).type !== "checkbox";
}

/** Runs the command of a key, except while typing or in dialogs. */
export function onKey(event: KeyboardEvent): void {
  if (event.key === "Escape" && typing(event) && !document.querySelector("dialog[open]")) (document.activeElement as HTMLElement | null)?.blur(); // keys are shortcuts again
  if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || event.defaultPrevented || typing(event) || !keysOn() || document.querySelector("dialog[open], :popover-open.menu")) return;
  const both = begun && event.timeStamp - begun.at < sequence ? `${begun.key} ${event.key}` : undefined;
  const found = (both === undefined ? undefined : commands().find((c) => c.keys === both)) ?? commands().find((c) => c.keys === event.key);
  begun = { key: event.key, at: event.timeStamp };
  if (found) {
    event.preventDefault();
    begun = undefined;
    found.run();
  }
}
