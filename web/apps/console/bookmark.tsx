// Adds or removes a bookmark.
import { Bookmark, BookmarkCheck } from "lucide";
import { Button } from "#ui";
import { type Query, bookmark, canBookmark, isBookmarked } from "./queries.ts";
import { t } from "./words.ts";

export function BookmarkButton({ query }: { query: Query }) {
  const is = isBookmarked(query.address);
  return !canBookmark() ? null : <Button kind="quiet" size="small" icon={is ? BookmarkCheck : Bookmark} label={t(is ? "bookmarks.remove" : "bookmarks.add", { title: query.title })} onPress={() => bookmark(query)} />;
}
