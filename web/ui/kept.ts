/** Values stored in the browser for the next visit. Pages also work if it stores nothing (for example in private windows). */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it. */
export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // then it lasts as long as the page
  }
}
