import { Armchair, ChevronRight, Clapperboard, Heart, Plus, Tv } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Badge, Button, Card, Chips, Empty, Failed, Form, Icon, MoreButton, Paged, Problem, RequestKey, Skeleton, TextField, ask, format, go, link, toastProblem, useLoaded, usePages, useTitle } from "#ui";
import { api, type Schemas } from "#clients/trinity";
import { Cover } from "./cover.tsx";
import { ownName } from "./who.tsx";
import { t } from "./words.ts";

type MediaType = Schemas["Room"]["mediaType"];

/** The name of a joining member, if known. */
const called = () => (ownName() ? { name: ownName() } : {});

export function Home() {
  const rooms = usePages((cursor, signal) => ask(api.GET("/rooms", { params: { query: { limit: 20, cursor } }, signal })), []);
  return (
    <div class="home">
      <section class="stack">
        <h1>{ownName() ? t("home.hello", { name: ownName() }) : t("home.title")}</h1>
        <JoinForm />
        <Button size="large" wide icon={Plus} href={link("/new")}>{t("new.title")}</Button>
      </section>
      <section class="stack">
        <h2>{t("rooms.title")}</h2>
        <Paged pages={rooms} empty={<Empty icon={Armchair} title={t("rooms.none")}>{t("rooms.noneAbout")}</Empty>}>
          {(items) => (
            <ul class="rooms stack">
              {items.map((r) => (
                <li key={r.id}>
                  <a class="card room-link" href={link("/rooms/:id", { id: r.id })}>
                    <Icon of={r.mediaType === "TV" ? Tv : Clapperboard} size={22} />
                    <span class="grow"><b class="code-text">{r.code}</b><span class="muted small">{t(`media.${r.mediaType}`)} · {t("room.ends", { when: format.relative(r.expiresAt) })}</span></span>
                    {r.hasMatch && <Badge tone="success">{t("rooms.match")}</Badge>}
                    <Icon of={ChevronRight} />
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Paged>
        <div class="more"><MoreButton pages={rooms} /></div>
      </section>
    </div>
  );
}

/** The form to join a room by its six-character code. */
function JoinForm() {
  const [code, setCode] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const join = async () => {
    setFault(undefined);
    try {
      const room = await joinRoom(code.trim());
      go(link("/rooms/:id", { id: room.id }));
    } catch (thrown) {
      setFault(said(Problem.of(thrown)));
    }
  };
  return (
    <Form class="join card" onSubmit={join}>
      <TextField label={t("join.code")} name="code" value={code} onInput={(v) => setCode(v.toUpperCase())} error={fault} pattern="\s*[A-Za-z0-9]{6}\s*" maxLength={8} autocomplete="off" placeholder="ABC234" />
      <Button kind="primary" size="large" type="submit">{t("join.action")}</Button>
    </Form>
  );
}

function said(problem: Problem): string {
  return problem.code === "invalid_parameter" || problem.code === "not_found" ? t("join.none") : problem.detail;
}

function joinRoom(code: string): Promise<Schemas["Room"]> {
  return ask(api.PUT("/codes/{code}/member", { params: { path: { code } }, body: called() }));
}

/** The address in a QR code, which opens the room. */
export function Join({ code }: { code: string }) {
  const [problem, setProblem] = useState<Problem | undefined>();
  useEffect(() => {
    joinRoom(code).then((room) => go(link("/rooms/:id", { id: room.id }), "replace"), (thrown: unknown) => setProblem(Problem.of(thrown)));
  }, [code]);
  if (!problem) {
    return <div class="stack" aria-busy="true"><h1>{t("join.coming", { code })}</h1><Skeleton height="20rem" /></div>;
  }
  return <Empty level={1} icon={Armchair} title={said(problem)} action={<Button kind="primary" href={link("/")}>{t("nav.rooms")}</Button>} />;
}

export function NewRoom() {
  useTitle(t("new.title"));
  const [media, setMedia] = useState<MediaType>("MOVIE");
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const key = useMemo(() => new RequestKey(), []);
  const genres = useLoaded((signal) => ask(api.GET("/genres", { params: { query: { mediaType: media } }, signal })), [media]);
  const create = async () => {
    const body = { mediaType: media, genreIds: [...chosen], ...called() };
    try {
      const room = await ask(api.POST("/rooms", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
      key.done();
      go(link("/rooms/:id", { id: room.id }), "replace");
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <div class="new stack">
      <h1>{t("new.title")}</h1>
      <Chips<MediaType> label={t("new.what")} chosen={[media]} onChoose={([m]) => { setMedia(m ?? "MOVIE"); setChosen([]); }}
        choices={[{ value: "MOVIE", label: t("media.MOVIE") }, { value: "TV", label: t("media.TV") }]} />
      {genres.problem.value ? <Failed problem={genres.problem.value} onRetry={genres.reload} /> : genres.value.value === undefined ? <Skeleton height="12rem" /> : (
        <Chips<number> label={t("new.genres")} hint={t("new.genresHint")} full={t("new.genresFull")} most={2} chosen={chosen} onChoose={setChosen}
          choices={genres.value.value.items.map((g) => ({ value: g.id, label: genreName(g) }))} />
      )}
      <div class="thumb-bar"><Button kind="primary" size="large" wide onPress={create}>{t("new.action")}</Button></div>
    </div>
  );
}

const genreName = (g: { id: number; name: string }) => t(`genre.${g.id}` as Parameters<typeof t>[0]).replace(/^genre\.\d+$/, g.name);

export function History() {
  useTitle(t("nav.matches"));
  const matches = usePages((cursor, signal) => ask(api.GET("/matches", { params: { query: { limit: 20, cursor } }, signal })), []);
  return (
    <div class="stack">
      <h1>{t("nav.matches")}</h1>
      <Paged pages={matches} empty={<Empty level={2} icon={Heart} title={t("history.none")} action={<Button kind="primary" href={link("/")}>{t("nav.rooms")}</Button>}>{t("history.noneAbout")}</Empty>}>
        {(items) => (
          <ul class="history">
            {items.map((m) => (
              <li key={m.matchId}>
                <Card><div class="history-cover"><Cover title={m.title} posterPath={m.posterPath} /></div><h2>{m.title}</h2><p class="muted small">{format.day(m.timestamp)}</p></Card>
              </li>
            ))}
          </ul>
        )}
      </Paged>
      <div class="more"><MoreButton pages={matches} /></div>
    </div>
  );
}
