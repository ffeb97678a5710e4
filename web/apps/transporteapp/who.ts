import { effect, signal } from "@preact/signals";
import { ask, keep, kept, session } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";

/** A company of the reader's, with their role. */
export type Firm = Schemas["Empresa"];
export type Role = Firm["rol"];

/** All companies of the reader; undefined until loaded. */
export const firms = signal<readonly Firm[] | undefined>(undefined);
/** The company shown. Its id is sent with every request. */
export const firm = signal<Firm | undefined>(undefined);

const chosen = "transporteapp-company";

let reader: string | undefined;
effect(() => { // one reader's data must not be shown to another
  if (session.value?.sub === reader) return;
  reader = session.value?.sub;
  firms.value = undefined;
  firm.value = undefined;
});

export function firmHeader(): Record<string, string> {
  return firm.value ? { Empresa: firm.value.empresaId } : {};
}

api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(firmHeader())) request.headers.set(name, value);
    return request;
  },
});

/** Loads the companies and selects the last one shown, otherwise the reader's own. */
export async function loadFirms(signal?: AbortSignal): Promise<readonly Firm[]> {
  const found = (await ask(api.GET("/empresas", { params: { query: { limit: 100 } }, ...(signal ? { signal } : {}) }))).items;
  const before = firm.value?.empresaId ?? kept(chosen);
  show(found.find((f) => f.empresaId === before) ?? found.find((f) => f.empresaId === session.value?.sub) ?? found[0]);
  firms.value = found;
  return found;
}

/** Switches to another company. */
export function show(next: Firm | undefined): void {
  const now = firm.value;
  if (next && now && next.empresaId === now.empresaId && next.rol === now.rol && next.nombre === now.nombre && next.conductorId === now.conductorId) {
    return; // views of it continue
  }
  firm.value = next;
  if (next) keep(chosen, next.empresaId);
}

/** Adds a company that the reader has just created or joined; the server's list may lag. */
export function add(next: Firm): void {
  firms.value = [...(firms.value ?? []).filter((f) => f.empresaId !== next.empresaId), next];
  show(next);
}
