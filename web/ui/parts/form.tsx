import { createContext, type ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

/** Whether the form around a button is being submitted. */
export const Submitting = createContext(false);

/** A form that is submitted once at a time: while the promise of onSubmit is pending, its submit buttons show a spinner, and another submit does nothing. */
export function Form({ id, class: name, onSubmit, children }: { id?: string; class?: string; onSubmit: (event: SubmitEvent) => unknown; children: ComponentChildren }) {
  const running = useRef(false); // state is too late for a double click
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (running.current) {
      return;
    }
    running.current = true;
    setBusy(true);
    try {
      await onSubmit(event);
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return <Submitting.Provider value={busy}><form id={id} class={name} onSubmit={submit}>{children}</form></Submitting.Provider>;
}
