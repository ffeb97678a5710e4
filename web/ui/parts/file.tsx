import type { IconNode } from "lucide";
import { useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";

/** A button that asks for a file. While onFile's promise is pending, it shows a spinner and cannot be pressed. */
export function FileButton({ children, label, icon, kind, size, accept, onFile }: {
  children?: string;
  /** Names a button that shows only its icon. */
  label?: string;
  icon?: IconNode;
  kind?: "primary" | "secondary" | "quiet";
  size?: "small" | "medium";
  /** Media types and extensions, as in the accept attribute: "image/*". */
  accept: string;
  onFile: (file: File) => Promise<void>;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const take = async () => {
    const file = input.current?.files?.[0];
    if (!file || !input.current) return;
    input.current.value = ""; // so that the same file can be chosen again
    setBusy(true);
    try {
      await onFile(file);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button {...(label ? { label } : {})} {...(icon ? { icon } : {})} {...(kind ? { kind } : {})} {...(size ? { size } : {})} loading={busy} onPress={() => input.current?.click()}>{children}</Button>
      <input ref={input} type="file" accept={accept} hidden onChange={() => void take()} />
    </>
  );
}
