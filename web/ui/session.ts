import { computed, signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";
import { page } from "./page.ts";
import { Problem } from "./problem.ts";
import { language } from "./words.ts";

export interface Session {
  token: string;
  /** The user's id. */
  sub: string;
  groups: readonly string[];
  /** The log-in that the token comes from, if it names one. */
  logIn: string | undefined;
  /** When the token expires, in milliseconds since 1970. */
  expires: number;
}

// The API page stores its token under the same name.
const name = `access-token /${page.name}/`;

/** Reads a token's claims about its user. Only the server can verify the token. */
export function readToken(token: string): Session | undefined {
  try {
    const part = token.split(".")[1] ?? "";
    const bytes = Uint8Array.from(atob(part.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const groups = claims["cognito:groups"];
    if (typeof claims["sub"] !== "string") {
      return undefined;
    }
    const logIn = claims["origin_jti"];
    return { token, sub: claims["sub"], logIn: typeof logIn === "string" ? logIn : undefined, groups: Array.isArray(groups) ? groups.map(String) : [], expires: Number(claims["exp"] ?? 0) * 1000 };
  } catch {
    return undefined;
  }
}

function restored(): Session | undefined {
  const found = readToken(kept(name) ?? "");
  return found && found.expires > Date.now() ? found : undefined;
}

const current = signal<Session | undefined>(restored());

/** The signed-in user, if any. */
export const session = computed(() => current.value);

/** Whether the user belongs to one of the groups. Only for display: the server enforces access. */
export function inGroup(...names: string[]): boolean {
  return names.some((n) => current.value?.groups.includes(n));
}

/** Signs in with a token from the system's own log-in. Returns false if it is not a token. */
export function signInWith(token: string): boolean {
  const found = readToken(token.trim());
  if (!found) {
    return false;
  }
  current.value = found;
  keep(name, found.token);
  return true;
}

/** Signs in at the demo, which signs tokens for anyone; only if page.tokens is set. */
export async function signInAtDemo(user: string, admin = false): Promise<void> {
  const response = await fetch(page.tokens ?? "", {
    method: "POST", headers: { "Content-Type": "application/json", "Accept-Language": language.value },
    body: JSON.stringify({ system: page.name, sub: user, admin }),
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    throw Problem.response(response, body);
  }
  signInWith((body as { accessToken: string }).accessToken);
}

export function signOut(): void {
  current.value = undefined;
  keep(name, undefined);
}

/** Log-ins and log-outs in other tabs take effect in this one. */
window.addEventListener("storage", (e) => {
  if (e.key === name) {
    current.value = restored();
  }
});
