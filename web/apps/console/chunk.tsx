// A part of a long list: drawn while it is in sight or close to it, else as empty space of its height.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** How many entries a part has. */
const chunkOf = 50;

interface ChunkProps {
  /** How high it is until it was drawn once, in pixels. */
  height: number;
  /** Whether it is drawn before it is known to be in sight. */
  first: boolean;
  /** Draws it. */
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

/** A list in parts, in its order. */
export function chunks<T>(list: readonly T[]): (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / chunkOf) }, (_, n) => list.slice(n * chunkOf, (n + 1) * chunkOf));
}
