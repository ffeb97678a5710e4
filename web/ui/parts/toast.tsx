import { signal } from "@preact/signals";
import { CircleAlert, CircleCheck, Info, TriangleAlert, X, type IconNode } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { Problem } from "../problem.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export type Tone = "info" | "success" | "warning" | "danger";

interface Shown {
  id: number;
  tone: Tone;
  text: string;
  note?: string;
  action?: { label: string; onPress: () => void };
}

const lasting = 6000;
const fresh = 1000;
const list = signal<readonly Shown[]>([]);
let last = 0;
let lastAt = 0;

const icons: Record<Tone, IconNode> = { info: Info, success: CircleCheck, warning: TriangleAlert, danger: CircleAlert };

/** Shows a message that needs no response: `toast("success", t("saved"))`. Errors stay until closed. The same message again replaces the first. */
export function toast(tone: Tone, text: string, more: { note?: string; action?: Shown["action"] } = {}): void {
  const id = ++last;
  lastAt = Date.now();
  const shown: Shown = { id, tone, text };
  if (more.note !== undefined) shown.note = more.note;
  if (more.action !== undefined) shown.action = more.action;
  list.value = [...list.value.filter((t) => t.tone !== tone || t.text !== text).slice(-3), shown];
  if (tone !== "danger") {
    setTimeout(() => close(id), lasting);
  }
}

/** Shows an error with its id in the log; also the last resort of a form. */
export function toastProblem(error: unknown): void {
  const problem = Problem.of(error);
  if (problem.code === "aborted") {
    return;
  }
  toast("danger", problem.detail, problem.status >= 500 && problem.requestId ? { note: ui("requestId", { id: problem.requestId }) } : {});
}

function close(id: number): void {
  list.value = list.value.filter((t) => t.id !== id);
}

/** The page or an open dialog. What is outside of a modal dialog is inert, so each layer has the toasts that were shown while it was the uppermost. */
export interface Layer {
  /** Its first toast. */
  from: number;
}

const ground: Layer = { from: 0 };
const layers = signal<readonly Layer[]>([ground]);

/** Puts a dialog above the others until the returned function is called. A toast from just before belongs to it, as when an item opens once it is saved. */
export function raise(layer: Layer): () => void {
  layer.from = Date.now() - lastAt < fresh ? last : last + 1;
  layers.value = [...layers.peek(), layer];
  return () => { layers.value = layers.peek().filter((l) => l !== layer); };
}

/** The container of toasts, part of Shell and of each open dialog. */
export function Toasts({ of = ground }: { of?: Layer }) {
  const element = useRef<HTMLDivElement>(null);
  const at = layers.value.indexOf(of);
  const end = layers.value[at + 1]?.from ?? Infinity;
  const shown = at < 0 ? [] : list.value.filter((t) => t.id >= of.from && t.id < end);
  useEffect(() => {
    element.current?.togglePopover(shown.length > 0);
  }, [shown.length > 0]);
  return ( // a live region that is hidden until it has something to say is not read
    <div aria-live="polite">
      <div ref={element} class="toasts" popover="manual">
        {shown.map((t) => (
          <div key={t.id} class={`toast ${t.tone}`} role={t.tone === "danger" ? "alert" : undefined}>
            <Icon of={icons[t.tone]} />
            <div class="toast-text">
              {t.text}
              {t.note && <div class="toast-note">{t.note}</div>}
            </div>
            {t.action && <Button kind="quiet" size="small" onPress={() => { close(t.id); t.action?.onPress(); }}>{t.action.label}</Button>}
            <Button kind="quiet" size="small" icon={X} label={ui("close")} onPress={() => close(t.id)} />
          </div>
        ))}
      </div>
    </div>
  );
}

/** A message that stays on the page. */
export function Notice({ tone = "info", children }: { tone?: Tone; children: preact.ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === "danger" ? "alert" : undefined}>
      <Icon of={icons[tone]} />
      <div class="grow">{children}</div>
    </div>
  );
}
