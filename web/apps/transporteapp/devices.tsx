import { Monitor } from "lucide";
import { useEffect } from "preact/hooks";
import { Badge, Button, Dialog, Icon, MoreButton, Paged, ask, deviceOf, format, keep, kept, session, signOut, toast, toastProblem, usePages } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { t } from "./words.ts";

type Device = Schemas["Sesion"];

const listed = "transporteapp-listed";

/** Lists this device, once for each log-in, so that it can be signed out from another one. */
export function useListed(): void {
  const logIn = session.value?.logIn;
  useEffect(() => {
    if (!logIn || kept(listed) === logIn) return;
    const body = { dispositivo: deviceOf(navigator.userAgent) ?? t("devices.unknown") };
    ask(api.POST("/sesiones", { params: { header: { "Idempotency-Key": logIn } }, body })).then(() => keep(listed, logIn), () => undefined); // the next visit tries again
  }, [logIn]);
}

const end = (id: string) => ask(api.DELETE("/sesiones/{id}", { params: { path: { id } } }));

/** Ends this device's log-in, whether or not the server can be reached. */
export async function signOutHere(): Promise<void> {
  const logIn = session.value?.logIn;
  if (logIn) await end(logIn).catch(() => undefined);
  signOut();
}

/** The reader's signed-in devices. */
export function Devices({ onClose }: { onClose: () => void }) {
  const devices = usePages<Device>((cursor, signal) => ask(api.GET("/sesiones", { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })), []);
  const own = session.value?.logIn;
  const close = async (d: Device) => {
    try {
      await end(d.sessionId);
      devices.change((list) => list.filter((o) => o.sessionId !== d.sessionId));
      toast("success", t("devices.ended", { name: d.dispositivo }));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <Dialog open title={t("devices.title")} onClose={onClose}>
      <div class="stack">
        <p class="muted">{t("devices.text")}</p>
        <Paged pages={devices} empty={<p class="muted">{t("devices.none")}</p>}>
          {(list) => (
            <ul class="plain-list">
              {[...list].sort((a, b) => Number(b.sessionId === own) - Number(a.sessionId === own) || b.createdAt.localeCompare(a.createdAt)).map((d) => (
                <li key={d.sessionId} class="row fixed">
                  <Icon of={Monitor} />
                  <span class="grow"><b>{d.dispositivo}</b><br /><span class="muted small">{t("devices.since", { when: format.dateTime(d.createdAt) })}</span></span>
                  {d.sessionId === own
                    ? <Badge tone="accent">{t("devices.this")}</Badge>
                    : <Button size="small" onPress={() => close(d)}>{t("devices.end")}<span class="hidden-visually"> {d.dispositivo}</span></Button>}
                </li>
              ))}
            </ul>
          )}
        </Paged>
        <div class="row"><MoreButton pages={devices} /></div>
      </div>
    </Dialog>
  );
}
