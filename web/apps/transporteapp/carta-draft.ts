import { ask } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { made, texts, type Line, type Texts } from "./form.tsx";
import { receiverLines } from "./documents.tsx";

/** The values of the carta editor, as texts. */
export interface Draft {
  receptor: Texts;
  autotransporte: Texts;
  ubicaciones: readonly Texts[];
  figuras: readonly Texts[];
}

export type Part = keyof Draft;
export const parts: readonly Part[] = ["receptor", "autotransporte", "ubicaciones", "figuras"];

export const lines = {
  receptor: receiverLines,
  autotransporte: [
    { name: "placaVm", label: "vehicle.plate", max: 10, upper: true }, { name: "configVehicular", label: "vehicle.config", catalog: "config_autotransporte" },
    { name: "anioModeloVm", label: "vehicle.year", type: "number" }, { name: "pesoBrutoVehicular", label: "vehicle.weight", type: "number" },
    { name: "permSct", label: "vehicle.permitType", catalog: "tipo_permiso" }, { name: "numPermisoSct", label: "vehicle.permit", max: 50 },
    { name: "aseguraRespCivil", label: "vehicle.insurer", max: 50 }, { name: "polizaRespCivil", label: "vehicle.policy", max: 30 },
    { name: "placaRemolque", label: "trailer.plate", max: 10, upper: true, optional: true }, { name: "subTipoRem", label: "trailer.type", catalog: "sub_tipo_rem", optional: true },
  ],
  Origen: place("place.leaves", false),
  Destino: place("place.arrives", true),
  figuras: [
    { name: "tipoFigura", label: "person.kind", catalog: "figura_transporte" }, { name: "nombreFigura", label: "driver.name", max: 254 },
    { name: "rfcFigura", label: "fiscal.rfc", max: 13, upper: true }, { name: "numLicencia", label: "licence.number", max: 16, upper: true, optional: true },
  ],
  mercancia: [
    { name: "descripcion", label: "good.what", max: 1000 }, { name: "claveProdServ", label: "good.key", hint: "good.keyHint", max: 8 },
    { name: "cantidad", label: "good.amount", type: "number" }, { name: "claveUnidad", label: "good.unit", catalog: "clave_unidad" },
    { name: "pesoKg", label: "good.weight", type: "number" }, { name: "valorMercancia", label: "good.value", type: "number", optional: true },
    { name: "moneda", label: "good.currency", choices: [{ value: "MXN", label: "MXN" }, { value: "USD", label: "USD" }], optional: true },
  ],
} satisfies Record<string, readonly Line[]>;

function place(when: Line["label"], driven: boolean): readonly Line[] {
  return [
    { name: "fechaHoraSalidaLlegada", label: when, type: "datetime-local" },
    ...(driven ? [{ name: "distanciaRecorrida", label: "place.distance", type: "number" } as const] : []),
    { name: "nombreRemitenteDestinatario", label: "place.name", max: 254, upper: true, optional: true }, { name: "rfcRemitenteDestinatario", label: "fiscal.rfc", max: 13, upper: true },
    { name: "domicilio.calle", label: "address.street", max: 100, optional: true }, { name: "domicilio.numeroExterior", label: "address.number", max: 55, optional: true },
    { name: "domicilio.codigoPostal", label: "address.zip", max: 5 }, { name: "domicilio.estado", label: "address.state", catalog: "estado" },
  ];
}

export function placeLines(place: Texts): readonly Line[] {
  return place["tipo"] === "Origen" ? lines.Origen : lines.Destino;
}

/** The parts of a draft in the API's form. */
export function sent(draft: Draft) {
  return {
    receptor: made<Schemas["Receptor"]>(draft.receptor, lines.receptor),
    autotransporte: made<Schemas["Autotransporte"]>(draft.autotransporte, lines.autotransporte),
    ubicaciones: draft.ubicaciones.map((u) => made<Schemas["Ubicacion"]>({ ...u, fechaHoraSalidaLlegada: seconds(u["fechaHoraSalidaLlegada"] ?? "") }, placeLines(u))),
    figuras: draft.figuras.map((f) => made<Schemas["Figura"]>(f, lines.figuras)),
  };
}

/** A datetime-local field omits zero seconds. */
function seconds(at: string): string {
  return /T\d\d:\d\d$/.test(at) ? `${at}:00` : at;
}

/** Place ids are numbered by kind: OR000001, DE000001, DE000002. */
export function numbered(places: readonly Texts[]): Texts[] {
  const counts = { OR: 0, DE: 0 };
  return places.map((p) => {
    const kind = p["tipo"] === "Origen" ? "OR" : "DE";
    return { ...p, idUbicacion: kind + String(++counts[kind]).padStart(6, "0") };
  });
}

