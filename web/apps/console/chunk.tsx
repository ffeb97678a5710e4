// A part of a long list: rendered while visible or nearly so, otherwise empty space of its height.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** The number of entries of a part. */
const chunkOf = 50;

interface ChunkProps {
  /** Its height in pixels until it has been rendered once. */
  height: number;
  /** Whether it is rendered before its visibility is known. */
  first: boolean;
  /** Renders it. */
  children: () => ComponentChildren;
}

export function Chunk({ height, first, children }: ChunkProps) {
  const box = useRef<HTMLDivElement>(null);
  const known = useRef(height);
  const [drawn, setDrawn] = useState(first);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const sight = new IntersectionObserver((entries) => {
      const last = entries.at(-1);
      if (!last) return;
      if (!last.isIntersecting && element.childElementCount > 0 && !element.contains(document.activeElement)) {
        known.current = element.offsetHeight;
        setDrawn(false);
      } else if (last.isIntersecting) setDrawn(true);
    }, { rootMargin: "600px" });
    sight.observe(element);
    return () => sight.disconnect();
  }, []);
  return <div ref={box} class="chunk" style={drawn ? undefined : { height: `${known.current}px` }}>{drawn && children()}</div>;
}

/** A list in parts, in order. */
export function chunks<T>(list: readonly T[]): (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / chunkOf) }, (_, n) => list.slice(n * chunkOf, (n + 1) * chunkOf));
}
