import { Armchair, CircleCheckBig, DoorOpen, Lock, PartyPopper, Popcorn, UserMinus, UserPlus, Users, EllipsisVertical } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Avatar, Badge, Button, Card, Confirm, Dialog, Empty, Failed, Icon, Menu, Notice, Ring, Skeleton, ask, format, go, link, session, toast, toastProblem, useTitle } from "#ui";
import { api, type Schemas } from "#clients/trinity";
import { Cover } from "./cover.tsx";
import { Deck } from "./deck.tsx";
import { openRoom, type Person, type RoomState } from "./room-state.ts";
import { Share } from "./share.tsx";
import { nameOf } from "./who.tsx";
import { t } from "./words.ts";

export function Room({ id }: { id: string }) {
  const state = useMemo(() => openRoom(id), [id]);
  useEffect(() => state.stop, [state]);
  const room = state.room.value;
  useTitle(room?.code);
  const problem = state.problem.value;
  if (problem && (problem.status === 403 || problem.status === 404)) {
    return <Empty level={1} icon={Armchair} title={problem.status === 403 ? t("room.notIn") : t("room.over")} action={<Button kind="primary" href={link("/")}>{t("nav.rooms")}</Button>}>{problem.detail}</Empty>;
  }
  if (problem) {
    return <Failed problem={problem} onRetry={state.reload} />;
  }
  if (!room) {
    return <div class="room"><div class="stack"><Skeleton width="12rem" height="2.75rem" /><Skeleton height="min(32rem, 60dvh)" /></div></div>;
  }
  return <Inside state={state} room={room} />;
}

