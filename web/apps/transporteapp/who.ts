import { effect, signal } from "@preact/signals";
import { ask, keep, kept, session } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";

/** A company that the reader acts for, and as what. */
export type Firm = Schemas["Empresa"];
export type Role = Firm["rol"];

/** Those that there are; undefined until they are known. */
export const firms = signal<readonly Firm[] | undefined>(undefined);
/** The one that the page shows. Its id goes with every request. */
export const firm = signal<Firm | undefined>(undefined);

const chosen = "transporteapp-company";

let reader: string | undefined;
effect(() => { // what another reader has seen is not for this one
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

/** Asks which companies there are, and shows the one that was shown last, else the reader's own. */
export async function loadFirms(signal?: AbortSignal): Promise<readonly Firm[]> {
  const found = (await ask(api.GET("/empresas", { params: { query: { limit: 100 } }, ...(signal ? { signal } : {}) }))).items;
  const before = firm.value?.empresaId ?? kept(chosen);
  show(found.find((f) => f.empresaId === before) ?? found.find((f) => f.empresaId === session.value?.sub) ?? found[0]);
  firms.value = found;
  return found;
}

/** Shows another company. */
export function show(next: Firm | undefined): void {
  const now = firm.value;
  if (next && now && next.empresaId === now.empresaId && next.rol === now.rol && next.nombre === now.nombre && next.conductorId === now.conductorId) {
    return; // views that show it go on
  }
  firm.value = next;
  if (next) keep(chosen, next.empresaId);
}

/** Adds a company that the reader has just made or joined; the list of the server may be a moment behind. */
export function add(next: Firm): void {
  firms.value = [...(firms.value ?? []).filter((f) => f.empresaId !== next.empresaId), next];
  show(next);
}
