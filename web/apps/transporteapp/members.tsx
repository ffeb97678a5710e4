import { Ellipsis, MailPlus, UserPlus } from "lucide";
import { useState } from "preact/hooks";
import { Avatar, Badge, Button, Card, Confirm, CopyButton, Dialog, Empty, Failed, Form, Menu, MoreButton, Notice, Paged, Problem, Select, Table, TextField, ask, format, go, here, link, session, toast, toastProblem, useLoaded, usePages, useTitle } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { fleet, type Driver } from "./data.ts";
import { add, firm, loadFirms, type Role } from "./who.ts";
import { t } from "./words.ts";

type Member = Schemas["Miembro"];
type Invitation = Schemas["Invitacion"];

const roles: readonly Role[] = ["propietario", "despachador", "conductor"];
const tones = { propietario: "accent", despachador: "info", conductor: undefined } as const;

/** The company's members, their roles, and invitations. Visible to owners only. */
export function MembersPage() {
  const members = usePages<Member>((cursor, signal) => ask(api.GET("/miembros", { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })), []);
  const invited = usePages<Invitation>((cursor, signal) => ask(api.GET("/invitaciones", { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })), []);
  const all = useLoaded((signal) => fleet(signal), []);
  const drivers = all.value.value?.drivers ?? [];
  const [inviting, setInviting] = useState(false);
  const [changing, setChanging] = useState<Member | undefined>();
  const [removing, setRemoving] = useState<Member | undefined>();
  useTitle(t("nav.members"));
  const me = session.value?.sub;
  const named = (id: string | undefined) => drivers.find((d) => d.conductorId === id)?.nombre;
  const remove = async (member: Member) => {
    try {
      await ask(api.DELETE("/miembros/{id}", { params: { path: { id: member.miembroId } } }));
      toast("success", t("member.removed", { name: member.nombre }));
      setRemoving(undefined);
      if (member.miembroId === me) await loadFirms();
      else await members.reload();
    } catch (thrown) {
      setRemoving(undefined);
      toastProblem(thrown);
    }
  };
  const takeBack = async (i: Invitation) => {
    try {
      await ask(api.DELETE("/invitaciones/{id}", { params: { path: { id: i.invitacionId } } }));
      invited.change((list) => list.filter((o) => o.invitacionId !== i.invitacionId));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <div class="stack">
      <div class="row"><h1 class="grow">{t("nav.members")}</h1><Button kind="primary" icon={UserPlus} onPress={() => setInviting(true)}>{t("invite")}</Button></div>
      <Paged pages={members}>
        {(list) => (
          <Table caption={t("nav.members")} rows={[...list].sort((a, b) => roles.indexOf(a.rol) - roles.indexOf(b.rol) || format.compare(a.nombre, b.nombre))} rowKey={(m) => m.miembroId} columns={[
            { key: "name", title: t("driver.name"), cell: (m) => <span class="row fixed"><Avatar name={m.nombre} size={28} /><b>{m.nombre}</b>{m.miembroId === me && <span class="muted">{t("member.you")}</span>}</span> },
            { key: "role", title: t("member.role"), cell: (m) => <Role role={m.rol} driver={named(m.conductorId)} /> },
            { key: "since", title: t("member.since"), cell: (m) => format.day(m.createdAt) },
            { key: "do", title: t("actions"), titleHidden: true, cell: (m) => <Menu icon={Ellipsis} size="small" label={t("actions.of", { name: m.nombre })} items={[
              { label: t("member.change"), onPress: () => setChanging(m) }, "line", { label: t(m.miembroId === me ? "member.leave" : "member.remove"), danger: true, onPress: () => setRemoving(m) },
            ]} /> },
          ]} foot={members.next.value || members.state.value === "failed" ? <MoreButton pages={members} /> : undefined} />
        )}
      </Paged>
      <Card title={t("invitations")} level={2}>
        <Paged pages={invited} empty={<p class="muted">{t("invitations.none")}</p>}>
          {(list) => (
            <ul class="plain-list">
              {list.map((i) => (
                <li key={i.invitacionId} class="row">
                  <b>{i.nombre}</b><Role role={i.rol} driver={named(i.conductorId)} /><span class="muted small grow">{t("invitation.until", { day: format.day(i.expiresAt) })}</span>
                  <Button size="small" kind="quiet" onPress={() => takeBack(i)}>{t("invitation.takeBack")}</Button>
                </li>
              ))}
            </ul>
          )}
        </Paged>
        <div class="row"><MoreButton pages={invited} /></div>
      </Card>
      {inviting && <Invite drivers={drivers} onClose={() => { setInviting(false); void invited.reload(); }} />}
      {changing && <Change member={changing} drivers={drivers} onClose={() => setChanging(undefined)} onDone={async () => {
        const own = changing.miembroId === me;
        setChanging(undefined);
        await Promise.all([members.reload(), own ? loadFirms() : undefined]);
      }} />}
      <Confirm open={removing !== undefined} title={t(removing?.miembroId === me ? "member.leave" : "member.remove")} action={t(removing?.miembroId === me ? "member.leave" : "member.remove")} danger
        onClose={() => setRemoving(undefined)} onConfirm={() => removing && remove(removing)}>
        {t("member.removeText", { name: removing?.nombre ?? "" })}
      </Confirm>
    </div>
  );
}

function Role({ role, driver }: { role: Role; driver: string | undefined }) {
  const tone = tones[role];
  return <span class="row fixed"><Badge {...(tone ? { tone } : {})}>{t(`role.${role}`)}</Badge>{driver && <span class="muted small">{driver}</span>}</span>;
}

/** A role and, for drivers, the driver record. */
function RoleFields({ role, driver, drivers, onInput, problem }: { role: Role; driver: string; drivers: readonly Driver[]; onInput: (role: Role, driver: string) => void; problem: Problem | undefined }) {
  return (
    <>
      <Select label={t("member.role")} name="rol" hint={t(`role.${role}.may`)} value={role} onInput={(r) => onInput(r, r === "conductor" ? driver : "")} choices={roles.map((r) => ({ value: r, label: t(`role.${r}`) }))} />
      {role === "conductor" && (
        <Select label={t("member.driver")} name="conductorId" value={driver} empty={t("member.driverChoose")} onInput={(d) => onInput(role, d)} error={problem?.field("conductorId")}
          choices={[...drivers].sort((a, b) => format.compare(a.nombre, b.nombre)).map((d) => ({ value: d.conductorId, label: d.nombre }))} />
      )}
    </>
  );
}

function Change({ member, drivers, onClose, onDone }: { member: Member; drivers: readonly Driver[]; onClose: () => void; onDone: () => Promise<void> }) {
  const [role, setRole] = useState(member.rol);
  const [driver, setDriver] = useState(member.conductorId ?? "");
  const [problem, setProblem] = useState<Problem | undefined>();
  const send = async () => {
    try {
      await ask(api.PUT("/miembros/{id}", { params: { path: { id: member.miembroId } }, body: { rol: role, ...(driver ? { conductorId: driver } : {}) } }));
      toast("success", t("member.changed", { name: member.nombre, role: t(`role.${role}`) }));
      await onDone();
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Dialog open title={t("member.change")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="role">{t("save")}</Button></>}>
      <Form id="role" class="stack" onSubmit={send}>
        <p class="row fixed"><Avatar name={member.nombre} /><b>{member.nombre}</b></p>
        <RoleFields role={role} driver={driver} drivers={drivers} problem={problem} onInput={(r, d) => { setRole(r); setDriver(d); }} />
      </Form>
    </Dialog>
  );
}

/** Invites a person; the invitation link is shown once. */
function Invite({ drivers, onClose }: { drivers: readonly Driver[]; onClose: () => void }) {
  const [nombre, setName] = useState("");
  const [role, setRole] = useState<Role>("despachador");
  const [driver, setDriver] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  const [made, setMade] = useState<Schemas["InvitacionHecha"] | undefined>();
  const send = async () => {
    try {
      setMade(await ask(api.POST("/invitaciones", { body: { nombre: nombre.trim(), rol: role, ...(driver ? { conductorId: driver } : {}) } })));
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  const choose = (r: Role, d: string) => {
    setRole(r);
    setDriver(d);
    const found = drivers.find((o) => o.conductorId === d);
    if (found && nombre.trim() === "") setName(found.nombre);
  };
  if (made) {
    const address = new URL(link("/join", { company: made.empresaId, code: made.codigo }), location.href.replace(/#.*$/, "")).href;
    return (
      <Dialog open title={t("invited.title", { name: made.nombre })} onClose={onClose} actions={<Button kind="primary" onPress={onClose}>{t("done")}</Button>}>
        <div class="stack">
          <p>{t("invited.text", { day: format.day(made.expiresAt) })}</p>
          <div class="row fixed invite-address"><code class="grow">{address}</code><CopyButton text={address} /></div>
          <Notice tone="warning">{t("invited.once")}</Notice>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog open title={t("invite")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" icon={MailPlus} type="submit" form="invite">{t("invite.make")}</Button></>}>
      <Form id="invite" class="stack" onSubmit={send}>
        <TextField label={t("driver.name")} name="nombre" value={nombre} onInput={setName} maxLength={100} error={problem?.field("nombre")} autofocus />
        <RoleFields role={role} driver={driver} drivers={drivers} problem={problem} onInput={choose} />
      </Form>
    </Dialog>
  );
}

/** The view of an invitation link. */
export function Join() {
  const company = here.value.query.get("company") ?? "";
  const code = here.value.query.get("code") ?? "";
  useTitle(t("join.title"));
  const accept = async () => {
    try {
      const m = await ask(api.PUT("/empresas/{userId}/miembros/yo", { params: { path: { userId: company } }, body: { codigo: code } }));
      const known = (await loadFirms().catch(() => [])).find((f) => f.empresaId === company);
      add(known ?? { empresaId: company, nombre: t("join.company"), timezone: "", rol: m.rol, ...(m.conductorId ? { conductorId: m.conductorId } : {}) });
      toast("success", t("join.done", { role: t(`role.${m.rol}`) }));
      go(link("/"), "replace");
    } catch (thrown) {
      const p = Problem.of(thrown);
      if (p.code === "aborted") return;
      toastProblem(p);
    }
  };
  if (company === "" || code === "") {
    return <Failed problem={new Problem({ status: 404, code: "invitacion_no_valida", detail: t("join.broken") })} />;
  }
  return (
    <Empty icon={UserPlus} title={t("join.title")} level={1} action={<Button kind="primary" size="large" onPress={accept}>{t("join.accept")}</Button>}>
      {firm.value ? t("join.textBeside", { name: firm.value.nombre }) : t("join.text")}
    </Empty>
  );
}
