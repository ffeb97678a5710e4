import { useId, useState } from "preact/hooks";

const width = 300;
const height = 420;

/** Pairs of matching hues, sky and light; every cover uses one. */
const pairs: readonly (readonly [number, number])[] = [[276, 85], [255, 55], [300, 35], [225, 75], [330, 60], [195, 95], [20, 80], [160, 90], [245, 340], [285, 190], [45, 25], [210, 20]];

/** A deterministic random sequence for a text: FNV-1a, then mulberry32. */
function chance(text: string): () => number {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

const shade = (lightness: number, chroma: number, hue: number) => `oklch(${lightness.toFixed(3)} ${chroma} ${hue})`;

type Paint = { next: () => number; sky: number; glow: number };

/** Hills one behind the other, or waves, which are closer. */
function Layers({ next, sky }: Paint, count: number, top: number, swing: number) {
  return Array.from({ length: count }, (_, n) => {
    const base = top + ((height - top) * n) / count;
    const [a, b, at] = [1 + next() * 2, 2 + next() * 3, next() * 7];
    let path = `M0 ${height}`;
    for (let x = 0; x <= width; x += 12) {
      path += `L${x} ${(base + swing * (Math.sin((x / width) * a * 3 + at) + Math.sin((x / width) * b * 3 + at * 2) * 0.5)).toFixed(1)}`;
    }
    return <path key={n} d={`${path}L${width} ${height}Z`} fill={shade(0.42 - (n / count) * 0.26, 0.07, sky)} />;
  });
}

function City({ next, sky, glow }: Paint) {
  const houses = [];
  for (let x = -8; x < width;) {
    const [w, h] = [26 + next() * 34, 90 + next() * 190];
    houses.push(<rect key={x} x={x} y={height - h} width={w} height={h} fill={shade(0.2 + next() * 0.1, 0.05, sky)} />);
    for (let y = height - h + 14; y < height - 12; y += 18) {
      for (let at = x + 6; at < x + w - 8; at += 12) {
        if (next() < 0.28) houses.push(<rect key={`${at} ${y}`} x={at} y={y} width="5" height="8" fill={shade(0.86, 0.12, glow)} opacity={0.55 + next() * 0.45} />);
      }
    }
    x += w + 2;
  }
  return houses;
}

function Rings({ next, sky, glow }: Paint) {
  const [x, y] = [60 + next() * 180, 110 + next() * 120];
  return Array.from({ length: 9 }, (_, n) => <circle key={n} cx={x} cy={y} r={18 + n * n * 4.2 + n * 9} fill="none" stroke={n % 2 ? shade(0.84, 0.1, glow) : shade(0.6, 0.12, sky)} stroke-width={9 - n * 0.8} opacity={1 - n * 0.09} />);
}

function Beams({ next, glow }: Paint) {
  const x = next() < 0.5 ? -10 : width + 10;
  return Array.from({ length: 5 }, (_, n) => {
    const at = 40 + n * 80 + next() * 30;
    return <path key={n} d={`M${x} -10L${width - x} ${at}L${width - x} ${at + 46}Z`} fill={shade(0.86, 0.12, glow)} opacity={0.12 + 0.11 * (n % 3)} />;
  });
}

function Stars({ next, glow }: Paint) {
  const stars = Array.from({ length: 9 }, () => [24 + next() * 252, 30 + next() * 260] as const).sort((a, b) => a[0] - b[0]);
  return (
    <>
      <polyline points={stars.map((s) => s.join(",")).join(" ")} fill="none" stroke={shade(0.85, 0.08, glow)} stroke-width="1" opacity="0.55" />
      {stars.map(([x, y], n) => <circle key={n} cx={x} cy={y} r={2 + next() * 4} fill={shade(0.92, 0.08, glow)} />)}
      {Array.from({ length: 40 }, (_, n) => <circle key={`s${n}`} cx={next() * width} cy={next() * 330} r={0.5 + next()} fill="white" opacity={0.3 + next() * 0.5} />)}
    </>
  );
}

function Peaks({ next, sky }: Paint) {
  return Array.from({ length: 3 }, (_, n) => {
    const [x, y, w] = [40 + next() * 220, 150 + n * 55 + next() * 30, 130 + next() * 60];
    return (
      <g key={n}>
        <path d={`M${x - w} ${height}L${x} ${y}L${x + w} ${height}Z`} fill={shade(0.4 - n * 0.1, 0.06, sky)} />
        <path d={`M${x} ${y}L${x + w * 0.22} ${y + (height - y) * 0.22}L${x + 4} ${y + (height - y) * 0.16}L${x - w * 0.16} ${y + (height - y) * 0.2}Z`} fill={shade(0.9 - n * 0.12, 0.02, sky)} />
      </g>
    );
  });
}

function Doors({ next, sky, glow }: Paint) {
  const x = 110 + next() * 80;
  return Array.from({ length: 6 }, (_, n) => {
    const w = 150 - n * 24;
    return <path key={n} d={`M${x - w} ${height}V${90 + n * 42 + w}A${w} ${w} 0 0 1 ${x + w} ${90 + n * 42 + w}V${height}Z`} fill={n === 5 ? shade(0.88, 0.11, glow) : shade(0.2 + n * 0.085, 0.08, n % 2 ? glow : sky)} />;
  });
}

/** A generated picture for a title without a poster: a sky, a light, and a motif. */
function Drawn({ title }: { title: string }) {
  const id = useId();
  const next = chance(title);
  const [sky, glow] = pairs[Math.floor(next() * pairs.length)] ?? [276, 85];
  const paint: Paint = { next, sky, glow };
  const motif = Math.floor(next() * 8);
  const [sunX, sunY, sunR] = [50 + next() * 200, 80 + next() * 120, 26 + next() * 44];
  return (
    <svg class="cover" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <linearGradient id={id} x1="0" y1="0" x2="0.25" y2="1">
        <stop offset="0" stop-color={shade(0.26, 0.08, sky)} />
        <stop offset="0.6" stop-color={shade(0.5, 0.12, sky)} />
        <stop offset="1" stop-color={shade(0.72, 0.12, glow)} />
      </linearGradient>
      <rect width={width} height={height} fill={`url(#${id})`} />
      {(motif < 2 || motif === 5) && <circle cx={sunX} cy={sunY} r={sunR} fill={shade(0.88, 0.12, glow)} opacity="0.95" />}
      {motif === 0 && Layers(paint, 4, 200, 22)}
      {motif === 1 && City(paint)}
      {motif === 2 && Rings(paint)}
      {motif === 3 && Layers(paint, 9, 120, 9)}
      {motif === 4 && Beams(paint)}
      {motif === 5 && Peaks(paint)}
      {motif === 6 && Stars(paint)}
      {motif === 7 && Doors(paint)}
    </svg>
  );
}

/** A film's poster; a drawing if there is none or it fails to load. */
export function Cover({ title, posterPath }: { title: string; posterPath?: string | undefined }) {
  const [failed, setFailed] = useState<string | undefined>();
  if (!posterPath || failed === posterPath) {
    return <Drawn title={title} />;
  }
  return <img class="cover" src={`https://image.tmdb.org/t/p/w500${posterPath}`} alt="" draggable={false} onError={() => setFailed(posterPath)} />;
}
