import { ui } from "./ui-words.ts";

export interface FieldFault {
  field: string;
  message: string;
}

/** An error as services report it (RFC 9457), in the reader's language. code is stable; detail is for people. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldFault[];
  readonly requestId: string | undefined;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;

  constructor(o: { status: number; code: string; detail: string; fields?: readonly FieldFault[]; requestId?: string | undefined; retryAfter?: number | undefined }) {
    super(o.detail);
    this.name = "Problem";
    this.status = o.status;
    this.code = o.code;
    this.fields = o.fields ?? [];
    this.requestId = o.requestId;
    this.retryAfter = o.retryAfter;
  }

  get detail(): string {
    return this.message;
  }

  /** The error of one field of the body, for its form field: problem.field("email"). */
  field(name: string): string | undefined {
    return this.fields.find((f) => f.field === `body.${name}` || f.field.startsWith(`body.${name}.`) || f.field.startsWith(`body.${name}[`) || f.field === name)?.message;
  }

  /** Converts anything thrown to a Problem. */
  static of(thrown: unknown): Problem {
    if (thrown instanceof Problem) {
      return thrown;
    }
    if (thrown instanceof DOMException && thrown.name === "AbortError") {
      return new Problem({ status: 0, code: "aborted", detail: "" });
    }
    if (thrown instanceof TypeError) { // thrown by fetch if there is no response
      return new Problem({ status: 0, code: "offline", detail: ui("offline") });
    }
    console.error(thrown);
    return new Problem({ status: 0, code: "unexpected", detail: ui("unexpected") });
  }

  /** The problem of an unsuccessful response; body is its content, parsed if it is JSON. */
  static response(response: Response, body: unknown): Problem {
    const said = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
    const text = (name: string) => (typeof said[name] === "string" ? (said[name] as string) : undefined);
    const after = Number(response.headers.get("Retry-After"));
    return new Problem({
      status: response.status,
      code: text("code") ?? "error",
      detail: sentence(text("detail") ?? text("title") ?? ui("status", { status: String(response.status) })),
      fields: Array.isArray(said["errors"]) ? (said["errors"] as FieldFault[]).map((f) => ({ ...f, message: sentence(f.message) })) : [],
      requestId: text("requestId") ?? response.headers.get("X-Request-Id") ?? undefined,
      retryAfter: after > 0 ? after : undefined,
    });
  }
}

/** A service's message as a page shows it: capitalised, because services begin messages in lower case. */
function sentence(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
