import { useEffect, useState } from "preact/hooks";
import { follow, type Following } from "#ui";
import type { Schemas } from "#clients/transporteapp";
import type { Trip } from "./data.ts";
import { firm, firmHeader, loadFirms } from "./who.ts";

interface Told {
  /** Lists must be loaded: at the start, and after reconnecting. */
  ready: () => void;
  /** A trip was created or changed. */
  trip?: (trip: Trip) => void;
  /** A trip's position. */
  tracking?: (now: Schemas["Rastreo"]) => void;
  /** A trip was taken from the driver. */
  lost?: (id: string) => void;
}

/** Follows the company's trips while the view is mounted. Returns whether changes are arriving. */
export function useLive(told: Told): Following["state"]["value"] {
  const id = firm.value?.empresaId;
  const [feed, setFeed] = useState<Following | undefined>();
  const latest = useLatest(told);
  useEffect(() => {
    if (id === undefined) return;
    const f = follow("/eventos", {
      ready: () => {
        void loadFirms().catch(() => {}); // the reader's role may have changed since the last connection
        latest.current.ready();
      },
      viaje: (trip: Trip) => latest.current.trip?.(trip),
      rastreo: (now: Schemas["Rastreo"]) => latest.current.tracking?.(now),
      cambio: (trip: Schemas["Cambio"]) => latest.current.lost?.(trip.viajeId),
    }, { headers: firmHeader() });
    setFeed(f);
    return f.stop;
  }, [id]);
  const state = feed?.state.value ?? "connecting";
  useEffect(() => {
    if (state === "failed") void loadFirms().catch(() => {}); // the reader's role has changed or been revoked
  }, [state]);
  return state;
}

function useLatest<T>(value: T): { current: T } {
  const [box] = useState({ current: value });
  box.current = value;
  return box;
}
