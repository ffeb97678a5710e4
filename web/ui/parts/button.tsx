import type { IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { FormId, submitting } from "./form.tsx";
import { Icon } from "./icon.tsx";

type Kind = "primary" | "secondary" | "quiet" | "danger";
type Size = "small" | "medium" | "large";

interface ButtonProps {
  children?: ComponentChildren;
  kind?: Kind;
  size?: Size;
  icon?: IconNode;
  /** Names a button that shows only its icon. */
  label?: string;
  type?: "button" | "submit";
  /** While true, the button shows a spinner and cannot be pressed; so does a pending promise from onPress, or of a submit button's Form. */
  loading?: boolean;
  disabled?: boolean;
  wide?: boolean;
  /** A link that looks like a button. */
  href?: string;
  form?: string;
  id?: string;
  class?: string;
  expanded?: boolean;
  autofocus?: boolean;
  onPress?: (event: MouseEvent) => unknown;
}

export function Button(p: ButtonProps) {
  const [waiting, setWaiting] = useState(false);
  const around = useContext(FormId);
  const form = p.type === "submit" ? p.form ?? around : undefined;
  const busy = p.loading === true || waiting || (form !== undefined && submitting.value.includes(form));
  const alone = p.icon !== undefined && p.children === undefined;
  const names = ["button", p.kind ?? "secondary", p.size ?? "", alone ? "icon" : "", p.wide ? "wide" : "", p.class ?? ""];
  const shown = { class: names.filter(Boolean).join(" "), "aria-label": p.label, title: alone ? p.label : undefined, id: p.id };
  const inside = (
    <>
      {busy ? <span class="spinner" aria-hidden="true" /> : p.icon && <Icon of={p.icon} size={p.size === "small" ? 16 : 18} />}
      {p.children}
    </>
  );
  if (p.href !== undefined) {
    return <a {...shown} href={p.href} onClick={p.onPress}>{inside}</a>;
  }
  const press = (event: MouseEvent) => {
    if (busy) {
      event.preventDefault();
      return;
    }
    const done = p.onPress?.(event);
    if (done instanceof Promise) {
      setWaiting(true);
      void done.finally(() => setWaiting(false));
    }
  };
  // A busy button stays focusable, so keyboard focus is not lost.
  return (
    <button {...shown} type={p.type ?? "button"} form={p.form} disabled={p.disabled} aria-busy={busy || undefined}
      aria-disabled={busy || undefined} aria-expanded={p.expanded} autofocus={p.autofocus} onClick={press}>
      {inside}
    </button>
  );
}
