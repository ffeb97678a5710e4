import { page } from "./page.ts";
import { toast } from "./parts/toast.tsx";
import { Problem } from "./problem.ts";
import { session, signOut } from "./session.ts";
import { ui } from "./ui-words.ts";
import { language } from "./words.ts";

/** The address of an API path, relative to the page. */
export function apiURL(path: string): string {
  return new URL(page.api, document.baseURI).href.replace(/\/$/, "") + path;
}

interface Connection {
  token: () => string | undefined;
  language: () => string;
  ended: () => void;
}

/** Tells the user why the page asks to sign in again. */
export function sayEnded(): void {
  toast("info", ui("signIn.ended"));
}

let renew = sayEnded;

/** Does something else than sayEnded when the API has rejected the token: a system with its own log-in can get another one. */
export function whenRejected(handler: () => void): void {
  renew = handler;
}

function ended(): void {
  if (session.peek()) { // the first of several requests
    signOut();
    renew();
  }
}

/** The client of this page's system, with the page's session: the token is sent, and one that is rejected signs out. #clients/NAME exports it. */
export function client<C>(connect: (address: string, options: Connection) => C): C {
  return connect(apiURL(""), { token: () => session.value?.token, language: () => language.value, ended });
}

/** The response of a call, or a thrown Problem: `const order = await ask(api.GET("/orders/{orderId}", …))`. */
export async function ask<T>(call: Call<T>): Promise<T> {
  return (await tagged(call)).value;
}

type Call<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** A response with its ETag. Sent as If-Match, it prevents overwriting someone else's change (412, changed_since). */
export interface Tagged<T> {
  value: T;
  tag: string | undefined;
}

export async function tagged<T>(call: Call<T>): Promise<Tagged<T>> {
  let result;
  try {
    result = await call;
  } catch (thrown) {
    throw Problem.of(thrown);
  }
  if (!result.response.ok) {
    throw Problem.response(result.response, result.error);
  }
  return { value: result.data as T, tag: result.response.headers.get("ETag") ?? undefined };
}

/**
 * The Idempotency-Key of a form: the same for the same body, so that a retry has no second
 * effect, and a new one after the form has changed or done has been called.
 */
export class RequestKey {
  #body = "";
  #key = "";

  for(body: unknown): string {
    const text = JSON.stringify(body) ?? "";
    if (this.#key === "" || text !== this.#body) {
      this.#body = text;
      this.#key = newKey();
    }
    return this.#key;
  }

  done(): void {
    this.#key = "";
  }
}

/** A new unique key. (crypto.randomUUID needs TLS, which a phone in the same network does not have.) */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
