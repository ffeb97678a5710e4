import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useChosenInSight } from "../in-sight.ts";

export interface Tab<K extends string> {
  key: K;
  label: ComponentChildren;
}

/** Views of one thing. Arrow keys move between tabs; only the chosen tab is in the tab order. */
export function Tabs<K extends string>({ label, tabs, chosen, onChoose, children }: {
  label: string;
  tabs: readonly Tab<K>[];
  chosen: K;
  onChoose: (key: K) => void;
  children: ComponentChildren;
}) {
  const id = useId();
  const list = useChosenInSight<HTMLDivElement>(chosen);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((t) => t.key === chosen);
    const to: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
    const next = to[event.key];
    const tab = next === undefined ? undefined : tabs[next % tabs.length];
    if (tab) {
      event.preventDefault();
      onChoose(tab.key);
      list.current?.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${tab.key}`)}`)?.focus();
    }
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((t) => (
          <button key={t.key} id={`${id}-${t.key}`} class="tab" type="button" role="tab" aria-selected={t.key === chosen} aria-controls={t.key === chosen ? `${id}-panel` : undefined}
            tabIndex={t.key === chosen ? 0 : -1} onClick={() => onChoose(t.key)}>
            {t.label}
          </button>
        ))}
      </div>
      <div class="tab-panel" id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`} tabIndex={0}>{children}</div>
    </div>
  );
}
