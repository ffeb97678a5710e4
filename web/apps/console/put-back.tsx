// Restores an item to an earlier version after a preview, on the condition that it has not changed since.
import { RotateCcw } from "lucide";
import { useState } from "preact/hooks";
import { Button, Dialog, Notice, Problem, toast } from "#ui";
import { about } from "./api.ts";
import { Changes, changesOf } from "./diff.tsx";
import { Fault } from "./fault.tsx";
import { Attributes } from "./show.tsx";
import { putBack } from "./undo.ts";
import type { Item } from "./value.ts";
import { t } from "./words.ts";

/** A button that restores an item from `now` to `then`. */
export function PutBack({ table, keys, then, now, label, onDone }: { table: string; keys: readonly string[]; then: Item | undefined; now: Item | undefined; label: string; onDone: () => void }) {
  const [open, set] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  if (about.readOnly) return null;
  const write = async () => {
    setProblem(undefined);
    try {
      await putBack(table, keys, { before: then, after: now });
      set(false);
      onDone();
    } catch (thrown) {
      const refused = Problem.of(thrown);
      if (refused.code !== "ConditionalCheckFailedException") {
        setProblem(refused);
        return;
      }
      set(false);
      toast("warning", t("past.changedSince"));
      onDone();
    }
  };
  return (
    <>
      <Button size="small" icon={RotateCcw} onPress={() => set(true)}>{label}</Button>
      {open && (
        <Dialog wide open title={label} onClose={() => set(false)} actions={<><Button onPress={() => set(false)}>{t("cancel")}</Button><Button kind={then ? "primary" : "danger"} onPress={write}>{t(then ? "past.write" : "delete")}</Button></>}>
          <div class="stack">
            {problem && <Fault problem={problem} />}
            <p class="muted">{t(then ? (now ? "past.putText" : "past.putNew") : "past.putDelete")}</p>
            {then && now ? <Changes changes={changesOf(now, then)} /> : <Attributes item={(then ?? now) as Item} keys={keys} />}
            <Notice tone="info">{t("item.condition")}</Notice>
          </div>
        </Dialog>
      )}
    </>
  );
}
