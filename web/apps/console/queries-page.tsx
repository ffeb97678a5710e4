// Bookmarks and history, as links.
import { Bookmark, Database, Download, FileUp, History, Trash, X } from "lucide";
import { useEffect } from "preact/hooks";
import { Button, Card, Empty, FileButton, toast, useTitle } from "#ui";
import { onAWS } from "./api.ts";
import { toastFault } from "./fault.tsx";
import { download } from "./save.ts";
import { type Query, addBookmarks, bookmark, bookmarks, canBookmark, forgetPast, isBookmarked, keepInTable, loadQueries, past, place, written } from "./queries.ts";
import { t } from "./words.ts";

export function QueriesPage() {
  useTitle(t("queries"));
  useEffect(() => void loadQueries(), []); // other tabs may have changed them
  const take = async (file: File) => {
    if (!(await addBookmarks(await file.text()))) toast("warning", t("queries.notOurs"));
  };
  return (
    <div class="stack queries">
      <div class="row">
        <div class="grow"><h1>{t("queries")}</h1><Where /></div>
        {canBookmark() && <FileButton icon={FileUp} accept=".json" onFile={take}>{t("queries.import")}</FileButton>}
      </div>
      <Card level={2} title={t("bookmarks")} action={bookmarks.value.length > 0 && <Save queries={bookmarks.value} file="bookmarks.json">{t("queries.export")}</Save>}>
        {bookmarks.value.length === 0 ? <Empty icon={Bookmark} title={t("bookmarks.none")}>{t("bookmarks.noneText")}</Empty> : <List queries={bookmarks.value} />}
      </Card>
      <Card level={2} title={t("history")} action={past.value.length > 0 && (
        <div class="row">
          <Save queries={past.value} file="history.json">{t("history.export")}</Save>
          <Button kind="quiet" size="small" icon={Trash} onPress={() => void forgetPast()}>{t("history.clear")}</Button>
        </div>
      )}>
        {past.value.length === 0 ? <Empty icon={History} title={t("history.none")}>{t("history.noneText")}</Empty> : <List queries={past.value} />}
      </Card>
    </div>
  );
}

/** Explains where the queries are stored, and how to change it. */
function Where() {
  const { in: where, why } = place.value;
  const create = () => keepInTable().catch(toastFault);
  return (
    <div class="row">
      <p class="muted small">{t(where !== "browser" ? `queries.in.${where}` : why === undefined ? "queries.in.browser" : `queries.why.${why}`)}</p>
      {why === "noTable" && <Button size="small" icon={Database} onPress={create}>{t(onAWS ? "queries.createOnAWS" : "queries.create")}</Button>}
    </div>
  );
}

function Save({ queries, file, children }: { queries: readonly Query[]; file: string; children: string }) {
  return <Button kind="quiet" size="small" icon={Download} onPress={() => download(new Blob([written(queries)], { type: "application/json" }), file)}>{children}</Button>;
}

function List({ queries }: { queries: readonly Query[] }) {
  return (
    <ul class="query-list">
      {queries.map((q) => (
        <li key={q.address}>
          <a href={q.address}><code>{q.title}</code></a>
          {canBookmark() && <Button kind="quiet" size="small" icon={isBookmarked(q.address) ? X : Bookmark} label={t(isBookmarked(q.address) ? "bookmarks.remove" : "bookmarks.add", { title: q.title })} onPress={() => bookmark(q)} />}
        </li>
      ))}
    </ul>
  );
}
