// The queries that are kept and those that were run, each as a link.
import { Bookmark, Download, FileUp, History, Trash, X } from "lucide";
import { Button, Card, Empty, FileButton, toast, useTitle } from "#ui";
import { about } from "./api.ts";
import { download } from "./save.ts";
import { type Query, addBookmarks, bookmark, bookmarks, forgetPast, isBookmarked, past, written } from "./queries.ts";
import { t } from "./words.ts";

export function QueriesPage() {
  useTitle(t("queries"));
  const take = async (file: File) => {
    if (!(await addBookmarks(await file.text()))) toast("warning", t("queries.notOurs"));
  };
  return (
    <div class="stack queries">
      <div class="row">
        <div class="grow"><h1>{t("queries")}</h1><p class="muted small">{t(about.bookmarks ? "queries.serverText" : "queries.browserText")}</p></div>
        <FileButton icon={FileUp} accept=".json" onFile={take}>{t("queries.import")}</FileButton>
        {bookmarks.value.length > 0 && <Button icon={Download} onPress={() => download(new Blob([written(bookmarks.value)], { type: "application/json" }), "bookmarks.json")}>{t("queries.export")}</Button>}
      </div>
      <Card level={2} title={t("bookmarks")}>
        {bookmarks.value.length === 0 ? <Empty icon={Bookmark} title={t("bookmarks.none")}>{t("bookmarks.noneText")}</Empty> : <List queries={bookmarks.value} />}
      </Card>
      <Card level={2} title={t("history")} action={past.value.length > 0 && <Button kind="quiet" size="small" icon={Trash} onPress={forgetPast}>{t("history.clear")}</Button>}>
        {past.value.length === 0 ? <Empty icon={History} title={t("history.none")}>{t("history.noneText")}</Empty> : <List queries={past.value} />}
      </Card>
    </div>
  );
}

function List({ queries }: { queries: readonly Query[] }) {
  return (
    <ul class="query-list">
      {queries.map((q) => (
        <li key={q.address}>
          <a href={q.address}><code>{q.title}</code></a>
          <Button kind="quiet" size="small" icon={isBookmarked(q.address) ? X : Bookmark} label={t(isBookmarked(q.address) ? "bookmarks.remove" : "bookmarks.add", { title: q.title })} onPress={() => bookmark(q)} />
        </li>
      ))}
    </ul>
  );
}
