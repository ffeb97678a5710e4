// The console's CodeMirror setup: JSON and PartiQL, errors in place, in the page's colours. It is a separate chunk, loaded
// when an editor is first shown. It lives in a shadow root, where its styles are constructed sheets: the page's
// Content-Security-Policy allows no style elements.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface EditorOptions {
  language: "json" | "partiql";
  value: string;
  label: string;
  readOnly: boolean;
  onInput: (value: string) => void;
  /** Ctrl or ⌘ with Enter. */
  onRun: () => void;
  /** Whether the JSON of one attribute is a value; wrong is the error if it is not. */
  isValue: (v: unknown) => boolean;
  wrong: string;
  /** Names of tables and their known attributes, for completion. */
  schema: Readonly<Record<string, readonly string[]>>;
}

export interface Editor {
  set: (value: string) => void;
  /** Marks the statement with AWS's error message; "" removes the mark. */
  fault: (text: string) => void;
  focus: () => void;
  destroy: () => void;
}

const partiql = SQLDialect.define({
  keywords: "select from where and or not in between order by asc desc insert into value update set remove delete returning all modified old new is missing null as exists",
  types: "string number binary", builtin: "begins_with contains attribute_type size list_append set_add set_delete true false", doubleQuotedStrings: false, identifierQuotes: '"', operatorChars: "*+-%<>!=|",
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName], color: "var(--accent-text)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--success)" },
  { tag: [tags.number], color: "var(--info)" },
  { tag: [tags.bool, tags.null, tags.keyword, tags.operatorKeyword], color: "var(--kind-6)" },
  { tag: [tags.standard(tags.name)], color: "var(--kind-2)" },
  { tag: [tags.comment], color: "var(--text-muted)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { fontSize: "var(--size-13)", color: "var(--text)", backgroundColor: "var(--surface-2)", height: "100%", maxHeight: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface-2)", color: "var(--text-muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklch, var(--surface-3) 55%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft)" },
  ".cm-tooltip": { backgroundColor: "var(--surface-2)", color: "var(--text)", border: "1px solid var(--border)", borderRadius: "var(--radius)", fontFamily: "var(--font)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--accent-text)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--surface-3)", border: "0", color: "var(--text-muted)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft) !important", color: "inherit" },
});

/** Marks the attributes whose JSON is not a DynamoDB value. */
function itemLinter(o: EditorOptions): Extension {
  return linter((view) => {
    const broken = jsonParseLinter()(view);
    if (broken.length > 0) return broken;
    const found: Diagnostic[] = [];
    for (let p = syntaxTree(view.state).topNode.firstChild?.firstChild ?? null; p; p = p.nextSibling) {
      const value = p.name === "Property" ? p.lastChild : null;
      if (!value) continue;
      try {
        if (!o.isValue(JSON.parse(view.state.sliceDoc(value.from, value.to)))) found.push({ from: p.from, to: p.to, severity: "error", message: o.wrong });
      } catch {
        // the tree is not as far as the text
      }
    }
    return found;
  });
}

/** Pastes text over a selection. Chromium would copy the selection's appearance into style attributes, which the content policy forbids. */
const overSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty || view.composing) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type" });
    return true;
  },
});

const outside = Annotation.define<boolean>();

export function edit(host: HTMLElement, o: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open", delegatesFocus: true });
  const language = o.language === "json"
    ? [json(), foldGutter(), codeFolding(), ...(o.readOnly ? [] : [itemLinter(o)])]
    : [sql({ dialect: partiql, upperCaseKeywords: true, schema: o.schema as Record<string, string[]> }), linter(null)];
  const run = keymap.of([{ key: "Mod-Enter", run: () => { o.onRun(); return true; } }]);
  const view = new EditorView({
    parent: root, root,
    state: EditorState.create({
      doc: o.value,
      extensions: [
        run, o.language === "json" ? lineNumbers() : [], language, look, syntaxHighlighting(colours), bracketMatching(), drawSelection(),
        EditorView.contentAttributes.of({ "aria-label": o.label, ...(o.readOnly ? { tabindex: "0" } : {}) }),
        o.readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)]
          : [history(), indentOnInput(), closeBrackets(), autocompletion(), highlightActiveLine(), overSelection],
        o.language === "json" ? [] : EditorView.lineWrapping,
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap]),
        EditorView.updateListener.of((u) => { if (u.docChanged && !u.transactions.some((t) => t.annotation(outside))) o.onInput(u.state.doc.toString()); }),
      ],
    }),
  });
  return {
    set: (value) => { if (value !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, annotations: outside.of(true) }); },
    fault: (message) => view.dispatch(setDiagnostics(view.state, message === "" || view.state.doc.length === 0 ? [] : [{ ...placeOf(message, view.state), severity: "error", message }])),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** The position of an error: a word quoted by the message, or the whole statement. */
function placeOf(message: string, state: EditorState): { from: number; to: number } {
  const text = state.doc.toString();
  for (const [, word = ""] of message.matchAll(/[:'"`]\s*([\w#.-]{2,})/g)) {
    const at = text.indexOf(word);
    if (at >= 0) return { from: at, to: at + word.length };
  }
  return { from: 0, to: text.length };
}
