// An editor for code. It is a text area until CodeMirror is loaded, and remains one if that fails.
import { useEffect, useRef, useState } from "preact/hooks";
import { Field, JSONText } from "#ui";
import type { Editor } from "./codemirror.ts";
import { isValue } from "./tree.ts";
import { t } from "./words.ts";

interface CodeEditorProps {
  language: "json" | "partiql";
  label: string;
  hint?: string;
  value: string;
  onInput?: (value: string) => void;
  onRun?: () => void;
  readOnly?: boolean;
  rows?: number;
  /** The error of the text as a whole. */
  error?: string | undefined;
  /** The endpoint's error message, marked in the text. */
  fault?: string;
  schema?: Readonly<Record<string, readonly string[]>>;
}

export function CodeEditor({ language, label, hint = "", value, onInput = () => undefined, onRun = () => undefined, readOnly = false, rows = 18, error, fault = "", schema = {} }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const latest = useRef({ value, onInput, onRun });
  latest.current = { value, onInput, onRun };
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let gone = false;
    void import("./codemirror.ts").then(({ edit }) => {
      if (gone || !host.current) return;
      const focused = document.activeElement === area.current;
      editor.current = edit(host.current, { language, label, readOnly, schema, isValue, wrong: t("edit.valueFault"), value: latest.current.value, onInput: (text) => latest.current.onInput(text), onRun: () => latest.current.onRun() });
      setReady(true);
      if (focused) editor.current.focus();
    }, () => undefined);
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => editor.current?.set(value), [value, ready]);
  useEffect(() => editor.current?.fault(fault), [fault, ready]);
  return (
    <div class="mono code-field">
      <Field label={label} hint={hint} {...(error === undefined ? {} : { error })}>
        {(attributes) => <textarea ref={area} class="input" {...attributes} rows={rows} readOnly={readOnly} hidden={ready} value={value} spellcheck={false} onInput={(e) => onInput(e.currentTarget.value)} />}
      </Field>
      <div ref={host} class={ready ? "code-editor ready" : "code-editor"} data-invalid={error !== undefined || undefined} style={{ "--rows": String(rows) }} hidden={!ready} />
    </div>
  );
}

const coloured = 40_000; // characters highlighted at once; longer texts are rendered while visible

/** Read-only JSON of any length. */
export function JSONView({ text, label }: { text: string; label: string }) {
  return text.length <= coloured ? <JSONText text={text} label={label} /> : <CodeEditor language="json" label={label} value={text} readOnly rows={30} />;
}
