import type { ComponentChildren } from "preact";

/** Progress as a ring around its content; label is for screen readers. */
export function Ring({ value, max, label, size = 44, children }: { value: number; max: number; label: string; size?: number; children?: ComponentChildren }) {
  const share = max > 0 ? Math.min(Math.max(value / max, 0), 1) : 0;
  return (
    <span class={share === 1 ? "ring full" : "ring"} role="img" aria-label={label} style={{ "--ring": `${size}px` }}>
      <svg viewBox="0 0 44 44" aria-hidden="true">
        <circle class="ring-track" cx="22" cy="22" r="20" pathLength="100" />
        <circle class="ring-value" cx="22" cy="22" r="20" pathLength="100" stroke-dasharray={`${share * 100} 100`} />
      </svg>
      {children}
    </span>
  );
}
