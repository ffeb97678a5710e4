import { Heart, X } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { Button, Icon } from "#ui";
import type { Schemas } from "#clients/trinity";
import { Cover } from "./cover.tsx";
import type { RoomState } from "./room-state.ts";
import { t } from "./words.ts";

/** How far a card must be dragged to count as a vote, in pixels. */
const far = 96;

function Face({ film }: { film: Schemas["Candidate"] }) {
  return (
    <>
      <Cover title={film.title} posterPath={film.posterPath} />
      <div class="film-text">
        <h2>{film.title}</h2>
        <p class="film-year">{film.releaseDate.slice(0, 4)}</p>
        {film.overview && <p>{film.overview}</p>}
      </div>
      <span class="stamp yes" aria-hidden="true"><Icon of={Heart} size={28} />{t("vote.yes")}</span>
      <span class="stamp no" aria-hidden="true"><Icon of={X} size={28} />{t("vote.no")}</span>
    </>
  );
}

/** The current film above the next one. Dragging, the arrow keys and the buttons are equivalent. */
export function Deck({ state }: { state: RoomState }) {
  const [film, below] = state.left.value;
  const card = useRef<HTMLElement>(null);
  const from = useRef<{ x: number; y: number; id: number } | undefined>(undefined);
  const gone = state.gone.value;

  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const busy = event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open], [role=menu]:popover-open");
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [role=tablist]");
      if (!busy && !typing && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
        event.preventDefault();
        state.vote(event.key === "ArrowRight");
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [state]);

  const draw = (x: number) => {
    const style = card.current?.style;
    style?.setProperty("--x", `${x}px`);
    style?.setProperty("--turn", `${x / 18}deg`);
    style?.setProperty("--yes", String(Math.min(Math.max(x / far, 0), 1)));
    style?.setProperty("--no", String(Math.min(Math.max(-x / far, 0), 1)));
  };
  const down = (e: PointerEvent) => {
    if (e.button !== 0) return;
    from.current = { x: e.clientX, y: e.clientY, id: e.pointerId };
    card.current?.setPointerCapture(e.pointerId);
    card.current?.classList.add("held");
  };
  const move = (e: PointerEvent) => {
    if (from.current?.id === e.pointerId) draw(e.clientX - from.current.x);
  };
  const up = (e: PointerEvent) => {
    if (from.current?.id !== e.pointerId) return;
    const x = e.clientX - from.current.x;
    from.current = undefined;
    card.current?.classList.remove("held");
    draw(0);
    if (e.type === "pointerup" && Math.abs(x) >= far) state.vote(x > 0);
  };
  if (!film) {
    return null;
  }
  return (
    <div class="deck">
      <div class="cards">
        {below && <article key={below.movieId} class="film below" aria-hidden="true" inert><Cover title={below.title} posterPath={below.posterPath} /></article>}
        <article key={film.movieId} ref={card} class="film" onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up}>
          <Face film={film} />
        </article>
        {gone && <div key={`gone ${gone.film.movieId}`} class={`film gone ${gone.yes ? "yes" : "no"}`} aria-hidden="true" onAnimationEnd={state.landed}><Cover title={gone.film.title} posterPath={gone.film.posterPath} /></div>}
      </div>
      <div class="choices">
        <Button class="vote no" label={t("vote.no")} icon={X} onPress={() => state.vote(false)} />
        <p class="muted small choices-hint"><kbd>←</kbd> {t("vote.keys")} <kbd>→</kbd></p>
        <p class="muted small choices-left">{t("vote.left", { n: state.left.value.length })}</p>
        <Button class="vote yes" label={t("vote.yes")} icon={Heart} onPress={() => state.vote(true)} />
      </div>
    </div>
  );
}
