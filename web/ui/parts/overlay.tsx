import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";

interface OverlayProps {
  open: boolean;
  title: string;
  /** The buttons, the main one last. */
  actions?: ComponentChildren;
  children?: ComponentChildren;
  /** Called on Escape, the close button, and a click outside. */
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
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (open) dialog?.showModal();
    return () => dialog?.close(); // returns the focus
  }, [open]);
  return (
    <dialog ref={element} class={kind} aria-labelledby={id}
      onCancel={(e) => { e.preventDefault(); onClose(); }}
      onMouseDown={(e) => { if (e.target === element.current) onClose(); }}>
      {open && <>
      <div class="float-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon={X} label={ui("close")} onPress={onClose} />
      </div>
      <div class="float-body">{children}</div>
      {actions && <div class="float-foot">{actions}</div>}
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
