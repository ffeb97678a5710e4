import { ArrowDown, ArrowUp, FolderOpen, Pencil, Plus, Trash2 } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Button, Confirm, Dialog, Empty, Failed, Form, Problem, Skeleton, TextField, ask, newKey, toast, toastProblem, useLoaded, useTitle } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { t } from "./words.ts";

type Category = Schemas["Category"];

/** The categories in order, for administrators. */
export function Categories() {
  const list = useLoaded(async (signal) => (await ask(api.GET("/categories", { params: { query: { limit: 100 } }, signal }))).items, []);
  const [editing, setEditing] = useState<Category | "new" | undefined>();
  const [deleting, setDeleting] = useState<Category | undefined>();
  useTitle(t("nav.categories"));
  const all = list.value.value;
  if (list.problem.value) {
    return <Failed problem={list.problem.value} onRetry={list.reload} />;
  }
  if (!all) {
    return <Skeleton lines={6} />;
  }
  const add = <Button kind="primary" icon={Plus} onPress={() => setEditing("new")}>{t("category.new")}</Button>;

  /** Moves one up or down; only changed positions are saved. */
  const move = async (from: number, to: number) => {
    const order = [...all];
    order.splice(to, 0, ...order.splice(from, 1));
    const placed = order.map((c, position) => ({ ...c, position }));
    const wrong = placed.filter((c, n) => order[n]?.position !== c.position);
    list.set(placed);
    try {
      await Promise.all(wrong.map((c) => ask(api.PATCH("/categories/{id}", { params: { path: { id: c.categoryId } }, body: { position: c.position } }))));
    } catch (thrown) {
      toastProblem(thrown);
      await list.reload();
    }
  };
  const remove = async (c: Category) => {
    try {
      await ask(api.DELETE("/categories/{id}", { params: { path: { id: c.categoryId } } }));
      list.set(all.filter((one) => one.categoryId !== c.categoryId));
      toast("success", t("category.deleted"));
    } catch (thrown) {
      toastProblem(thrown);
    }
    setDeleting(undefined);
  };
  return (
    <div class="stack reading">
      <div class="row"><h1 class="grow">{t("nav.categories")}</h1>{add}</div>
      {all.length === 0
        ? <Empty icon={FolderOpen} title={t("empty.categories")} action={add} />
        : (
          <ol class="studio-posts">
            {all.map((c, n) => (
              <li key={c.categoryId} class="studio-post fixed">
                <div class="grow stack" style={{ "--gap": "0px" }}><b>{c.name}</b><span class="muted small clip">/c/{c.slug}</span></div>
                <span class="row fixed" style={{ "--gap": "0px" }}>
                  <Button kind="quiet" size="small" icon={ArrowUp} label={t("category.up", { name: c.name })} disabled={n === 0} onPress={() => move(n, n - 1)} />
                  <Button kind="quiet" size="small" icon={ArrowDown} label={t("category.down", { name: c.name })} disabled={n === all.length - 1} onPress={() => move(n, n + 1)} />
                  <Button kind="quiet" size="small" icon={Pencil} label={t("category.edit", { name: c.name })} onPress={() => setEditing(c)} />
                  <Button kind="quiet" size="small" icon={Trash2} label={t("category.delete", { name: c.name })} onPress={() => setDeleting(c)} />
                </span>
              </li>
            ))}
          </ol>
        )}
      <Dialog open={editing !== undefined} title={t(editing === "new" ? "category.new" : "category.rename")} onClose={() => setEditing(undefined)} actions={
        <>
          <Button onPress={() => setEditing(undefined)}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" form="category">{t("save")}</Button>
        </>
      }>
        {editing && <CategoryForm category={editing === "new" ? undefined : editing} onSaved={() => { setEditing(undefined); toast("success", t("saved")); void list.reload(); }} />}
      </Dialog>
      <Confirm open={deleting !== undefined} title={t("category.ask", { name: deleting?.name ?? "" })} action={t("delete")} danger onClose={() => setDeleting(undefined)} onConfirm={() => deleting && remove(deleting)}>
        {t("category.askText")}
      </Confirm>
    </div>
  );
}

function CategoryForm({ category, onSaved }: { category: Category | undefined; onSaved: () => void }) {
  const [name, setName] = useState(category?.name ?? "");
  const [slug, setSlug] = useState(category?.slug ?? "");
  const [own, setOwn] = useState(category !== undefined); // until edited, the slug follows the name
  const [problem, setProblem] = useState<Problem | undefined>();
  const id = useMemo(() => category?.categoryId ?? newKey(), []); // of its own: a slug may be the id of a category that now has another slug
  const send = async () => {
    setProblem(undefined);
    try {
      await ask(api.PUT("/categories/{id}", { params: { path: { id } }, body: { name: name.trim(), slug } }));
      onSaved();
    } catch (thrown) {
      const found = Problem.of(thrown);
      setProblem(found);
    }
  };
  const taken = problem?.code === "slug_taken" ? problem.detail : undefined;
  return (
    <Form id="category" class="stack" onSubmit={send}>
      <TextField label={t("category.name")} name="name" value={name} maxLength={100} autofocus error={problem?.field("name")} onInput={(v) => { setName(v); if (!own) setSlug(slugOf(v)); }} />
      <TextField label={t("category.slug")} name="slug" hint={t("category.slugHint")} value={slug} maxLength={80} pattern="[a-z0-9]+(-[a-z0-9]+)*"
        error={problem?.field("slug") ?? taken ?? (problem && problem.fields.length === 0 ? problem.detail : undefined)} onInput={(v) => { setOwn(true); setSlug(v); }} />
    </Form>
  );
}

/** A name in lower case, with - between words. */
function slugOf(name: string): string {
  return name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80);
}
