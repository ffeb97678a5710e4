import type { VNode } from "preact";

/** The drawing for a product: its kind is derived from its category and name. */
const kinds = ["bag", "cup", "tea", "bread", "cake", "mug", "grinder", "moka", "chocolate", "syrup", "gift", "bean"] as const;
type Kind = (typeof kinds)[number];

// Prefixes of words without accents, in the shop's languages; the name takes precedence over the category.
const signs: [Kind, RegExp][] = [
  ["moka", /\b(moka|cafeter|prensa|french|v60|dripper|aeropress|coador)/],
  ["grinder", /\b(molin|grinder|moedor)/],
  ["cup", /\b(latte|capuchin|cappuccin|espress|americano|cortado|flat|mocha|cold|frio|pingado|bebida|drink)/],
  ["tea", /\b(te|tes|cha|chas|tea|teas|matcha|infusion|tisana|hibisco|manzanilla)\b/],
  ["cake", /\b(pastel|torta|cake|cheesecake|brownie|alfajor|bolo|postre|dessert|tarta)/],
  ["bread", /\b(pan|panes|concha|cuerno|croissant|bread|pao|medialuna|bagel|sandwich|galleta)/],
  ["chocolate", /\b(chocolate|cacao|cocoa|trufa)/],
  ["syrup", /\b(jarabe|syrup|xarope|miel|honey|salsa)/],
  ["gift", /\b(regal|gift|presente|tarjeta|caja|kit)/],
  ["mug", /\b(taza|mug|caneca|vaso|termo|jarro)/],
  ["bag", /\b(cafe|cafes|coffee|blend|grano|granos|tueste)/],
];

function kindOf(text: string): Kind | undefined {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/-/g, " ");
  return signs.find(([, sign]) => sign.test(plain))?.[0];
}

const palettes = 6;

