import { useEffect, useRef } from "preact/hooks";

/** Keeps the chosen one of a row in sight, which scrolls on phones; it looks again when one of needs has changed. The page stays where it is. */
export function useChosenInSight<E extends HTMLElement>(...needs: readonly unknown[]) {
  const row = useRef<E>(null);
  useEffect(() => {
    const around = row.current?.getBoundingClientRect();
    const at = row.current?.querySelector("[aria-current=page], [aria-selected=true]")?.getBoundingClientRect();
    if (row.current && around && at) row.current.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
  }, needs);
  return row;
}
