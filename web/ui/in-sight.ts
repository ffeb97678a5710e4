import { useEffect, useRef } from "preact/hooks";

/** Keeps the chosen element of a scrolling row visible, without scrolling the page; runs again when one of needs changes. */
export function useChosenInSight<E extends HTMLElement>(...needs: readonly unknown[]) {
  const row = useRef<E>(null);
  useEffect(() => {
    const around = row.current?.getBoundingClientRect();
    const at = row.current?.querySelector("[aria-current=page], [aria-selected=true]")?.getBoundingClientRect();
    if (row.current && around && at) row.current.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
  }, needs);
  return row;
}
