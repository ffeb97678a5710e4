// One item, beside the items: as a whole and as it is now, however little of it an index has.
import { SearchX } from "lucide";
import { useState } from "preact/hooks";
import { Drawer, Empty, Failed, JSONText, Skeleton, Tabs, format, useLoaded } from "#ui";
import { type Consumed, call } from "./api.ts";
import { CopyRequest } from "./request.tsx";
import { type Table, keyNames, keysOf } from "./schema.ts";
import { Attributes, bytes } from "./show.tsx";
import { type Item, itemSize, short } from "./value.ts";
import { t } from "./words.ts";

interface ItemDrawerProps {
  table: Table;
  itemKey: Item;
  onClose: () => void;
}

export function ItemDrawer({ table, itemKey, onClose }: ItemDrawerProps) {
  const name = table.description.TableName;
  const request = { operation: "GetItem", input: { TableName: name, Key: itemKey, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" } };
  const loaded = useLoaded((abort) => call<{ Item?: Item; ConsumedCapacity?: Consumed }>(request.operation, request.input, abort), [name, JSON.stringify(itemKey)]);
  const item = loaded.value.value?.Item;
  const title = Object.values(itemKey).map(short).join(" · ");
  return (
    <Drawer open wide title={title} onClose={onClose}>
      {loaded.problem.value ? <Failed problem={loaded.problem.value} onRetry={() => loaded.reload()} />
        : !loaded.value.value ? <Skeleton lines={8} />
        : !item ? <Empty icon={SearchX} title={t("item.none")}>{t("item.noneText")}</Empty>
        : (
          <div class="stack">
            <div class="row small muted item-facts">
              <span>{t("item.size", { size: bytes(itemSize(item)) })}</span>
              <span>{t("item.read", { n: loaded.value.value.ConsumedCapacity?.CapacityUnits ?? 0 })}</span>
              <span>{t("item.write", { n: format.number(Math.max(1, Math.ceil(itemSize(item) / 1024))) })}</span>
              <CopyRequest request={request} />
            </div>
            <ItemView item={item} keys={keyNames(keysOf(table.description.KeySchema))} />
          </div>
        )}
    </Drawer>
  );
}

export function ItemView({ item, keys }: { item: Item; keys: readonly string[] }) {
  const [chosen, choose] = useState<"attributes" | "json">("attributes");
  return (
    <Tabs label={t("view")} chosen={chosen} onChoose={choose} tabs={[{ key: "attributes", label: t("item.attributes") }, { key: "json", label: "JSON" }]}>
      {chosen === "json" ? <JSONText text={JSON.stringify(item, null, 2)} /> : <Attributes item={item} keys={keys} />}
    </Tabs>
  );
}
