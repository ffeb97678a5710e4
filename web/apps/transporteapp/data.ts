import { ask, format, tagged, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { dayKey, hour, startOfDay, type Span } from "./day.ts";
import { t } from "./words.ts";

export type Trip = Schemas["ViajeResumen"];
/** A trip with its carta porte. */
export type Whole = Schemas["ViajeConCarta"];
export type Driver = Schemas["Conductor"];
export type Vehicle = Schemas["Vehiculo"];
export type Trailer = Schemas["Remolque"];
export type Profile = Schemas["Perfil"];
export type State = Trip["estado"];

/** A trip's state for dispatchers: planned trips without driver and vehicle come first. */
export type Standing = "borrador" | "sin_asignar" | "programado" | "en_curso" | "completado" | "cancelado";

export const standings: readonly Standing[] = ["sin_asignar", "programado", "en_curso", "completado", "borrador", "cancelado"];

export function standing(trip: { estado: State; resources?: unknown }): Standing {
  return trip.estado === "programado" && !trip.resources ? "sin_asignar" : trip.estado;
}

export const tones = {
  borrador: undefined, sin_asignar: "warning", programado: "info", en_curso: "accent", completado: "success", cancelado: undefined,
} as const;

export function spanOf(trip: { fechaInicioProgramada: string; fechaFinProgramada: string }): Span {
  return { from: Date.parse(trip.fechaInicioProgramada), to: Date.parse(trip.fechaFinProgramada) };
}

/** A trip that occupies its driver, vehicle and trailer. */
export function takes(trip: Trip): boolean {
  return trip.estado === "programado" || trip.estado === "en_curso";
}

/** "08:00–18:00", with the date if the end is on another day. */
export function times(trip: { fechaInicioProgramada: string; fechaFinProgramada: string }): string {
  const { from, to } = spanOf(trip);
  const end = dayKey(new Date(from)) === dayKey(new Date(to)) ? format.time(to) : format.dateTime(to, { weekday: "short", hour: "numeric", minute: "2-digit" });
  return `${format.time(from)} – ${end}`;
}

/** Warnings for the dispatcher. */
export function alertOf(trip: Trip, now = Date.now()): string | undefined {
  const { from, to } = spanOf(trip);
  if (!takes(trip)) return undefined;
  if (trip.estado === "en_curso") return to < now ? t("alert.arrival") : undefined;
  if (from < now) return t("alert.start");
  if (trip.resources && unstamped(trip)) return t("alert.carta");
  return undefined;
}

/** Whether a trip cannot start because of its carta. A local trip needs none, but one that it has must be stamped. */
export function unstamped({ local, fiscal }: Pick<Trip, "local" | "fiscal">): boolean {
  const status = fiscal?.cartaPorteStatus;
  return status !== "timbrada" && !(local && (status === undefined || status === "cancelada"));
}

/** A trip as currently stored. */
export function stored(id: string, signal?: AbortSignal): Promise<Tagged<Whole>> {
  return tagged(api.GET("/viajes/{id}", { params: { path: { id } }, ...(signal ? { signal } : {}) }));
}

interface Page<T> {
  items: readonly T[];
  next?: string | undefined;
}

/** All pages of a list of manageable size: a fleet, the trips of a week. */
async function whole<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const got = await page(cursor);
    items.push(...got.items);
    cursor = got.next;
  } while (cursor && items.length < 2000);
  return items;
}

const limit = 100;

/** The longest trip that the board expects to extend into a day, in days. */
export const reach = 4;

/** Trips in a period, including those that began up to four days before it. */
export async function tripsBetween(from: Date, to: Date, signal?: AbortSignal): Promise<Trip[]> {
  const asked = { desde: startOfDay(from, -reach).toISOString(), hasta: to.toISOString(), limit };
  const found = await whole((cursor) => ask(api.GET("/viajes", { params: { query: { ...asked, ...(cursor ? { cursor } : {}) } }, ...(signal ? { signal } : {}) })));
  return found.filter((t) => spanOf(t).to > from.getTime() && spanOf(t).from < to.getTime());
}

export interface Fleet {
  drivers: Driver[];
  vehicles: Vehicle[];
  trailers: Trailer[];
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / limit) }, (_, n) => items.slice(n * limit, (n + 1) * limit));
}

/** The ids of all, or of those available in a period. */
export async function resourceIDs(period: { desde: string; hasta: string } | undefined, signal?: AbortSignal): Promise<{ drivers: string[]; vehicles: string[]; trailers: string[] }> {
  const query = (cursor: string | undefined) => ({ params: { query: { ...period, limit, ...(cursor ? { cursor } : {}) } }, ...(signal ? { signal } : {}) });
  const [drivers, vehicles, trailers] = await Promise.all([
    whole((c) => ask(api.GET("/conductores", query(c)))), whole((c) => ask(api.GET("/vehiculos", query(c)))), whole((c) => ask(api.GET("/remolques", query(c)))),
  ]);
  return {
    drivers: drivers.map((d) => d.conductorId), vehicles: vehicles.map((v) => v.vehiculoId ?? ""), trailers: trailers.map((r) => r.remolqueId ?? ""),
  };
}

/** Drivers, vehicles and trailers of the company. */
export async function fleet(signal?: AbortSignal): Promise<Fleet> {
  const ids = await resourceIDs(undefined, signal);
  const ask1 = (body: Schemas["RecursosConsulta"]) => ask(api.POST("/recursos/consulta", { body, ...(signal ? { signal } : {}) }));
  const found = await Promise.all([
    ...chunks(ids.drivers).map((conductores) => ask1({ conductores })),
    ...chunks(ids.vehicles).map((vehiculos) => ask1({ vehiculos })),
    ...chunks(ids.trailers).map((remolques) => ask1({ remolques })),
  ]);
  return {
    drivers: found.flatMap((f) => f.conductores), vehicles: found.flatMap((f) => f.vehiculos), trailers: found.flatMap((f) => f.remolques),
  };
}

/** Days until a licence expires; negative if it has. It is valid until the end of its last day, where the reader is. */
export function daysLeft(day: string, now = Date.now()): number {
  return Math.round((Date.parse(day) - Date.parse(dayKey(new Date(now)))) / (24 * hour));
}

/** Days before an expiry that counts as soon. */
export const soon = 30;
