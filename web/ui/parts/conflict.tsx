import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Tagged } from "../client.ts";
import type { Problem } from "../problem.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Notice, toastProblem } from "./toast.tsx";

/** The version that a form edits, so that saving does not overwrite someone else's changes. */
export interface Version {
  /** The header of the save. */
  header: () => { "If-Match"?: string };
  /** Records the tag of the stored version, after a save or a change made outside the form. */
  is: (tag: string | undefined) => void;
  /** Whether a save was rejected because someone else saved in the meantime. Conflict then asks what to do. */
  refused: (problem: Problem) => boolean;
  /** For Conflict. */
  asking: boolean;
  keep: () => Promise<void>;
  load: () => Promise<void>;
}

/** The version of a form: first is the version it was opened with, now loads the stored one, show replaces the form's values. */
export function useVersion<T>(first: Tagged<T> | undefined, now: () => Promise<Tagged<T>>, show: (stored: Tagged<T>) => void): Version {
  const tag = useRef(first?.tag);
  const [asking, setAsking] = useState(false);
  const resolve = (then: (stored: Tagged<T>) => void) => async () => {
    try {
      const stored = await now();
      tag.current = stored.tag;
      setAsking(false);
      then(stored);
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return {
    header: () => (tag.current ? { "If-Match": tag.current } : {}),
    is: (stored) => { tag.current = stored; },
    refused: (problem) => {
      const changed = problem.code === "changed_since";
      setAsking(changed);
      return changed;
    },
    asking, keep: resolve(() => {}), load: resolve(show),
  };
}

/** Tells the user of a form that someone else has changed the item. The input stays until they decide. */
export function Conflict({ version, children }: { version: Version; children?: ComponentChildren }) {
  if (!version.asking) {
    return null;
  }
  return (
    <div role="alert">
      <Notice tone="warning">
        <div class="stack" style={{ "--gap": "var(--space-2)" }}>
          <b>{ui("conflict.title")}</b>
          <span>{ui("conflict.text")}</span>
          <div class="row">
            <Button size="small" onPress={version.load}>{ui("conflict.load")}</Button>
            <Button size="small" onPress={version.keep}>{ui("conflict.keep")}</Button>
            {children}
          </div>
        </div>
      </Notice>
    </div>
  );
}
