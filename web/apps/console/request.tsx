// A request of the console as code, to copy.
import { CodeXml } from "lucide";
import { useState } from "preact/hooks";
import { Button, CodeTabs, Dialog } from "#ui";
import { programs } from "./code.ts";
import type { AnyRequest } from "./statement.ts";
import { t } from "./words.ts";

export function CopyRequest({ request }: { request: AnyRequest }) {
  const [open, set] = useState(false);
  return (
    <>
      <Button kind="quiet" size="small" icon={CodeXml} onPress={() => set(true)}>{t("code")}</Button>
      <Dialog wide open={open} title={t("code.title", { operation: request.operation })} onClose={() => set(false)} actions={<Button kind="primary" onPress={() => set(false)}>{t("done")}</Button>}>
        <CodeTabs label={t("code")} texts={programs(request)} />
      </Dialog>
    </>
  );
}