function hashOf(text: string): number {
  let n = 7;
  for (const letter of text) n = (n * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return n;
}

/** A drawing in the shop's colours, the same each time for a product. */
export function Art({ name, category = "", seed }: { name: string; category?: string; seed?: string }) {
  const hash = hashOf(seed ?? name);
  // A name such as "Té Chiapas" says more than its category; for an invented name, the category counts.
  const kind = kindOf(name) ?? kindOf(category) ?? "bean";
  return (
    <svg class={`art art-${(hash % palettes) + 1}`} viewBox="0 0 160 120" aria-hidden="true" preserveAspectRatio="xMidYMid slice">
      <rect width="160" height="120" class="a-bg" />
      {grounds[hash % grounds.length]}
      {drawings[kind]}
    </svg>
  );
}

const grounds: VNode[] = [
  <g class="a-soft"><circle cx="124" cy="26" r="34" /><circle cx="24" cy="104" r="26" /></g>,
  <g class="a-soft"><path d="M0 84c34-22 58 8 92-8s46-10 68-2v46H0z" /></g>,
  <g class="a-soft"><circle cx="80" cy="64" r="50" /></g>,
  <g class="a-soft"><path d="M0 0h62c-6 30-30 44-62 46zM160 120h-66c4-32 30-48 66-48z" /></g>,
];

const steam = (
  <g class="a-line"><path d="M66 34c-5-6 5-10 0-17M80 32c-5-6 5-11 0-19M94 34c-5-6 5-10 0-17" /></g>
);

const drawings: Record<Kind, VNode> = {
  bag: (
    <g>
      <path class="a-1" d="M54 30h52l6 76H48z" />
      <path class="a-2" d="M54 30h52l-2-12H56z" />
      <rect class="a-3" x="62" y="52" width="36" height="34" rx="4" />
      <ellipse class="a-1" cx="80" cy="69" rx="8" ry="11" transform="rotate(24 80 69)" />
      <path class="a-cut" d="M84 59c-7 6-1 13-8 20" />
    </g>
  ),
  bean: (
    <g>
      <ellipse class="a-1" cx="66" cy="64" rx="20" ry="29" transform="rotate(-22 66 64)" />
      <path class="a-cut" d="M56 38c14 15 0 34 20 52" />
      <ellipse class="a-2" cx="103" cy="70" rx="15" ry="22" transform="rotate(28 103 70)" />
      <path class="a-cut" d="M112 50c-12 12 0 24-17 40" />
    </g>
  ),
  cup: (
    <g>
      {steam}
      <path class="a-3" d="M48 44h64v20c0 22-13 34-32 34S48 86 48 64z" />
      <path class="a-ring" d="M112 50h6c14 0 14 26-4 26h-4" />
      <ellipse class="a-1" cx="80" cy="45" rx="32" ry="7" />
      <path class="a-3" d="M80 42c4-4 10 0 0 7-10-7-4-11 0-7z" />
      <ellipse class="a-2" cx="80" cy="104" rx="42" ry="5" />
    </g>
  ),
  tea: (
    <g>
      {steam}
      <path class="a-3" d="M46 46h68c0 36-14 52-34 52S46 82 46 46z" />
      <ellipse class="a-2" cx="80" cy="46" rx="34" ry="7" />
      <path class="a-wire" d="M100 46c10 4 14 14 12 26" />
      <rect class="a-1" x="104" y="72" width="15" height="18" rx="2" />
      <path class="a-4" d="M72 72c2-12 14-12 20-14-1 12-8 19-20 14z" />
      <ellipse class="a-1" cx="80" cy="104" rx="40" ry="4" />
    </g>
  ),
  bread: (
    <g>
      <path class="a-2" d="M36 84c-4-30 20-48 44-48s48 18 44 48c-1 8-8 12-16 12H52c-8 0-15-4-16-12z" />
      <path class="a-line-3" d="M50 62c8 4 12 12 12 22M68 50c6 8 8 20 6 34M92 50c-6 8-8 20-6 34M110 62c-8 4-12 12-12 22" />
      <ellipse class="a-1" cx="80" cy="100" rx="48" ry="5" />
    </g>
  ),
  cake: (
    <g>
      <path class="a-3" d="M40 62l62-26 20 18v10H40z" />
      <path class="a-2" d="M40 62h82v14H40z" />
      <path class="a-1" d="M40 76h82v10H40z" />
      <path class="a-3" d="M40 86h82v10H40z" />
      <circle class="a-4" cx="98" cy="36" r="8" />
      <path class="a-wire" d="M98 28c0-6 4-9 8-10" />
      <ellipse class="a-2" cx="80" cy="101" rx="54" ry="5" />
    </g>
  ),
  mug: (
    <g>
      <path class="a-1" d="M50 34h56v58c0 7-5 12-12 12H62c-7 0-12-5-12-12z" />
      <path class="a-ring-1" d="M106 48h6c16 0 16 34-4 34h-3" />
      <path class="a-3" d="M50 58h56v10H50z" />
      <path class="a-2" d="M50 72h56v4H50z" />
      <ellipse class="a-2" cx="78" cy="34" rx="28" ry="6" />
    </g>
  ),
  grinder: (
    <g>
      <path class="a-wire" d="M80 26h30" />
      <circle class="a-4" cx="113" cy="26" r="6" />
      <path class="a-2" d="M56 34h48l-8 22H64z" />
      <rect class="a-1" x="54" y="56" width="52" height="46" rx="5" />
      <rect class="a-3" x="62" y="76" width="36" height="18" rx="3" />
      <circle class="a-1" cx="80" cy="85" r="3.5" />
    </g>
  ),
  moka: (
    <g>
      <path class="a-1" d="M58 66h44l8 38H50z" />
      <path class="a-2" d="M54 28h46l4 36H58z" />
      <path class="a-2" d="M100 30l12-6-4 18z" />
      <path class="a-1" d="M60 28c2-9 34-9 36 0z" />
      <circle class="a-4" cx="78" cy="17" r="4" />
      <path class="a-wire" d="M56 36c-18 0-20 22-14 34" />
      <rect class="a-3" x="56" y="62" width="48" height="6" rx="2" />
    </g>
  ),
  chocolate: (
    <g>
      <rect class="a-1" x="46" y="22" width="68" height="62" rx="5" />
      <g class="a-2"><rect x="52" y="28" width="25" height="22" rx="3" /><rect x="83" y="28" width="25" height="22" rx="3" /><rect x="52" y="55" width="25" height="22" rx="3" /><rect x="83" y="55" width="25" height="22" rx="3" /></g>
      <path class="a-3" d="M42 66l8-5 9 6 9-6 10 6 10-6 10 6 10-6 10 5v38H42z" />
      <path class="a-4" d="M58 84h44v8H58z" />
    </g>
  ),
  syrup: (
    <g>
      <rect class="a-2" x="72" y="12" width="16" height="14" rx="3" />
      <path class="a-1" d="M73 26h14v12c0 8 15 10 15 24v36c0 5-4 8-8 8H66c-5 0-8-3-8-8V62c0-14 15-16 15-24z" />
      <rect class="a-3" x="58" y="66" width="44" height="26" />
      <path class="a-4" d="M80 70c6 8 8 11 8 14a8 8 0 0 1-16 0c0-3 2-6 8-14z" />
    </g>
  ),
  gift: (
    <g>
      <rect class="a-1" x="44" y="52" width="72" height="52" rx="4" />
      <rect class="a-2" x="38" y="40" width="84" height="18" rx="4" />
      <path class="a-3" d="M74 40h12v64H74z" />
      <path class="a-ring" d="M80 40c-26 0-26-24-10-22 8 1 10 12 10 22zM80 40c26 0 26-24 10-22-8 1-10 12-10 22z" />
    </g>
  ),
};
