import { Check, ImageUp, Images as Pile, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Button, Dialog, Empty, FileButton, Icon, MoreButton, Paged, Problem, apiURL, ask, format, toastProblem, usePages } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { t } from "./words.ts";

/** Maximum width of an uploaded picture; the server stores fewer pixels. */
const widest = 2000;

/** The address of an image. */
export function imageURL(id: string, small = false): string {
  return apiURL(`/images/${id}${small ? "/small" : ""}`);
}

/** Uploads a picture to the address given by the API, which may be elsewhere. */
export async function upload(file: File): Promise<Schemas["Image"]> {
  const bytes = await fitted(file);
  const ticket = await ask(api.POST("/images", { body: { size: bytes.size } }));
  const to = /^https?:/.test(ticket.url) ? ticket.url : apiURL(`/${ticket.url}`);
  const response = await fetch(to, { method: ticket.method, headers: ticket.headers, body: bytes });
  if (!response.ok) {
    throw new Problem({ status: response.status, code: "not_uploaded", detail: t("image.failed") });
  }
  return ask(api.PUT("/images/{id}", { params: { path: { id: ticket.imageId } } }));
}

/** Rotates a photo upright and scales it down. Files that the browser cannot read are sent unchanged for the server to check. */
async function fitted(file: File): Promise<Blob> {
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    return file;
  }
  const clear = file.type !== "image/jpeg" && file.type !== "image/heic"; // it may have transparency
  const scale = Math.min(1, widest / picture.width);
  if (clear && scale === 1 && /^image\/(png|webp|gif)$/.test(file.type)) {
    return file;
  }
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((done) => canvas.toBlob((made) => done(made ?? file), clear ? "image/png" : "image/jpeg", 0.92));
}

/** A field to choose, change and remove a picture. */
export function Picture({ label, id, round, onChange }: { label: string; id: string | undefined; round?: boolean; onChange: (id: string | undefined) => void }) {
  const take = async (file: File) => {
    try {
      onChange((await upload(file)).imageId);
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <div class="field" role="group" aria-label={label}>
      <span class="field-label">{label}</span>
      {id && <img class={round ? "picture round" : "picture"} src={imageURL(id, true)} alt="" />}
      <div class="row">
        <FileButton size="small" icon={ImageUp} accept="image/*" onFile={take}>{t(id ? "image.change" : "image.choose")}</FileButton>
        <OwnButton chosen={id} onChoose={onChange} />
        {id && <Button size="small" kind="quiet" icon={Trash2} onPress={() => onChange(undefined)}>{t("remove")}</Button>}
      </div>
    </div>
  );
}

/** A button that offers the author's earlier uploads. */
export function OwnButton({ chosen, onChoose }: { chosen?: string | undefined; onChoose: (id: string) => void }) {
  const [open, setOpen] = useState(false);
  const [picked, setPicked] = useState<string | undefined>();
  useEffect(() => { // after the dialog has closed and returned the focus: the callback may want to move it
    if (picked === undefined) return;
    setPicked(undefined);
    onChoose(picked);
  }, [picked]);
  const choose = (id: string) => {
    setOpen(false);
    setPicked(id);
  };
  return (
    <>
      <Button size="small" kind="quiet" icon={Pile} onPress={() => setOpen(true)}>{t("image.own")}</Button>
      <Dialog open={open} title={t("images.title")} onClose={() => setOpen(false)}><Own chosen={chosen} onChoose={choose} /></Dialog>
    </>
  );
}

/** The author's pictures, newest first. Loaded each time, because uploads add to them. */
function Own({ chosen, onChoose }: { chosen: string | undefined; onChoose: (id: string) => void }) {
  const list = usePages((cursor, signal) => ask(api.GET("/images", { params: { query: { limit: 24, ...(cursor ? { cursor } : {}) } }, signal })), []);
  return (
    <Paged pages={list} empty={<Empty icon={Pile} title={t("images.none")}>{t("images.noneText")}</Empty>}>
      {(some) => (
        <div class="stack">
          <ul class="gallery">
            {some.map((one) => (
              <li key={one.imageId}>
                <button type="button" aria-pressed={chosen === undefined ? undefined : one.imageId === chosen} onClick={() => onChoose(one.imageId)}
                  aria-label={t("images.one", { when: format.day(one.createdAt), width: format.number(one.width), height: format.number(one.height) })}>
                  <img src={imageURL(one.imageId, true)} alt="" loading="lazy" />
                  {one.imageId === chosen && <Icon of={Check} size={18} />}
                </button>
              </li>
            ))}
          </ul>
          <div class="row"><span class="muted small grow">{t("images.gone")}</span><MoreButton pages={list} /></div>
        </div>
      )}
    </Paged>
  );
}
