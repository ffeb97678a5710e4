/** The common name of a browser and its system, from its user agent: "Chrome · Android". undefined if it names neither. */
export function deviceOf(agent: string): string | undefined {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(agent)?.[1];
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(agent)?.[1];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", "Mac OS X": "macOS" };
  return [browser, system].filter((x) => x !== undefined).map((x) => names[x] ?? x).join(" · ") || undefined;
}
