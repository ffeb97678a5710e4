import { Bell, CheckCheck, CircleCheck, CircleX } from "lucide";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button, Empty, Icon, MoreButton, Paged, ask, format, link, toastProblem, usePages } from "#ui";
import { api, type Schemas } from "#clients/appcore";
import { listen } from "./feed.ts";
import { t } from "./words.ts";

type Notification = Schemas["Notification"];

const page = 30;

/** The number of unread notifications among the latest. */
export const unread = signal(0);

async function latest(): Promise<readonly Notification[]> {
  const { items } = await ask(api.GET("/notifications", { params: { query: { limit: page } } }));
  unread.value = items.filter((n) => !n.read).length;
  return items;
}

/** Keeps the number up to date in every view. */
export function watchUnread(): () => void {
  const read = () => latest().catch(() => undefined);
  void read();
  const stop = listen({ notification: read, ready: read });
  return () => { stop(); unread.value = 0; };
}

/** The service writes notifications in the document's Spanish; this shows them in the reader's language. */
function said(n: Notification): { text: string; approved: boolean | undefined } {
  const outcome = / fue (aprobada|rechazada)\.$/.exec(n.message)?.[1];
  if (outcome === undefined) {
    return { text: n.message, approved: undefined };
  }
  return { text: t(outcome === "aprobada" ? "notification.approved" : "notification.rejected"), approved: outcome === "aprobada" };
}

export function Notifications() {
  const list = usePages((cursor, signal) => ask(api.GET("/notifications", { params: { query: { limit: page, cursor } }, signal })), []);
  useEffect(() => {
    const put = (read: readonly Notification[]) => list.change((items) => [...read.filter((n) => !items.some((i) => i.notifId === n.notifId)), ...items.map((i) => read.find((n) => n.notifId === i.notifId) ?? i)]);
    return listen({ notification: (n) => put([n]), ready: () => latest().then(put).catch(() => undefined) });
  }, [list]);
  const mark = async (n: Notification, read: boolean) => {
    try {
      const marked = await ask(api.PATCH("/notifications/{id}", { params: { path: { id: n.notifId } }, body: { read } }));
      list.change((items) => items.map((i) => (i.notifId === marked.notifId ? marked : i)));
      unread.value = list.items.value.slice(0, page).filter((i) => !i.read).length;
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const fresh = list.items.value.filter((n) => !n.read);
  return (
    <div class="stack">
      <div class="row"><h1 class="grow">{t("nav.notifications")}</h1>{fresh.length > 0 && <Button icon={CheckCheck} onPress={() => Promise.all(fresh.map((n) => mark(n, true)))}>{t("notification.all")}</Button>}</div>
      <Paged pages={list} empty={<Empty level={2} icon={Bell} title={t("notification.none")}>{t("notification.noneAbout")}</Empty>}>
        {(items) => (
          <ul class="lines">
            {items.map((n) => {
              const { text, approved } = said(n);
              return (
                <li key={n.notifId} class={n.read ? "line" : "line fresh"}>
                  <span class={`line-mark ${approved === undefined ? "" : approved ? "completed" : "failed"}`} aria-hidden="true"><Icon of={approved === undefined ? Bell : approved ? CircleCheck : CircleX} /></span>
                  <a class="grow line-link" href={link("/transactions/:id", { id: n.txId })} onClick={() => { if (!n.read) void mark(n, true); }}><b>{text}</b><span class="muted small">{format.dateTime(n.createdAt)}</span></a>
                  <Button kind="quiet" size="small" onPress={() => mark(n, !n.read)}>{n.read ? t("notification.unread") : t("notification.read")}</Button>
                </li>
              );
            })}
          </ul>
        )}
      </Paged>
      <div class="more"><MoreButton pages={list} /></div>
    </div>
  );
}
