// A table's tags.
import { Plus, X } from "lucide";
import { useState } from "preact/hooks";
import { Button, Card, Skeleton, TextField, useLoaded } from "#ui";
import { about, call } from "./api.ts";
import { Fault, toastFault } from "./fault.tsx";
import { t } from "./words.ts";

interface Tag { Key: string; Value: string }

async function allTags(arn: string, abort: AbortSignal): Promise<Tag[]> {
  const found: Tag[] = [];
  let next: string | undefined;
  do {
    const page: { Tags?: Tag[]; NextToken?: string } = await call("ListTagsOfResource", next === undefined ? { ResourceArn: arn } : { ResourceArn: arn, NextToken: next }, abort);
    found.push(...(page.Tags ?? []));
    next = page.NextToken;
  } while (next !== undefined);
  return found.sort((a, b) => (a.Key < b.Key ? -1 : 1));
}

export function Tags({ arn }: { arn: string }) {
  const loaded = useLoaded((abort) => allTags(arn, abort), [arn]);
  const [fresh, set] = useState<Tag>({ Key: "", Value: "" });
  const change = async (operation: string, input: object) => {
    try {
      await call(operation, { ResourceArn: arn, ...input });
      await loaded.reload();
      return true;
    } catch (thrown) {
      toastFault(thrown);
      return false;
    }
  };
  const add = async (event: Event) => {
    event.preventDefault();
    if (fresh.Key !== "" && await change("TagResource", { Tags: [fresh] })) set({ Key: "", Value: "" });
  };
  const tags = loaded.value.value;
  return (
    <Card level={2} title={t("tags")}>
      <div class="stack" style={{ "--gap": "var(--space-3)" }}>
        {loaded.problem.value ? <Fault problem={loaded.problem.value} onRetry={() => void loaded.reload()} /> : !tags ? <Skeleton lines={2} />
          : tags.length === 0 ? <p class="muted">{t("tags.none")}</p>
          : <ul class="query-list">{tags.map((tag) => <li key={tag.Key}><span class="grow tag"><code>{tag.Key}</code> {tag.Value}</span>{!about.readOnly && <Button kind="quiet" size="small" icon={X} label={t("edit.remove", { name: tag.Key })} onPress={() => change("UntagResource", { TagKeys: [tag.Key] })} />}</li>)}</ul>}
        {!about.readOnly && (
          <form class="row field-row" onSubmit={add}>
            <TextField label={t("tags.key")} name="tag-key" value={fresh.Key} onInput={(Key) => set({ ...fresh, Key })} maxLength={128} autocomplete="off" />
            <TextField label={t("value")} name="tag-value" optional value={fresh.Value} onInput={(Value) => set({ ...fresh, Value })} maxLength={256} autocomplete="off" />
            <Button icon={Plus} type="submit">{t("tags.add")}</Button>
          </form>
        )}
      </div>
    </Card>
  );
}
