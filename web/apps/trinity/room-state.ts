import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { Problem, ask, follow, session, toastProblem } from "#ui";
import { api, type Schemas } from "#clients/trinity";

type Film = Schemas["Candidate"];
type Match = Schemas["Match"];
export type Person = Schemas["Person"];

/** The state of a room's page: loaded once, then updated by events. */
export interface RoomState {
  room: ReadonlySignal<Schemas["RoomWithMembers"] | undefined>;
  people: ReadonlySignal<readonly Person[]>;
  /** All its films, and those not yet voted on. */
  films: ReadonlySignal<readonly Film[]>;
  left: ReadonlySignal<readonly Film[]>;
  matches: ReadonlySignal<readonly Match[]>;
  /** The latest match. */
  fresh: ReadonlySignal<Match | undefined>;
  /** The film just voted on, for the animation. */
  gone: ReadonlySignal<{ film: Film; yes: boolean } | undefined>;
  problem: ReadonlySignal<Problem | undefined>;
  link: ReadonlySignal<"connecting" | "open" | "waiting" | "failed">;
  vote: (yes: boolean) => void;
  seen: () => void;
  landed: () => void;
  reload: () => void;
  stop: () => void;
}

export function openRoom(id: string): RoomState {
  const room = signal<Schemas["RoomWithMembers"] | undefined>(undefined);
  const films = signal<readonly Film[]>([]);
  const voted = signal<ReadonlySet<number>>(new Set());
  const matches = signal<readonly Match[]>([]);
  const fresh = signal<Match | undefined>(undefined);
  const gone = signal<{ film: Film; yes: boolean } | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  const left = computed(() => films.value.filter((f) => !voted.value.has(f.movieId)));
  const path = { id };
  const end = new AbortController();
  let feed: ReturnType<typeof follow> | undefined;
  const link = signal<"connecting" | "open" | "waiting" | "failed">("connecting");

  let changes = 0; // events about members
  const put = (person: Person) => {
    changes++;
    const now = room.value;
    if (now) room.value = { ...now, members: [...now.members.filter((m) => m.userId !== person.userId), person].sort((a, b) => a.joinedAt.localeCompare(b.joinedAt)) };
  };
  const celebrate = (match: Match) => {
    if (matches.value.some((m) => m.movieId === match.movieId)) {
      return;
    }
    matches.value = [...matches.value, match];
    fresh.value = match;
    navigator.vibrate?.(120);
  };
  // Joins and leaves while disconnected are not replayed. An event during the request may be newer than its response.
  const look = async () => {
    try {
      let found: Schemas["RoomWithMembers"];
      let before: number;
      let tries = 0;
      do {
        before = changes;
        found = await ask(api.GET("/rooms/{id}", { params: { path }, signal: end.signal }));
      } while (before !== changes && ++tries < 5); // a busy room
      room.value = found;
    } catch (thrown) {
      if (!end.signal.aborted && room.value === undefined) problem.value = Problem.of(thrown);
    }
  };
  const load = async () => {
    problem.value = undefined;
    const all = { params: { path, query: { limit: 100 } }, signal: end.signal };
    try {
      const [found, candidates, own, made] = await Promise.all([
        ask(api.GET("/rooms/{id}", { params: { path }, signal: end.signal })), ask(api.GET("/rooms/{id}/candidates", all)),
        ask(api.GET("/rooms/{id}/votes/mine", all)), ask(api.GET("/rooms/{id}/matches", all)),
      ]);
      voted.value = new Set(own.items.map((v) => v.movieId));
      films.value = candidates.items;
      matches.value = made.items;
      room.value = found;
    } catch (thrown) {
      if (!end.signal.aborted) problem.value = Problem.of(thrown);
      return;
    }
    feed?.stop();
    feed = follow(`/rooms/${id}/events`, {
      ready: () => void look(), match: celebrate, joined: put, changed: put,
      left: (person: Person) => {
        changes++;
        const now = room.value;
        if (now) room.value = { ...now, members: now.members.filter((m) => m.userId !== person.userId) };
      },
      closed: () => { if (room.value) room.value = { ...room.value, closed: true }; },
    });
    const state = feed;
    state.state.subscribe((s) => {
      if (end.signal.aborted) return;
      link.value = s;
      if (s === "failed") problem.value = state.problem.value;
    });
  };

  // The card leaves immediately, so fast swipes need not wait; votes are sent one after the other.
  let sending = Promise.resolve();
  const vote = (yes: boolean) => {
    const film = left.value[0];
    if (!film || room.value?.closed) {
      return;
    }
    voted.value = new Set([...voted.value, film.movieId]);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) gone.value = { film, yes };
    sending = sending.then(async () => {
      try {
        const cast = await ask(api.PUT("/rooms/{id}/votes/{movieId}", { params: { path: { id, movieId: film.movieId } }, body: { vote: yes } }));
        if (cast.match) celebrate(cast.match);
        const own = room.value?.members.find((m) => m.userId === session.value?.sub);
        if (own) put({ ...own, votes: voted.value.size });
      } catch (thrown) {
        const failed = Problem.of(thrown);
        if (failed.code !== "vote_is_final") { // otherwise it was cast on another device
          voted.value = new Set([...voted.value].filter((v) => v !== film.movieId));
        }
        toastProblem(failed);
      }
    });
  };

  void load();
  return {
    room, films, left, matches, fresh, gone, problem, link, vote,
    people: computed(() => room.value?.members ?? []),
    seen: () => { fresh.value = undefined; },
    landed: () => { gone.value = undefined; },
    reload: () => void load(),
    stop: () => { end.abort(); feed?.stop(); },
  };
}