/** Stores one part. */
export async function store(id: string, part: Part, draft: Draft): Promise<void> {
  const path = { path: { id } };
  const body = sent(draft);
  if (part === "receptor") await ask(api.PUT("/cartas/{id}/receptor", { params: path, body: body.receptor }));
  if (part === "autotransporte") await ask(api.PUT("/cartas/{id}/autotransporte", { params: path, body: body.autotransporte }));
  if (part === "ubicaciones") await ask(api.PUT("/cartas/{id}/ubicaciones", { params: path, body: { ubicaciones: body.ubicaciones } }));
  if (part === "figuras") await ask(api.PUT("/cartas/{id}/figuras", { params: path, body: { figuras: body.figuras } }));
}

export interface Opened {
  carta: Schemas["Carta"];
  trip: Schemas["ViajeConCarta"];
  draft: Draft;
  /** Parts missing from the carta and filled in from the trip. */
  taken: readonly Part[];
}

/** A carta with all its lists except goods. Missing parts are filled in from the trip, its vehicle and its driver. */
export async function open(id: string, zone: string, signal: AbortSignal): Promise<Opened> {
  const carta = await ask(api.GET("/cartas/{id}", { params: { path: { id } }, signal }));
  const [trip, stored] = await Promise.all([ask(api.GET("/viajes/{id}", { params: { path: { id: carta.viajeId } }, signal })), contents(id, signal)]);
  const taken: Part[] = [];
  const or = <T>(part: Part, there: boolean, have: () => T, take: () => T): T => {
    if (there) return have();
    taken.push(part);
    return take();
  };
  const r = trip.resources;
  const path = (of: string) => ({ params: { path: { id: of } }, signal });
  const [vehicle, trailer, driver] = await Promise.all([
    !stored.autotransporte && r ? ask(api.GET("/vehiculos/{id}", path(r.vehiculoId))) : undefined,
    !stored.autotransporte && r?.remolqueId ? ask(api.GET("/remolques/{id}", path(r.remolqueId))) : undefined,
    stored.figuras.length === 0 && r ? ask(api.GET("/conductores/{id}", path(r.conductorId))) : undefined,
  ]);
  const draft: Draft = {
    receptor: texts(carta.receptor),
    autotransporte: or("autotransporte", stored.autotransporte !== undefined, () => texts(stored.autotransporte), () => (vehicle ? {
      placaVm: vehicle.placa, configVehicular: vehicle.configVehicular, anioModeloVm: String(vehicle.anioModeloVm), pesoBrutoVehicular: String(vehicle.pesoBrutoVehicular),
      permSct: vehicle.permSct, numPermisoSct: vehicle.numPermisoSct, aseguraRespCivil: vehicle.aseguraRespCivil, polizaRespCivil: vehicle.polizaRespCivil,
      ...(trailer ? { placaRemolque: trailer.placa, subTipoRem: trailer.subTipoRem } : {}),
    } : {})),
    ubicaciones: or("ubicaciones", stored.ubicaciones.length > 0, () => stored.ubicaciones.map((u) => texts(u)), () => numbered([
      {
        tipo: "Origen", rfcRemitenteDestinatario: carta.emisor.rfc, nombreRemitenteDestinatario: carta.emisor.nombre, fechaHoraSalidaLlegada: localTime(trip.fechaInicioProgramada, zone),
        ...texts(carta.emisor.domicilioFiscal, "domicilio."),
      },
      {
        tipo: "Destino", rfcRemitenteDestinatario: carta.receptor.rfc, nombreRemitenteDestinatario: carta.receptor.nombre, fechaHoraSalidaLlegada: localTime(trip.fechaFinProgramada, zone),
        distanciaRecorrida: String(trip.distanciaTotal), ...texts(carta.receptor.domicilioFiscal, "domicilio."),
      },
    ])),
    figuras: or("figuras", stored.figuras.length > 0, () => stored.figuras.map((f) => texts(f)), () => [{
      tipoFigura: "01", ...(driver ? { nombreFigura: driver.nombre, rfcFigura: driver.rfc, numLicencia: driver.licencia.numero } : {}),
    }]),
  };
  return { carta, trip, draft, taken };
}

/** A time in the company's time zone, to the minute: 2026-11-23T08:00. */
export function localTime(at: string, zone: string): string {
  const parts = new Intl.DateTimeFormat("sv-SE", { timeZone: zone || undefined, dateStyle: "short", timeStyle: "short" }).format(new Date(at));
  return parts.replace(" ", "T");
}

async function contents(id: string, signal: AbortSignal) {
  const out: { autotransporte?: Schemas["Autotransporte"]; figuras: Schemas["Figura"][]; ubicaciones: Schemas["Ubicacion"][] } = { figuras: [], ubicaciones: [] };
  let cursor: string | undefined;
  do {
    const got = await ask(api.GET("/cartas/{id}/contenido", { params: { path: { id }, query: { limit: 100, ...(cursor ? { cursor } : {}) } }, signal }));
    if (got.autotransporte) out.autotransporte = got.autotransporte;
    out.figuras.push(...got.figuras);
    out.ubicaciones.push(...got.ubicaciones);
    cursor = got.next;
  } while (cursor);
  return out;
}
