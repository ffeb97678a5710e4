import { Check, Copy } from "lucide";
import { useState } from "preact/hooks";
import { copy } from "../copy.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Tabs } from "./tabs.tsx";
import { toast } from "./toast.tsx";

const shown = 2000;

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const press = async () => {
    if (await copy(text)) {
      setCopied(true);
      setTimeout(() => setCopied(false), shown);
    } else {
      toast("warning", ui("copyFailed"));
    }
  };
  return <Button kind="quiet" size="small" icon={copied ? Check : Copy} label={copied ? ui("copied") : label ?? ui("copy")} onPress={press} />;
}

/** Text to read or copy. */
export function Code({ text, label, wrap }: { text: string; label?: string; wrap?: boolean }) {
  return (
    <div class={wrap ? "code wrap" : "code"}>
      <pre tabIndex={0} role="region" aria-label={label ?? ui("code")}><code>{text}</code></pre>
      <CopyButton text={text} />
    </div>
  );
}

/** The same code in several languages. */
export function CodeTabs<K extends string>({ label, texts, wrap = false }: { label: string; texts: readonly { key: K; label: string; text: string }[]; wrap?: boolean }) {
  const [chosen, choose] = useState<K | undefined>(texts[0]?.key);
  const text = texts.find((t) => t.key === chosen) ?? texts[0];
  if (!text) {
    return null;
  }
  return (
    <Tabs label={label} tabs={texts} chosen={text.key} onChoose={choose}>
      <Code text={text.text} label={text.label} wrap={wrap} />
    </Tabs>
  );
}
