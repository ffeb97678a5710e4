import { computed, effect, signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { ask, inGroup, keep, kept, page, Problem, session, signInWith, signOut } from "#ui";

// The shop has a log-in of its own: an access token of some minutes, and a refresh token that is exchanged for the next one.
const refreshName = `refresh-token /${page.name}/`;
// It is exchanged a minute before its end, and not more often than each five seconds, whatever the clock of this device says.
const early = 60_000;
const least = 5_000;

/** Who is logged in, as the shop knows them; undefined while it is loaded, and for the demo's tokens, which are of no user. */
export const me = signal<Schemas["User"] | undefined>(undefined);

/** Staff see the desk; the server decides all the same. */
export const isStaff = computed(() => session.value !== undefined && (me.value?.role === "admin" || inGroup("catfecito-admin")));

/** Keeps what a log-in has given. */
export function opened(given: Schemas["Session"]): void {
  keep(refreshName, given.refreshToken);
  me.value = given.user;
  signInWith(given.accessToken);
}

let refreshing: Promise<void> | undefined;

/** Exchanges the refresh token; one call at a time. Where the session has ended, the user is logged out. */
export function refresh(): Promise<void> {
  refreshing ??= exchange().finally(() => { refreshing = undefined; });
  return refreshing;
}

async function exchange(): Promise<void> {
  const refreshToken = kept(refreshName);
  if (!refreshToken) {
    return;
  }
  try {
    opened(await ask(api.POST("/sessions/refresh", { body: { refreshToken } })));
  } catch (thrown) {
    if (Problem.of(thrown).status === 401) forget();
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

/** Goes on with the session of the last visit, and keeps it going. */
export async function resume(): Promise<void> {
  if (!session.value) await refresh();
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const now = session.value;
    clearTimeout(timer);
    if (now && kept(refreshName)) {
      timer = setTimeout(() => void refresh(), Math.max(least, now.expires - Date.now() - early));
    } else if (!now && kept(refreshName)) {
      void refresh(); // the token was refused before its time: the session may go on
    }
  });
  effect(() => {
    const sub = session.value?.sub;
    if (!sub) {
      me.value = undefined;
    } else if (me.peek()?.userId !== sub && kept(refreshName)) { // other tokens, the demo's, are of no user
      void ask(api.GET("/me")).then((user) => { me.value = user; }, () => undefined);
    }
  });
}

/** What waits for a log-in: the dialog opens, and when somebody is logged in it is done. */
export const asking = signal<{ then?: (() => void) | undefined } | undefined>(undefined);

export function whenLoggedIn(then: () => void): void {
  if (session.value) then();
  else asking.value = { then };
}
