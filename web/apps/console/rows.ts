// The rendered rows of a long grid: the visible ones and a few around them. All rows have the same height, so this is arithmetic.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Shorter grids are rendered completely, so that the browser's search finds everything in them. */
const whole = 200;
const around = 12;
const firstHeight = 34;

export interface Rows {
  from: number;
  to: number;
  /** The height of the rows not rendered, above and below. */
  above: number;
  below: number;
  virtual: boolean;
  /** Scrolls a row into view and focuses the element that focus finds in it. */
  show: (row: number, focus: string) => void;
}

export function useRows(box: RefObject<HTMLElement | null>, count: number): Rows {
  const virtual = count > whole;
  const [height, setHeight] = useState(firstHeight);
  const [sight, setSight] = useState({ from: 0, to: whole });
  const wanted = useRef<{ row: number; focus: string } | undefined>(undefined);
  const look = () => {
    const element = box.current;
    if (!element || !virtual) return;
    const from = Math.max(0, Math.floor(element.scrollTop / height) - around);
    const to = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / height) + around);
    setSight((s) => (s.from === from && s.to === to ? s : { from, to }));
  };
  useLayoutEffect(() => {
    const row = box.current?.querySelector<HTMLElement>("tbody tr[aria-rowindex]");
    if (virtual && row && row.offsetHeight > 0 && row.offsetHeight !== height) setHeight(row.offsetHeight);
  });
  useEffect(() => {
    const element = box.current;
    if (!element || !virtual) return;
    look();
    element.addEventListener("scroll", look, { passive: true });
    const sized = new ResizeObserver(look);
    sized.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      sized.disconnect();
    };
  }, [virtual, height, count]);
  const focus = () => {
    const want = wanted.current;
    const row = want && box.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${want.row + 2}"]`);
    if (want && row) {
      wanted.current = undefined;
      row.querySelector<HTMLElement>(want.focus)?.focus({ preventScroll: virtual });
    }
  };
  useLayoutEffect(focus);
  const { from, to } = virtual ? { from: Math.min(sight.from, count), to: Math.min(sight.to, count) } : { from: 0, to: count };
  return {
    from, to, virtual, above: from * height, below: (count - to) * height,
    show: (row, selector) => {
      const element = box.current;
      if (!element || row < 0 || row >= count) return;
      wanted.current = { row, focus: selector };
      if (virtual) {
        const top = row * height;
        const head = element.querySelector<HTMLElement>("thead")?.offsetHeight ?? 0;
        if (top < element.scrollTop) element.scrollTop = top;
        else if (top + height > element.scrollTop + element.clientHeight - head) element.scrollTop = top + height + head - element.clientHeight;
        look();
      }
      focus();
    },
  };
}
