import { CircleAlert, Search, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { ui } from "../ui-words.ts";
import { Icon } from "./icon.tsx";

interface Common {
  label: string;
  /** Shows the label to screen readers only, where the context makes it obvious visually. */
  labelHidden?: boolean;
  hint?: string;
  /** The error message; none if empty or undefined. */
  error?: string | undefined;
  optional?: boolean;
  name?: string;
}

/** The label, hint and error around any control, which must apply the given attributes. */
export function Field(p: Common & { children: (attributes: ControlAttributes) => ComponentChildren }) {
  const id = useId();
  const described = [p.hint ? `${id}-hint` : "", p.error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label class={p.labelHidden ? "hidden-visually" : "field-label"} for={id}>
        {p.label}
        {p.optional && !p.labelHidden && <span class="field-optional"> · {ui("optional")}</span>}
      </label>
      {p.children({
        id, name: p.name, "aria-describedby": described || undefined, "aria-invalid": p.error ? "true" : undefined,
        required: !p.optional || undefined,
      })}
      {p.hint && <span class="field-hint" id={`${id}-hint`}>{p.hint}</span>}
      {p.error && (
        <span class="field-error" id={`${id}-error`} role="alert">
          <Icon of={CircleAlert} size={14} />
          {p.error}
        </span>
      )}
    </div>
  );
}

export interface ControlAttributes {
  id: string;
  name: string | undefined;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
  required: boolean | undefined;
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  icon?: IconNode;
}

/** The browser's attributes of a text input. */
interface LineProps extends TextProps {
  type?: "text" | "email" | "password" | "search" | "tel" | "url" | "number" | "date" | "time" | "datetime-local" | "month";
  autocomplete?: string;
  inputMode?: "text" | "numeric" | "decimal" | "email" | "tel" | "url" | "search";
  placeholder?: string;
  pattern?: string;
  min?: string | number;
  max?: string | number;
  step?: string | number;
  minLength?: number;
  maxLength?: number;
  /** The id of a <datalist> of suggestions. */
  list?: string;
  disabled?: boolean;
  readOnly?: boolean;
  autofocus?: boolean;
  onKeyDown?: (event: KeyboardEvent) => void;
  onBlur?: () => void;
}

/** A text input. */
export function TextField({ label, labelHidden, hint, error, optional, name, value, onInput, icon, type = "text", ...rest }: LineProps) {
  return (
    <Field {...given({ label, labelHidden, hint, error, optional, name })}>
      {(attributes) => (
        <span class="input-group">
          {icon && <Icon of={icon} size={16} />}
          <input class="input" {...rest} {...attributes} type={type as "text"} value={value} onInput={(e) => onInput(e.currentTarget.value)} />
        </span>
      )}
    </Field>
  );
}

/** A search field; Escape clears it. */
export function SearchField({ label, value, onInput, placeholder }: { label: string; value: string; onInput: (value: string) => void; placeholder?: string }) {
  return (
    <TextField label={label} labelHidden optional type="search" icon={Search} value={value} onInput={onInput} placeholder={placeholder ?? label} autocomplete="off"
      onKeyDown={(e) => { if (e.key === "Escape") onInput(""); }} />
  );
}

export function TextArea({ label, labelHidden, hint, error, optional, name, value, onInput, rows = 4, maxLength, placeholder }: TextProps & { rows?: number; maxLength?: number; placeholder?: string }) {
  return (
    <Field {...given({ label, labelHidden, hint, error, optional, name })}>
      {(attributes) => (
        <textarea class="input" {...attributes} rows={rows} maxLength={maxLength} placeholder={placeholder} value={value}
          onInput={(e) => onInput(e.currentTarget.value)} />
      )}
    </Field>
  );
}

export interface Choice<V extends string> {
  value: V;
  label: string;
}

export function Select<V extends string>({ label, labelHidden, hint, error, optional, name, value, onInput, choices, empty }: Common & {
  value: V | "";
  onInput: (value: V) => void;
  choices: readonly Choice<V>[];
  /** The text shown until something is chosen. */
  empty?: string;
}) {
  return (
    <Field {...given({ label, labelHidden, hint, error, optional, name })}>
      {(attributes) => (
        <select class="input" {...attributes} value={value} onInput={(e) => onInput(e.currentTarget.value as V)}>
          {empty !== undefined && <option value="" disabled={!optional}>{empty}</option>}
          {choices.map((c) => <option key={c.value} value={c.value}>{c.label}</option>)}
        </select>
      )}
    </Field>
  );
}

interface ToggleProps {
  label: string;
  hint?: string;
  checked: boolean;
  disabled?: boolean;
  onInput: (checked: boolean) => void;
}

/** A setting that takes effect immediately. */
export function Switch(p: ToggleProps) {
  return <Toggle {...p} role="switch" />;
}

/** A choice that takes effect when the form is submitted. */
export function Checkbox(p: ToggleProps) {
  return <Toggle {...p} />;
}

function Toggle({ label, hint, checked, disabled, onInput, role }: ToggleProps & { role?: "switch" }) {
  return (
    <label class="choice">
      <input type="checkbox" role={role} checked={checked} disabled={disabled} onInput={(e) => onInput(e.currentTarget.checked)} />
      <span class="choice-text">
        {label}
        {hint && <span class="field-hint">{hint}</span>}
      </span>
    </label>
  );
}

/** Drops undefined members, for types that distinguish undefined from absent. */
function given<T extends object>(o: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}
