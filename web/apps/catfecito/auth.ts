import { computed, effect, signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { ask, inGroup, keep, kept, page, Problem, sayEnded, session, signInWith, signOut, whenRejected } from "#ui";

// The shop has its own log-in: a short-lived access token, and a refresh token that is exchanged for the next pair.
const refreshName = `refresh-token /${page.name}/`;
// It is exchanged a minute before it expires, at most every five seconds whatever this device's clock says.
const early = 60_000;
const least = 5_000;

/** The logged-in user's profile; undefined while loading, and for the demo's tokens, which belong to no user. */
export const me = signal<Schemas["User"] | undefined>(undefined);
/** Why the profile could not be loaded. */
export const meProblem = signal<Problem | undefined>(undefined);

/** Reports whether the session belongs to a user of the shop. The demo's tokens do not. */
export const hasAccount = (): boolean => kept(refreshName) !== undefined;

export async function loadMe(): Promise<void> {
  meProblem.value = undefined;
  try {
    me.value = await ask(api.GET("/me"));
  } catch (thrown) {
    meProblem.value = Problem.of(thrown);
  }
}

/** Staff see the desk. Only for display: the server enforces access. */
export const isStaff = computed(() => session.value !== undefined && (me.value?.role === "admin" || inGroup("catfecito-admin")));

/** Stores the result of a log-in. */
export function opened(given: Schemas["Session"]): void {
  keep(refreshName, given.refreshToken);
  me.value = given.user;
  signInWith(given.accessToken);
}

let refreshing: Promise<void> | undefined;

/** Exchanges the refresh token, one call at a time. If the session has ended, the user is logged out. */
export function refresh(): Promise<void> {
  refreshing ??= alone(exchange).finally(() => { refreshing = undefined; });
  return refreshing;
}

/**
 * Runs while no other tab does: of two exchanges of one token, the first one's response is invalid, and may be the one that is
 * kept. Without TLS there are no locks.
 */
async function alone(run: () => Promise<void>): Promise<void> {
  await ("locks" in navigator ? navigator.locks.request(refreshName, run) : run());
}

async function exchange(): Promise<void> {
  const refreshToken = kept(refreshName);
  if (!refreshToken) {
    return;
  }
  try {
    opened(await ask(api.POST("/sessions/refresh", { body: { refreshToken } })));
  } catch (thrown) {
    if (Problem.of(thrown).status !== 401) return;
    forget();
    sayEnded();
  }
}

function forget(): void {
  keep(refreshName, undefined);
  me.value = undefined;
  signOut();
}

/** Ends the session, here and at the shop. */
export async function logOut(): Promise<void> {
  if (kept(refreshName)) {
    await api.DELETE("/me/sessions/{sessionId}", { params: { path: { sessionId: "current" } } }).catch(() => undefined);
  }
  forget();
}

/** Resumes the session of the last visit and keeps it alive. */
export async function resume(): Promise<void> {
  whenRejected(() => void (kept(refreshName) ? refresh() : sayEnded())); // the log-in may outlive the token
  if (!session.value) await refresh();
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const now = session.value;
    clearTimeout(timer);
    if (now && kept(refreshName)) {
      timer = setTimeout(() => void refresh(), Math.max(least, now.expires - Date.now() - early));
    }
  });
  effect(() => {
    const sub = session.value?.sub;
    if (!sub) {
      me.value = undefined;
      meProblem.value = undefined;
    } else if (me.peek()?.userId !== sub && hasAccount()) {
      void loadMe();
    }
  });
}

/** An action that needs a log-in: the dialog opens, and the action runs once the user is logged in. */
export const asking = signal<{ then?: (() => void) | undefined } | undefined>(undefined);

export function whenLoggedIn(then: () => void): void {
  if (session.value) then();
  else asking.value = { then };
}
