const rows = [0, 1, 0, 2, 3, 2, 1, 4, 3, 4];
const keys = ["TX#", "ORDER#", "VOTE#", "POST#", "TRIP#"];
const height = 52;

/** Five systems on the left, their items in one table on the right, each in its system's colour. */
export function Picture({ label, systems }: { label: string; systems: readonly { name: string; title: string }[] }) {
  const shown = systems.slice(0, keys.length);
  return (
    <svg class="picture" viewBox="0 0 560 296" role="img" aria-label={label}>
      {rows.map((of, n) => {
        const from = 27 + of * 58;
        const to = 49 + n * 23;
        const system = shown[of];
        return system && <path key={n} data-product={system.name} class="picture-line" d={`M152 ${from} C 220 ${from}, 230 ${to}, 296 ${to}`} />;
      })}
      <rect class="picture-table" x="296" y="6" width="258" height="284" rx="12" />
      <text class="picture-title" x="314" y="28">PK</text>
      <text class="picture-title" x="424" y="28">SK</text>
      {rows.map((of, n) => {
        const system = shown[of];
        const y = 40 + n * 23;
        return system && (
          <g key={n} data-product={system.name}>
            <rect class="picture-key" x="310" y={y} width="100" height="18" rx="5" />
            <rect class="picture-sort" x="418" y={y} width={86 + ((n * 37) % 40)} height="18" rx="5" />
            <text class="picture-text strong" x="318" y={y + 13}>USER#{40 + of}</text>
            <text class="picture-text" x="426" y={y + 13}>{keys[of]}{String(100 + ((n * 73) % 97))}</text>
          </g>
        );
      })}
      {shown.map((s, n) => (
        <g key={s.name} data-product={s.name}>
          <rect class="picture-tile" x="4" y={4 + n * 58} width="150" height={height - 6} rx="10" />
          <text class="picture-name" x="79" y={32 + n * 58} text-anchor="middle">{s.title}</text>
        </g>
      ))}
    </svg>
  );
}
