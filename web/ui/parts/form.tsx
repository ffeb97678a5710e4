import { signal } from "@preact/signals";
import { createContext, type ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** The id of the form around a button. */
export const FormId = createContext<string | undefined>(undefined);

/** The ids of the forms being submitted. A signal changes at once; state would be too late for a double click. */
export const submitting = signal<readonly string[]>([]);

interface FormProps {
  id?: string;
  class?: string;
  /** Leaves all checks to onSubmit. */
  noValidate?: boolean;
  onSubmit: (event: SubmitEvent) => unknown;
  children: ComponentChildren;
}

/** A form that is submitted once at a time: while the promise of onSubmit is pending, its submit buttons show a spinner, and another submit does nothing. */
export function Form({ id, class: name, noValidate, onSubmit, children }: FormProps) {
  const own = useId();
  const form = id ?? own;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (submitting.peek().includes(form)) {
      return;
    }
    submitting.value = [...submitting.peek(), form];
    try {
      await onSubmit(event);
    } finally {
      submitting.value = submitting.peek().filter((other) => other !== form);
    }
  };
  return <FormId.Provider value={form}><form id={id} class={name} noValidate={noValidate} onSubmit={submit}>{children}</form></FormId.Provider>;
}
