import type { ComponentChildren } from "preact";
import { ui } from "../ui-words.ts";
import { CopyButton } from "./code.tsx";

const parts = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)/g;

/** Read-only JSON with syntax colours. Text that is not JSON is shown unchanged. */
export function JSONText({ text, label }: { text: string; label?: string }) {
  const shown: ComponentChildren[] = [];
  let at = 0;
  for (const m of text.matchAll(parts)) {
    shown.push(text.slice(at, m.index));
    const kind = m[1] !== undefined ? (m[2] !== undefined ? "json-name" : "json-text") : m[3] !== undefined ? "json-number" : "json-word";
    shown.push(<span class={kind}>{m[1] ?? m[0]}</span>, m[2]);
    at = m.index + m[0].length;
  }
  shown.push(text.slice(at));
  return (
    <div class="code wrap">
      <pre tabIndex={0} role="region" aria-label={label ?? ui("code")}><code>{shown}</code></pre>
      <CopyButton text={text} />
    </div>
  );
}
