/** Where removed elements were. */
const places = new WeakMap<Node, Pick<MutationRecord, "target" | "previousSibling">>();
const pressable = "a[href], button";
let last: Element | null = null;
let waiting = false;

const observer = new MutationObserver((records) => {
  record(records);
  if (waiting || !lost()) return;
  waiting = true;
  requestAnimationFrame(() => setTimeout(() => { // once the view has moved the focus itself, if it does
    waiting = false;
    if (lost()) focusAt(last);
  }));
});

function record(records: readonly MutationRecord[]): void {
  for (const r of records) for (const node of r.removedNodes) places.set(node, r);
}

function lost(): boolean {
  return last !== document.body && (document.activeElement === document.body || last?.matches(":disabled") === true);
}

/** Keeps the keyboard's place when the page removes or disables the element that has the focus, as when a row is deleted. */
export function keepFocus(): void {
  const note = () => {
    const now = document.activeElement; // the body, after a press beside all controls
    if (!now?.closest(".toasts")) last = now; // a closed message gives the focus back
  };
  addEventListener("focusin", note);
  addEventListener("pointerup", note);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}

/** Focuses an element or, if it is gone, the same control of the next or previous row or, if there is none, the nearest heading. */
export function focusAt(element: Element | null): void {
  if (!element || focused(element)) return;
  record(observer.takeRecords());
  let row = element;
  while (!row.isConnected && row.parentElement) row = row.parentElement;
  if (row.isConnected) { // disabled
    const near = controls(row.parentElement);
    const at = near.indexOf(row);
    void (focused(near[at + 1]) || focused(near[at - 1]));
    return;
  }
  const before = remaining(row, "previousSibling");
  let around = remaining(row, "target");
  const beside = [before ? before.nextSibling : around?.firstChild, before]; // what is there now may be new
  const at = controls(row).indexOf(element);
  if (beside.some((other) => other?.nodeName === row.nodeName && focused(controls(other)[at]))) return;
  for (; around; around = around.parentNode) {
    for (const part of [...beside.splice(0), around]) {
      const heading = part instanceof Element ? part.querySelector<HTMLElement>("h1, h2, h3") : null;
      if (heading) heading.tabIndex = -1;
      if (focused(heading)) return;
    }
  }
}

function controls(row: Node | null): Element[] {
  return row instanceof Element ? [row, ...row.querySelectorAll(pressable)].filter((e) => e.matches(pressable)) : [];
}

/** What was next to a removed element, or around it, and is still there. */
function remaining(removed: Node, at: "target" | "previousSibling"): Node | null {
  let node: Node | null | undefined = removed;
  while (node && !node.isConnected) node = places.get(node)?.[at];
  return node ?? null;
}

function focused(element: Element | null | undefined): boolean {
  (element as HTMLElement | null | undefined)?.focus({ preventScroll: true });
  return element != null && document.activeElement === element && !element.matches(":disabled");
}
