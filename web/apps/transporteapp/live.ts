import { useEffect, useState } from "preact/hooks";
import { follow, type Following } from "#ui";
import type { Schemas } from "#clients/transporteapp";
import type { Trip } from "./data.ts";
import { firm, firmHeader, loadFirms } from "./who.ts";

interface Told {
  /** Lists are to be read: at the beginning, and after a break. */
  ready: () => void;
  /** A trip was made or has changed. */
  trip?: (trip: Trip) => void;
  /** Where a trip is. */
  tracking?: (now: Schemas["Rastreo"]) => void;
  /** A trip is not the driver's any more. */
  lost?: (id: string) => void;
}

/** Follows the trips of the company for as long as a view is there. It tells whether changes arrive. */
export function useLive(told: Told): Following["state"]["value"] {
  const id = firm.value?.empresaId;
  const [feed, setFeed] = useState<Following | undefined>();
  const latest = useLatest(told);
  useEffect(() => {
    if (id === undefined) return;
    const f = follow("/eventos", {
      ready: () => {
        void loadFirms().catch(() => {}); // the reader may be something else since the last connection
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
    if (state === "failed") void loadFirms().catch(() => {}); // the reader's role is another one, or none
  }, [state]);
  return state;
}

function useLatest<T>(value: T): { current: T } {
  const [box] = useState({ current: value });
  box.current = value;
  return box;
}
