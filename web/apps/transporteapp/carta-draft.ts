import { ask, tagged } from "#ui";
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
    ubicaciones: draft.ubicaciones.map((u) => made<Schemas["Ubicacion"]>({ ...u, orden: "", fechaHoraSalidaLlegada: seconds(u["fechaHoraSalidaLlegada"] ?? "") }, placeLines(u))),
    figuras: draft.figuras.map((f) => made<Schemas["Figura"]>({ ...f, orden: "" }, lines.figuras)),
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

/** Stores one part over the version of a carta, and returns the version that this makes. */
export async function store(part: Part, draft: Draft, over: Stored): Promise<Stored> {
  const params = { path: { id: over.carta.cartaId }, header: over.tag ? { "If-Match": over.tag } : {} };
  const body = sent(draft);
  const made = async <T,>(call: Parameters<typeof tagged<T>>[0], parts: (value: T) => Partial<Stored["parts"]>): Promise<Stored> => {
    const { value, tag } = await tagged(call);
    return { carta: over.carta, tag, parts: { ...over.parts, ...parts(value) } };
  };
  switch (part) {
    case "receptor": return made(api.PUT("/cartas/{id}/receptor", { params, body: body.receptor }), ({ receptor }) => ({ receptor }));
    case "autotransporte": return made(api.PUT("/cartas/{id}/autotransporte", { params, body: body.autotransporte }), (autotransporte) => ({ autotransporte }));
    case "ubicaciones": return made(api.PUT("/cartas/{id}/ubicaciones", { params, body: { ubicaciones: body.ubicaciones } }), ({ ubicaciones }) => ({ ubicaciones }));
    case "figuras": return made(api.PUT("/cartas/{id}/figuras", { params, body: { figuras: body.figuras } }), ({ figuras }) => ({ figuras }));
  }
}

/** A carta with all its lists except goods, as stored. */
export interface Stored {
  carta: Schemas["Carta"];
  tag: string | undefined;
  parts: Contents & { receptor: Schemas["Receptor"] };
}

export interface Opened extends Stored {
  trip: Schemas["ViajeConCarta"];
  draft: Draft;
  /** Parts that are not as in the carta, but filled in from the trip: missing ones, and those that the trip no longer has. */
  taken: readonly Part[];
}

export async function read(id: string, signal?: AbortSignal): Promise<Stored> {
  const { value: carta, tag } = await tagged(api.GET("/cartas/{id}", { params: { path: { id } }, ...(signal ? { signal } : {}) }));
  return { carta, tag, parts: { receptor: carta.receptor, ...await contents(id, signal) } };
}

/** Whether a part is the same in two versions of a carta. */
export function same(part: Part, a: Stored, b: Stored): boolean {
  return JSON.stringify(a.parts[part]) === JSON.stringify(b.parts[part]);
}

/**
 * A carta to be edited. Missing parts are filled in from the trip, its vehicle and its driver. If the trip has been reassigned since they were stored, a
 * draft follows it.
 */
export async function open(id: string, zone: string, signal: AbortSignal): Promise<Opened> {
  const found = await read(id, signal);
  const { carta, parts: stored } = found;
  const trip = await ask(api.GET("/viajes/{id}", { params: { path: { id: carta.viajeId } }, signal }));
  const taken: Part[] = [];
  const or = <T>(part: Part, there: boolean, have: () => T, take: () => T): T => {
    if (there) return have();
    taken.push(part);
    return take();
  };
  const r = trip.resources;
  const other = (what: NonNullable<typeof trip.discrepancias>[number]) => r !== undefined && carta.status === "borrador" && !carta.sellada && (trip.discrepancias ?? []).includes(what);
  const hasVehicle = stored.autotransporte !== undefined && !other("vehiculo") && !(r?.remolqueId && other("remolque")); // a trailer that is only in the carta may be rented
  const hasDriver = stored.figuras.length > 0 && !other("conductor");
  const path = (of: string) => ({ params: { path: { id: of } }, signal });
  const [vehicle, trailer, driver] = await Promise.all([
    !hasVehicle && r ? ask(api.GET("/vehiculos/{id}", path(r.vehiculoId))) : undefined,
    !hasVehicle && r?.remolqueId ? ask(api.GET("/remolques/{id}", path(r.remolqueId))) : undefined,
    !hasDriver && r ? ask(api.GET("/conductores/{id}", path(r.conductorId))) : undefined,
  ]);
  const draft: Draft = {
    receptor: texts(carta.receptor),
    autotransporte: or("autotransporte", hasVehicle, () => texts(stored.autotransporte), () => (vehicle ? {
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
    figuras: or("figuras", hasDriver, () => stored.figuras.map((f) => texts(f)), () => {
      const taken: Texts = { tipoFigura: "01", ...(driver ? { nombreFigura: driver.nombre, rfcFigura: driver.rfc, numLicencia: driver.licencia.numero } : {}) };
      const before = stored.figuras.findIndex((f) => f.tipoFigura === "01"); // the others have been added by hand
      return [taken, ...stored.figuras.filter((_, n) => n !== before).map((f) => texts(f))];
    }),
  };
  return { ...found, trip, draft, taken };
}

/** A time in the company's time zone, to the minute: 2026-11-23T08:00. */
export function localTime(at: string, zone: string): string {
  const parts = new Intl.DateTimeFormat("sv-SE", { timeZone: zone || undefined, dateStyle: "short", timeStyle: "short" }).format(new Date(at));
  return parts.replace(" ", "T");
}

interface Contents {
  autotransporte?: Schemas["Autotransporte"];
  figuras: Schemas["Figura"][];
  ubicaciones: Schemas["Ubicacion"][];
}

async function contents(id: string, signal?: AbortSignal): Promise<Contents> {
  const { autotransporte, figuras, ubicaciones } = await ask(api.GET("/cartas/{id}/contenido", { params: { path: { id }, query: { sinMercancias: true } }, ...(signal ? { signal } : {}) }));
  return { ...(autotransporte ? { autotransporte } : {}), figuras, ubicaciones };
}
