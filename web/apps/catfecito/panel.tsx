import type { ComponentChildren } from "preact";

/** A part of a page with a heading of its own. */
export function Panel({ title, action, children }: { title: ComponentChildren; action?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card panel">
      <div class="card-head"><h2 class="grow">{title}</h2>{action}</div>
      {children}
    </section>
  );
}
