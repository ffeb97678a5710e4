import { Check } from "lucide";
import { useId } from "preact/hooks";
import { Icon } from "./icon.tsx";

export interface Chip<V extends string | number> {
  value: V;
  label: string;
}

/**
 * A choice among a few short options, all visible. With most = 1 it is a single choice, like radio buttons; otherwise
 * at most that many can be chosen, and full explains the limit.
 */
export function Chips<V extends string | number>({ label, hint, choices, chosen, onChoose, most = 1, full }: {
  label: string;
  hint?: string;
  choices: readonly Chip<V>[];
  chosen: readonly V[];
  onChoose: (chosen: readonly V[]) => void;
  most?: number;
  full?: string;
}) {
  const id = useId();
  const single = most === 1;
  const isFull = !single && chosen.length >= most;
  const choose = (value: V, on: boolean) => onChoose(single ? [value] : on ? [...chosen, value] : chosen.filter((c) => c !== value));
  return (
    <fieldset class="chips" aria-describedby={`${id}-said`}>
      <legend class="field-label">{label}</legend>
      <div class="chips-list">
        {choices.map((c) => {
          const on = chosen.includes(c.value);
          return (
            <label key={c.value} class="chip">
              <input type={single ? "radio" : "checkbox"} name={id} value={c.value} checked={on} disabled={isFull && !on} onInput={(e) => choose(c.value, e.currentTarget.checked)} />
              {on && !single && <Icon of={Check} size={14} />}
              {c.label}
            </label>
          );
        })}
      </div>
      <span class="field-hint" id={`${id}-said`} role="status">{isFull ? full : hint}</span>
    </fieldset>
  );
}
