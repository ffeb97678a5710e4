import { Eye, EyeOff, MessageSquare, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import { Avatar, Badge, Button, Confirm, Empty, MoreButton, Paged, Tabs, ask, format, inGroup, toast, toastProblem, usePages, useTitle } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { onSite } from "./lists.tsx";
import { t } from "./words.ts";

type Remark = Schemas["ModeratedComment"];

/** Comments on one's own posts and, for administrators, on all. Moderators hide and delete them. */
export function Moderation() {
  const admin = inGroup("portfolio-admin");
  const [whose, setWhose] = useState<"mine" | "all">("mine");
  useTitle(t("nav.comments"));
  return (
    <div class="stack reading">
      <h1>{t("nav.comments")}</h1>
      {admin
        ? (
          <Tabs label={t("nav.comments")} chosen={whose} onChoose={setWhose} tabs={(["mine", "all"] as const).map((key) => ({ key, label: t(`comments.${key}`) }))}>
            <Remarks key={whose} all={whose === "all"} />
          </Tabs>
        )
        : <Remarks all={false} />}
    </div>
  );
}

function Remarks({ all }: { all: boolean }) {
  const list = usePages((cursor, signal) => {
    const params = { query: { limit: 20, ...(cursor ? { cursor } : {}) } };
    return ask(all ? api.GET("/comments", { params, signal }) : api.GET("/me/posts/comments", { params, signal }));
  }, [all]);
  const [deleting, setDeleting] = useState<Remark | undefined>();
  const change = async (c: Remark, hidden: boolean) => {
    const params = { path: { id: c.postId, commentId: c.commentId } };
    try {
      await ask(hidden ? api.PUT("/posts/{id}/comments/{commentId}/hidden", { params }) : api.DELETE("/posts/{id}/comments/{commentId}/hidden", { params }));
      const { hiddenAt: _, ...shown } = c;
      list.change((some) => some.map((one) => (one.commentId === c.commentId ? (hidden ? { ...c, hiddenAt: new Date().toISOString() } : shown) : one)));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const remove = async (c: Remark) => {
    try {
      await ask(api.DELETE("/posts/{id}/comments/{commentId}", { params: { path: { id: c.postId, commentId: c.commentId } } }));
      list.change((some) => some.filter((one) => one.commentId !== c.commentId));
      toast("success", t("comments.deleted"));
    } catch (thrown) {
      toastProblem(thrown);
    }
    setDeleting(undefined);
  };
  return (
    <>
      <Paged pages={list} empty={<Empty icon={MessageSquare} title={t(all ? "empty.all" : "empty.comments")} />}>
        {(some) => (
          <ul class="studio-posts">
            {some.map((c) => (
              <li key={c.commentId} class={c.hiddenAt ? "remark hidden-remark" : "remark"}>
                <Avatar name={c.userName} size={36} />
                <div class="grow stack" style={{ "--gap": "var(--space-1)" }}>
                  <span class="row"><b>{c.userName}</b><span class="muted small">{format.relative(c.createdAt)}</span>{c.hiddenAt && <Badge tone="warning">{t("comments.hidden")}</Badge>}</span>
                  <p class="comment-body">{c.body}</p>
                  <a class="muted small clip" href={onSite(c.postId)}>{c.postTitle}</a>
                  <div class="row remark-tools">
                    <Button size="small" icon={c.hiddenAt ? Eye : EyeOff} onPress={() => change(c, !c.hiddenAt)}>{t(c.hiddenAt ? "comments.show" : "comments.hide")}</Button>
                    <Button size="small" kind="quiet" icon={Trash2} onPress={() => setDeleting(c)}>{t("delete")}</Button>
                  </div>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Paged>
      <div class="row"><MoreButton pages={list} /></div>
      <Confirm open={deleting !== undefined} title={t("comments.ask")} action={t("delete")} danger onClose={() => setDeleting(undefined)} onConfirm={() => deleting && remove(deleting)}>
        {deleting && <><p>{t("comments.askText", { who: deleting.userName })}</p><blockquote class="comment-body muted">{deleting.body}</blockquote></>}
      </Confirm>
    </>
  );
}