function Inside({ state, room }: { state: RoomState; room: Schemas["RoomWithMembers"] }) {
  const [asked, setAsked] = useState<"share" | "leave" | "close" | "people" | undefined>();
  const [removed, setRemoved] = useState<Person | undefined>();
  const own = session.value?.sub;
  const host = room.hostId === own;
  const none = () => setAsked(undefined);
  const path = { id: room.id };

  const leave = async () => {
    try {
      await ask(api.DELETE("/rooms/{id}/member", { params: { path } }));
      state.stop();
      none();
      go(link("/"), "replace");
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const close = async () => {
    try {
      await ask(api.PUT("/rooms/{id}/closed", { params: { path } }));
      none();
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const remove = async () => {
    if (!removed) return;
    try {
      await ask(api.DELETE("/rooms/{id}/members/{userId}", { params: { path: { id: room.id, userId: removed.userId } } }));
      toast("success", t("people.removed", { name: nameOf(removed) }));
    } catch (thrown) {
      toastProblem(thrown);
    }
    setRemoved(undefined);
  };

  const people = <People state={state} room={room} own={own} {...(host ? { onRemove: setRemoved } : {})} />;
  return (
    <div class="room">
      <div class="room-bar">
        <h1><button type="button" class="room-code" onClick={() => setAsked("share")} title={t("share.title")}><span class="hidden-visually">{t("room.code")} </span>{room.code}</button></h1>
        <Live state={state} />
        <button type="button" class="faces end" onClick={() => setAsked("people")}>
          {state.people.value.slice(0, 4).map((p) => <Avatar key={p.userId} name={nameOf(p)} size={30} />)}
          <span class="faces-count" id="people-count" aria-hidden="true">{state.people.value.length}</span>
          <span class="hidden-visually">{t("people.title")}: {t("people.count", { n: state.people.value.length })}</span>
        </button>
        <Menu label={t("room.menu")} icon={EllipsisVertical} items={[
          { label: t("share.title"), icon: UserPlus, onPress: () => setAsked("share") },
          { label: t("people.title"), icon: Users, onPress: () => setAsked("people") },
          "line",
          ...(host && !room.closed ? [{ label: t("close.action"), icon: Lock, danger: true, onPress: () => setAsked("close") }] : []),
          { label: t("leave.action"), icon: DoorOpen, danger: true, onPress: () => setAsked("leave") },
        ]} />
      </div>
      <div class="room-table">
        <div class="room-play" aria-live="polite">
          {room.closed ? <Notice tone="info">{t("room.closed")}</Notice> : state.left.value.length > 0 ? <Deck state={state} /> : <Done state={state} onInvite={() => setAsked("share")} />}
        </div>
        <aside class="room-side stack">
          <Matches matches={state.matches.value} />
          <div class="wide-only"><Card level={2} title={t("people.title")} action={!room.closed && <Button size="small" icon={UserPlus} onPress={() => setAsked("share")}>{t("people.invite")}</Button>}>{people}</Card></div>
          <p class="muted small">{t("room.untilWhen", { when: format.relative(room.expiresAt) })}</p>
        </aside>
      </div>

      <Share code={room.code} open={asked === "share"} onClose={none} />
      <Dialog open={asked === "people"} title={t("people.title")} onClose={none} actions={!room.closed && <Button kind="primary" icon={UserPlus} wide onPress={() => setAsked("share")}>{t("people.invite")}</Button>}>{people}</Dialog>
      <Confirm open={asked === "leave"} title={t("leave.title")} action={t("leave.action")} danger onConfirm={leave} onClose={none}>{t("leave.about")}</Confirm>
      <Confirm open={asked === "close"} title={t("close.title")} action={t("close.action")} danger onConfirm={close} onClose={none}>{t("close.about")}</Confirm>
      <Confirm open={removed !== undefined} title={t("remove.title", { name: removed ? nameOf(removed) : "" })} action={t("remove.action")} danger onConfirm={remove} onClose={() => setRemoved(undefined)}>{t("remove.about")}</Confirm>
      <Celebration state={state} />
    </div>
  );
}

function Live({ state }: { state: RoomState }) {
  const open = state.link.value === "open";
  return <span role="status" id="live"><Badge tone={open ? "success" : "warning"}>{open ? t("room.live") : t("room.connecting")}</Badge></span>;
}

function People({ state, room, own, onRemove }: { state: RoomState; room: Schemas["RoomWithMembers"]; own: string | undefined; onRemove?: (person: Person) => void }) {
  const films = state.films.value.length;
  return (
    <ul class="people">
      {state.people.value.map((p) => {
        const name = nameOf(p);
        return (
          <li key={p.userId} class="row fixed">
            <Ring value={p.votes} max={films} label={t("people.progress", { name, n: p.votes, films })}><Avatar name={name} size={36} /></Ring>
            <div class="grow">
              <div class="clip"><b>{name}</b>{p.userId === own && <span class="muted"> · {t("people.you")}</span>}</div>
              <div class="muted small">{p.votes >= films ? t("people.done") : t("people.votes", { n: p.votes, films })}{p.userId === room.hostId && ` · ${t("people.host")}`}</div>
            </div>
            {onRemove && p.userId !== own && <Button kind="quiet" icon={UserMinus} label={t("remove.title", { name })} onPress={() => onRemove(p)} />}
          </li>
        );
      })}
    </ul>
  );
}

/** All films are voted on: shows who is still voting. */
function Done({ state, onInvite }: { state: RoomState; onInvite: () => void }) {
  const films = state.films.value.length;
  const waiting = state.people.value.filter((p) => p.votes < films && p.userId !== session.value?.sub);
  const alone = state.people.value.length < 2;
  return (
    <Empty level={2} icon={alone ? UserPlus : waiting.length > 0 ? Popcorn : CircleCheckBig} title={t("done.title")} action={alone ? <Button kind="primary" icon={UserPlus} onPress={onInvite}>{t("people.invite")}</Button> : undefined}>
      {alone ? t("done.alone") : waiting.length > 0 ? t("done.waiting", { n: waiting.length, names: format.list(waiting.map(nameOf)) }) : t("done.all")}
    </Empty>
  );
}

function Matches({ matches }: { matches: readonly Schemas["Match"][] }) {
  return (
    <Card level={2} title={t("matches.title")} action={matches.length > 0 && <Badge tone="accent" plain>{format.number(matches.length)}</Badge>}>
      {matches.length === 0 ? <p class="muted">{t("matches.none")}</p> : (
        <ul class="matches" id="matches">
          {matches.map((m) => <li key={m.movieId} class="row fixed"><span class="thumb"><Cover title={m.title} posterPath={m.posterPath} /></span><b class="grow">{m.title}</b></li>)}
        </ul>
      )}
    </Card>
  );
}

/** Shows a match. */
function Celebration({ state }: { state: RoomState }) {
  const match = state.fresh.value;
  const names = match ? state.people.value.filter((p) => match.matchedUsers.includes(p.userId)).map(nameOf) : [];
  return (
    <Dialog open={match !== undefined} title={t("match.title")} onClose={state.seen} actions={<Button kind="primary" size="large" wide onPress={state.seen} autofocus>{t("match.on")}</Button>}>
      {match && (
        <div class="match" id="match">
          <div class="confetti" aria-hidden="true">{Array.from({ length: 28 }, (_, n) => <i key={n} style={{ "--n": String(n), "--at": `${(n * 37) % 100}%`, "--kind": `var(--kind-${(n % 7) + 1})` }} />)}</div>
          <div class="match-cover"><Cover title={match.title} posterPath={match.posterPath} /></div>
          <p class="match-said"><Icon of={PartyPopper} size={22} />{t("match.said", { names: format.list(names) })}</p>
          <p class="match-film" id="match-film">{match.title}</p>
        </div>
      )}
    </Dialog>
  );
}
