import type { IconNode } from "lucide";
import { h } from "preact";

/** A lucide icon, decorative next to text: `<Icon of={Coffee} />`. With a label it can stand alone. */
export function Icon({ of, size = 18, label }: { of: IconNode; size?: number; label?: string }) {
  return h(
    "svg",
    {
      width: size, height: size, viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": 1.75,
      "stroke-linecap": "round", "stroke-linejoin": "round",
      ...(label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label }),
    },
    of.map(([tag, attributes]) => h(tag, attributes as Record<string, string>)),
  );
}
