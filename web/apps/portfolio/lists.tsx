import { Bell, Bookmark, PenLine, Plus } from "lucide";
import { useState } from "preact/hooks";
import { Badge, Button, Empty, MoreButton, Paged, Tabs, apiURL, ask, format, go, link, toastProblem, usePages, useTitle } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { imageURL } from "./images.tsx";
import { t } from "./words.ts";

export type Status = Schemas["PostSummary"]["status"];

const tones = { draft: "warning", published: "success", archived: "info" } as const;

export function StatusPill({ status }: { status: Status }) {
  return <Badge tone={tones[status]}>{t(`status.${status}`)}</Badge>;
}

/** The address of a post on the site; the server completes it with the title. */
export function onSite(id: string): string {
  return apiURL(`/p/${id.toLowerCase()}`);
}

/** The author's own posts, by status. */
export function Posts() {
  const [status, setStatus] = useState<Status>("draft");
  const list = usePages((cursor, signal) => ask(api.GET("/me/posts", { params: { query: { status, limit: 20, ...(cursor ? { cursor } : {}) } }, signal })), [status]);
  useTitle(t("nav.posts"));
  const write = <Button kind="primary" icon={Plus} href={link("/write")}>{t("write")}</Button>;
  return (
    <div class="stack">
      <div class="row"><h1 class="grow">{t("nav.posts")}</h1>{write}</div>
      <Tabs label={t("nav.posts")} chosen={status} onChoose={setStatus} tabs={(["draft", "published", "archived"] as const).map((key) => ({ key, label: t(`tabs.${key}`) }))}>
        <Paged pages={list} empty={<Empty icon={PenLine} title={t(`empty.${status}`)} action={status === "draft" ? write : undefined} />}>
          {(posts) => (
            <ul class="studio-posts">
              {posts.map((p) => (
                <li key={p.postId} class="studio-post">
                  {p.coverId && <img class="thumb" src={imageURL(p.coverId, true)} alt="" loading="lazy" />}
                  <div class="grow stack" style={{ "--gap": "var(--space-1)" }}>
                    <a href={link("/posts/:id", { id: p.postId })}>{p.title}</a>
                    {p.excerpt && <span class="muted small clip">{p.excerpt}</span>}
                  </div>
                  <span class="muted small">{format.relative(p.updatedAt)}</span>
                  <StatusPill status={p.status} />
                </li>
              ))}
            </ul>
          )}
        </Paged>
        <div class="row"><MoreButton pages={list} /></div>
      </Tabs>
    </div>
  );
}

/** Comments and likes on the author's posts. */
export function Notifications() {
  const list = usePages((cursor, signal) => ask(api.GET("/notifications", { params: { query: { limit: 20, ...(cursor ? { cursor } : {}) } }, signal })), []);
  useTitle(t("nav.notifications"));
  const mark = async (n: Schemas["NotificationEntry"], read: boolean) => {
    try {
      const changed = await ask(api.PATCH("/notifications/{id}", { params: { path: { id: n.notificationId } }, body: { read } }));
      list.change((all) => all.map((one) => (one.notificationId === n.notificationId ? { ...one, ...changed } : one)));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <div class="stack reading">
      <h1>{t("nav.notifications")}</h1>
      <Paged pages={list} empty={<Empty icon={Bell} title={t("empty.notifications")} />}>
        {(all) => (
          <ul class="studio-posts">
            {all.map((n) => (
              <li key={n.notificationId} class={n.read ? "studio-post" : "studio-post unread"}>
                <div class="grow stack" style={{ "--gap": "var(--space-1)" }}>
                  <a href={onSite(n.postId)}>{t(`notice.${n.kind}`, { who: n.actorName })}</a>
                  <span class="muted small">{n.postTitle || n.message} · {format.relative(n.createdAt)}</span>
                </div>
                <Button size="small" kind="quiet" onPress={() => mark(n, !n.read)}>{t(n.read ? "unread" : "read")}</Button>
              </li>
            ))}
          </ul>
        )}
      </Paged>
      <div class="row"><MoreButton pages={list} /></div>
    </div>
  );
}

/** Bookmarked posts. */
export function Bookmarks() {
  const list = usePages((cursor, signal) => ask(api.GET("/bookmarks", { params: { query: { limit: 20, ...(cursor ? { cursor } : {}) } }, signal })), []);
  useTitle(t("nav.bookmarks"));
  const remove = async (b: Schemas["Bookmark"]) => {
    try {
      await ask(api.DELETE("/bookmarks/{id}", { params: { path: { id: b.postId } } }));
      list.change((all) => all.filter((one) => one.postId !== b.postId));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <div class="stack reading">
      <h1>{t("nav.bookmarks")}</h1>
      <Paged pages={list} empty={<Empty icon={Bookmark} title={t("empty.bookmarks")} action={<Button href={apiURL("/")}>{t("nav.site")}</Button>} />}>
        {(all) => (
          <ul class="studio-posts">
            {all.map((b) => (
              <li key={b.postId} class="studio-post">
                <div class="grow stack" style={{ "--gap": "var(--space-1)" }}>
                  <a href={onSite(b.postId)}>{b.postTitle}</a>
                  <span class="muted small">{format.day(b.createdAt)}</span>
                </div>
                <Button size="small" kind="quiet" onPress={() => remove(b)}>{t("remove")}</Button>
              </li>
            ))}
          </ul>
        )}
      </Paged>
      <div class="row"><MoreButton pages={list} /></div>
    </div>
  );
}

/** The destination after writing a post. */
export function toPost(id: string): void {
  go(link("/posts/:id", { id }), "replace");
}
