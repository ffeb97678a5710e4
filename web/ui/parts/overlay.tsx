import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusAt } from "../focus.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Toasts, raise, type Layer } from "./toast.tsx";

interface OverlayProps {
  open: boolean;
  title: string;
  /** The buttons, the main one last. */
  actions?: ComponentChildren;
  children?: ComponentChildren;
  /** Called on Escape, the close button, and a click outside. Once a form in it has been changed, a click outside does nothing, and Escape asks. */
  onClose: () => void;
  wide?: boolean;
}

/** A question or a short form: the browser's modal dialog, with its focus handling and Escape. On phones it slides in from below. */
export function Dialog(p: OverlayProps) {
  return <Overlay {...p} kind={p.wide ? "dialog wide" : "dialog"} />;
}

/** A panel next to the page it belongs to: a cart, an item. */
export function Drawer(p: OverlayProps) {
  return <Overlay {...p} kind={p.wide ? "drawer wide" : "drawer"} />;
}

function Overlay({ open, title, actions, children, onClose, kind }: OverlayProps & { kind: string }) {
  const element = useRef<HTMLDialogElement>(null);
  const shown = useRef(false);
  const changed = useRef<Element | null>(null); // the form with input that would be lost
  const [asking, setAsking] = useState<"no" | "asked" | "discard">("no");
  const layer = useRef<Layer>({ from: 0 });
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!open || !dialog) return undefined;
    const opener = document.activeElement;
    shown.current = true;
    changed.current = null;
    setAsking("no");
    dialog.showModal();
    const lower = raise(layer.current);
    return () => {
      shown.current = false;
      lower();
      dialog.close(); // returns the focus, unless the dialog has already been removed
      if (document.activeElement === document.body) focusAt(opener);
    };
  }, [open]);
  const dirty = () => changed.current?.isConnected === true;
  const leave = () => (dirty() ? setAsking("asked") : onClose());
  useEffect(() => {
    if (asking === "discard") onClose(); // once the question has closed and given the focus back
  }, [asking]);
  const reopen = () => { // browsers close a dialog at the second Escape in a row, whatever onCancel says
    element.current?.showModal();
    leave();
  };
  return (
    <dialog ref={element} class={kind} aria-labelledby={id}
      onInput={(e) => { changed.current = (e.target as Element).closest("form") ?? changed.current; }}
      onCancel={(e) => { if (e.target === element.current) { e.preventDefault(); leave(); } }}
      onClose={() => { if (shown.current) reopen(); }}
      onMouseDown={(e) => { if (e.target === element.current && !dirty()) onClose(); }}>
      {open && <>
      <div class="float-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon={X} label={ui("close")} onPress={onClose} />
      </div>
      <div class="float-body">{children}</div>
      {actions && <div class="float-foot">{actions}</div>}
      {asking === "asked" && <Discard onDiscard={() => setAsking("discard")} onKeep={() => setAsking("no")} />}
      <Toasts of={layer.current} />
      </>}
    </dialog>
  );
}

/** A confirmation: the safe choice has the focus. The button shows a spinner until onConfirm's promise settles. */
export function Confirm(p: { open: boolean; title: string; children: ComponentChildren; action: string; danger?: boolean; onConfirm: () => unknown; onClose: () => void }) {
  return (
    <Dialog open={p.open} title={p.title} onClose={p.onClose} actions={
      <>
        <Button onPress={p.onClose} autofocus>{ui("cancel")}</Button>
        <Button kind={p.danger ? "danger" : "primary"} onPress={p.onConfirm}>{p.action}</Button>
      </>
    }>
      {p.children}
    </Dialog>
  );
}

/** Asks before input that has not been saved is lost. */
export function Discard({ onDiscard, onKeep }: { onDiscard: () => void; onKeep: () => void }) {
  return <Confirm open title={ui("discard.ask")} action={ui("discard")} danger onConfirm={onDiscard} onClose={onKeep}>{ui("discard.text")}</Confirm>;
}
