import { Archive, ExternalLink, ImagePlus, Save, Send } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, Confirm, Conflict, Failed, Field, FileButton, Form, Notice, Problem, RequestKey, Select, Skeleton, TextArea, TextField, ask, tagged, toast, toastProblem, useLeaveGuard, useLoaded, useTitle, useVersion, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { OwnButton, Picture, imageURL, upload } from "./images.tsx";
import { StatusPill, onSite, toPost, type Status } from "./lists.tsx";
import { t } from "./words.ts";

type Input = Schemas["PostInput"];

/** The pause in typing after which the preview updates. */
const pause = 350;

/** Loads the categories and, when editing, the post. */
export function Editor({ id }: { id?: string }) {
  // The form that has created a post stays at the post's address, with what was typed while it was being saved.
  const writing = useRef<{ form: number; created?: string }>({ form: 0 });
  if (writing.current.created !== undefined && writing.current.created !== id) writing.current = { form: writing.current.form + 1 };
  const stored = writing.current.created === id ? undefined : id;
  const categories = useLoaded((signal) => ask(api.GET("/categories", { params: { query: { limit: 100 } }, signal })), []);
  const post = useLoaded(async (signal): Promise<Loaded | undefined> => (stored ? tagged(api.GET("/posts/{id}", { params: { path: { id: stored } }, signal })) : undefined), [stored]);
  useTitle(t(id ? "edit" : "write"));
  const problem = categories.problem.value ?? post.problem.value;
  if (problem) {
    return <Failed problem={problem} onRetry={() => { categories.reload(); post.reload(); }} />;
  }
  if (!categories.value.value || (stored && post.value.value?.value.postId !== stored)) {
    return <Skeleton lines={8} />;
  }
  const created = (made: string) => {
    writing.current.created = made;
    toPost(made);
  };
  return <PostForm key={stored ?? writing.current.form} loaded={stored ? post.value.value : undefined} categories={categories.value.value.items} onCreated={created} />;
}

type Loaded = Tagged<Schemas["PostPage"]>;

/** The author's fields of a post, as stored. */
function inputOf(post: Schemas["PostPage"] | undefined, category = ""): Input {
  return {
    title: post?.title ?? "", excerpt: post?.excerpt ?? "", body: post?.body ?? "", categoryId: post?.categoryId ?? category,
    ...(post?.coverId ? { coverId: post.coverId } : {}),
  };
}

