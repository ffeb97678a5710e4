// A text that has a grammar. It is a text area until CodeMirror is there, and stays one where that cannot be loaded.
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
  /** What is wrong with the text as a whole. */
  error?: string | undefined;
  /** What the endpoint says about it, marked in the text. */
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

const coloured = 40_000; // letters that are coloured all at once; more of them are drawn while they are in sight

/** JSON to read, however long. */
export function JSONView({ text, label }: { text: string; label: string }) {
  return text.length <= coloured ? <JSONText text={text} label={label} /> : <CodeEditor language="json" label={label} value={text} readOnly rows={30} />;
}
