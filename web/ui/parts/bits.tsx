import { CircleAlert, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import type { Problem } from "../problem.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { Tone } from "./toast.tsx";

/** A status in one word; plain has no dot, for counts and labels. */
export function Badge({ tone, plain, children }: { tone?: Tone | "accent"; plain?: boolean; children: ComponentChildren }) {
  return <span class={`badge ${tone ?? ""} ${plain ? "plain" : ""}`}>{children}</span>;
}

/** A group of content. Its title is a heading of level 3, or 2 directly below the page's. */
export function Card({ title, level = 3, action, href, children }: { title?: ComponentChildren; level?: 2 | 3; action?: ComponentChildren; href?: string; children?: ComponentChildren }) {
  const Heading = level === 2 ? "h2" : "h3";
  const inside = (
    <>
      {(title || action) && <div class="card-head"><Heading class="grow">{title}</Heading>{action}</div>}
      {children}
    </>
  );
  return href === undefined ? <section class="card">{inside}</section> : <a class="card" href={href}>{inside}</a>;
}

/** One number with its label. */
export function Stat({ label, value, note }: { label: string; value: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="card stat">
      <span class="stat-label">{label}</span>
      <span class="stat-value">{value}</span>
      {note && <span class="stat-note">{note}</span>}
    </div>
  );
}

/** Initials on a colour derived from the name, for a person without a picture. */
export function Avatar({ name, size = 32 }: { name: string; size?: number }) {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const initials = [words[0], words.length > 1 ? words[words.length - 1] : undefined].map((w) => (w ? [...w][0] : "")).join("");
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + (letter.codePointAt(0) ?? 0)) % 8;
  return <span class="avatar" aria-hidden="true" style={{ "--avatar": `${size}px`, "--avatar-hue": `var(--kind-${hue + 1})` }}>{initials.toLocaleUpperCase() || "?"}</span>;
}

/** A placeholder while content loads. */
export function Skeleton({ width = "100%", height, lines }: { width?: string; height?: string; lines?: number }) {
  if (lines !== undefined) {
    return <div class="stack" style={{ "--gap": "var(--space-2)" }} aria-hidden="true">{Array.from({ length: lines }, (_, n) => <Skeleton key={n} width={n === lines - 1 ? "60%" : "100%"} />)}</div>;
  }
  return <span class="skeleton" aria-hidden="true" style={{ width, height }} />;
}

/** An empty state: what is missing, and one action. Its title is a heading of level 2 unless set. */
export function Empty({ icon, title, level = 2, children, action }: { icon: IconNode; title: string; level?: 1 | 2 | 3; children?: ComponentChildren; action?: ComponentChildren }) {
  const Heading = level === 1 ? "h1" : level === 2 ? "h2" : "h3";
  return (
    <div class="empty">
      <Icon of={icon} size={36} />
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Content that failed to load, with a retry button. */
export function Failed({ problem, onRetry }: { problem?: Problem | undefined; onRetry?: () => void }) {
  return (
    <div class="empty" role="alert">
      <Icon of={CircleAlert} size={36} />
      <h2>{ui("failed")}</h2>
      {problem && <p>{problem.detail}</p>}
      {problem && problem.status >= 500 && problem.requestId && <p class="small">{ui("requestId", { id: problem.requestId })}</p>}
      {onRetry && <Button onPress={onRetry}>{ui("retry")}</Button>}
    </div>
  );
}

/** A progress bar; indeterminate without a value. */
export function Progress({ label, value, max = 1 }: { label: string; value?: number; max?: number }) {
  return value === undefined ? <progress class="progress" aria-label={label} /> : <progress class="progress" aria-label={label} value={value} max={max} />;
}

export function Breadcrumb({ steps }: { steps: readonly { label: string; href?: string }[] }) {
  return (
    <nav aria-label={ui("youAreHere")}>
      <ol class="breadcrumb">
        {steps.map((s, n) => <li key={n}>{s.href !== undefined && n < steps.length - 1 ? <a href={s.href}>{s.label}</a> : <span aria-current={n === steps.length - 1 ? "page" : undefined}>{s.label}</span>}</li>)}
      </ol>
    </nav>
  );
}

export interface Step {
  key: string;
  title: string;
  note?: ComponentChildren;
  state: "done" | "now" | "later" | "failed";
}

/** Past and future steps of a process. */
export function Timeline({ label, steps }: { label: string; steps: readonly Step[] }) {
  return (
    <ol class="timeline" aria-label={label}>
      {steps.map((s) => (
        <li key={s.key} class={s.state} aria-current={s.state === "now" ? "step" : undefined}>
          <div class="timeline-title">{s.title}</div>
          {s.note && <div class="muted small">{s.note}</div>}
        </li>
      ))}
    </ol>
  );
}