function PostForm({ loaded, categories, onCreated }: { loaded: Loaded | undefined; categories: readonly Schemas["Category"][]; onCreated: (id: string) => void }) {
  const post = loaded?.value;
  const [postId, setPostId] = useState(post?.postId);
  const [input, setInput] = useState<Input>(inputOf(post, categories[0]?.categoryId));
  const [saved, setSaved] = useState(post ? JSON.stringify(input) : "");
  const [status, setStatus] = useState<Status>(post?.status ?? "draft");
  const [problem, setProblem] = useState<Problem | undefined>();
  const [archiving, setArchiving] = useState(false);
  const key = useMemo(() => new RequestKey(), []);
  const changed = JSON.stringify(input) !== saved;
  const lastSaved = useRef(saved);
  const set = (part: Partial<Input>) => setInput((before) => ({ ...before, ...part }));
  const keepAs = (stored: Input) => {
    lastSaved.current = JSON.stringify(stored);
    setSaved(lastSaved.current);
  };
  const stored = () => tagged(api.GET("/posts/{id}", { params: { path: { id: postId ?? "" } } }));
  const version = useVersion(loaded, stored, (is) => {
    setInput(inputOf(is.value));
    setStatus(is.value.status);
    keepAs(inputOf(is.value));
  });

  // Pictures are inserted at the cursor, with their description selected for typing.
  const area = useRef<HTMLTextAreaElement>(null);
  const show = (id: string) => {
    const at = area.current;
    if (!at) return;
    const alone = at.selectionStart === 0 || at.value[at.selectionStart - 1] === "\n" ? "" : "\n\n";
    const from = at.selectionStart + alone.length + 2;
    at.setRangeText(`${alone}![${t("image.about")}](../images/${id})\n`, at.selectionStart, at.selectionEnd, "end");
    set({ body: at.value });
    at.focus();
    at.setSelectionRange(from, from + t("image.about").length);
  };
  const insert = async (file: File) => {
    try {
      show((await upload(file)).imageId);
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const dropped = (event: DragEvent | ClipboardEvent, files: FileList | undefined) => {
    const file = [...(files ?? [])].find((one) => one.type.startsWith("image/"));
    if (file) {
      event.preventDefault();
      void insert(file);
    }
  };

  useLeaveGuard(() => changed && (postId !== undefined || `${input.title}${input.excerpt}${input.body}` !== ""));

  const failed = (thrown: unknown) => {
    const found = Problem.of(thrown);
    setProblem(found);
    if (!version.refused(found) && found.fields.length === 0) toastProblem(found);
  };

  /** Saves and returns the post's id; undefined if it was rejected. */
  const save = async (): Promise<string | undefined> => {
    setProblem(undefined);
    try {
      const kept = postId
        ? await tagged(api.PUT("/posts/{id}", { params: { path: { id: postId }, header: version.header() }, body: input }))
        : await tagged(api.POST("/posts", { params: { header: { "Idempotency-Key": key.for(input) } }, body: input }));
      key.done();
      version.is(kept.tag);
      keepAs(input);
      setPostId(kept.value.postId);
      return kept.value.postId;
    } catch (thrown) {
      failed(thrown);
      return undefined;
    }
  };
  const saveOnly = async () => {
    const id = await save();
    if (id) {
      toast("success", t("saved"));
      if (!postId) onCreated(id);
    }
  };
  const become = async (id: string, next: "published" | "archived") => {
    try {
      const state = await ask(api.PUT("/posts/{id}/status", { params: { path: { id } }, body: { status: next } }));
      setStatus(state.status);
      const is = await tagged(api.GET("/posts/{id}", { params: { path: { id } } })); // a status is a change too
      if (JSON.stringify(inputOf(is.value)) === lastSaved.current) version.is(is.tag);
      toast("success", t(`became.${next}`), { action: { label: t("see"), onPress: () => location.assign(onSite(id)) } });
    } catch (thrown) {
      failed(thrown);
    }
  };
  const publish = async () => {
    const id = changed || !postId ? await save() : postId;
    if (id) {
      await become(id, "published");
      if (!postId) onCreated(id);
    }
  };

  if (categories.length === 0) {
    return <Notice tone="warning">{t("noCategories")}</Notice>;
  }
  const valid = input.title.trim() !== "" && input.body.trim() !== "";
  return (
    <Form class="stack" onSubmit={(e) => (e.submitter?.id === "publish" ? publish() : saveOnly())}>
      <div class="row"><h1 class="grow">{t(postId ? "edit" : "write")}</h1><StatusPill status={status} /></div>
      <Conflict version={version}><Button size="small" icon={ExternalLink} onPress={() => window.open(location.href, "_blank")}>{t("changed.see")}</Button></Conflict>
      <div class="editor">
        <div class="stack">
          <TextField label={t("title")} name="title" value={input.title} onInput={(title) => set({ title })} maxLength={150} error={problem?.field("title")} />
          <TextArea label={t("excerpt")} name="excerpt" hint={t("excerpt.hint")} optional rows={2} value={input.excerpt} onInput={(excerpt) => set({ excerpt })} maxLength={300} error={problem?.field("excerpt")} />
          <Select label={t("category")} name="categoryId" value={input.categoryId} onInput={(categoryId) => set({ categoryId })} error={problem?.field("categoryId")}
            choices={categories.map((c) => ({ value: c.categoryId, label: c.name }))} />
          <div class="row"><FileButton size="small" icon={ImagePlus} accept="image/*" onFile={insert}>{t("image.insert")}</FileButton><OwnButton onChoose={show} /><span class="muted small">{t("image.drop")}</span></div>
          <Field label={t("body")} name="body" hint={t("body.hint")} error={problem?.field("body")}>
            {(attributes) => <textarea {...attributes} ref={area} onDrop={(e) => dropped(e, e.dataTransfer?.files)} onPaste={(e) => dropped(e, e.clipboardData?.files)} class="input editor-text" maxLength={90000} spellcheck value={input.body} onInput={(e) => set({ body: e.currentTarget.value })} />}
          </Field>
          <Picture label={t("cover")} id={input.coverId} onChange={(coverId) => setInput(({ coverId: _, ...rest }) => (coverId ? { ...rest, coverId } : rest))} />
        </div>
        <Preview input={input} />
      </div>
      <div class="editor-bar row">
        <span class="muted small" role="status">{t(changed ? "state.changed" : "state.saved")}</span>
        <span class="row end">
          {postId && status !== "draft" && <Button icon={ExternalLink} href={onSite(postId)}>{t("see")}</Button>}
          {postId && status === "published" && <Button icon={Archive} onPress={() => setArchiving(true)}>{t("archive")}</Button>}
          <Button type="submit" kind={status === "draft" ? "secondary" : "primary"} icon={Save} disabled={!changed || !valid}>{t("save")}</Button>
          {status === "draft" && <Button id="publish" type="submit" kind="primary" icon={Send} disabled={!valid}>{t("publish")}</Button>}
        </span>
      </div>
      <Confirm open={archiving} title={t("archive.ask")} action={t("archive")} onClose={() => setArchiving(false)}
        onConfirm={async () => { if (postId) await become(postId, "archived"); setArchiving(false); }}>
        {t("archive.text")}
      </Confirm>
    </Form>
  );
}

/** The text as rendered by the server. */
function Preview({ input }: { input: Input }) {
  const [shown, setShown] = useState<Schemas["Preview"]>({ html: "", minutes: 1 });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setShown(await ask(api.POST("/preview", { body: { body: input.body }, signal: abort.signal })));
      } catch {
        // keep the last preview; saving shows the error
      }
    }, pause);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [input.body]);
  return (
    <section class="editor-preview" aria-label={t("preview")} tabIndex={0}>
      <h1>{input.title || t("untitled")}</h1>
      {input.excerpt && <p class="post-lead">{input.excerpt}</p>}
      {input.coverId && <img class="post-picture" src={imageURL(input.coverId)} alt="" />}
      {shown.html
        ? <div class="prose" dangerouslySetInnerHTML={{ __html: shown.html }} />
        : <p class="muted">{t("preview.empty")}</p>}
    </section>
  );
}
