import { Share2 } from "lucide";
import { Button, CopyButton, Dialog, apiURL, link, toastProblem } from "#ui";
import { place } from "./who.tsx";
import { t } from "./words.ts";

/** The address for other phones: the server's public address, or this page's own. */
function addressOf(code: string): string {
  const here = place.public ? `${place.public}/` : location.href.replace(/#.*$/, "");
  return here + link("/join/:code", { code });
}

/** How others join a room: its code, its address, and a QR code if phones can reach this server. */
export function Share({ code, open, onClose }: { code: string; open: boolean; onClose: () => void }) {
  const address = addressOf(code);
  const share = async () => {
    try {
      await navigator.share({ title: t("page.title"), text: t("share.text", { code }), url: address });
    } catch (thrown) {
      if (!(thrown instanceof DOMException)) toastProblem(thrown); // closed without a choice
    }
  };
  return (
    <Dialog open={open} title={t("share.title")} onClose={onClose} actions={typeof navigator.share === "function" ? <Button kind="primary" icon={Share2} wide onPress={share}>{t("share.send")}</Button> : undefined}>
      <div class="share stack">
        <p class="muted">{t("share.about")}</p>
        <p class="share-code" aria-label={[...code].join(" ")}>{code}</p>
        {place.public && <img class="share-qr" src={apiURL(`/play/qr.png?code=${encodeURIComponent(code)}`)} alt={t("share.qr")} width="200" height="200" />}
        <div class="row fixed share-link"><code class="grow clip">{address}</code><CopyButton text={address} /></div>
      </div>
    </Dialog>
  );
}
