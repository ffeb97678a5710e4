import type { ComponentChildren } from "preact";

/** A section of a page with its own heading. */
export function Panel({ title, action, children }: { title: ComponentChildren; action?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card panel">
      <div class="card-head"><h2 class="grow">{title}</h2>{action}</div>
      {children}
    </section>
  );
}
