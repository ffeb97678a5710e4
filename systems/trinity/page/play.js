"use strict";
// The page for phones: create or join a room, vote, and see the match the moment it is made.

const $ = (id) => document.getElementById(id);
const base = new URL("..", location.href).href; // …/trinity/
const store = sessionStorage; // a tab is a person

let room = null; // the one that is shown
let films = []; // those left to vote on
let people = new Set();
let feed = null; // ends the event stream

class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || "Error " + status);
    this.status = status;
    this.code = problem.code;
  }
}

async function call(method, path, body, headers = {}) {
  const options = { method, headers: { Authorization: "Bearer " + store.getItem("token"), ...headers } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(base + path, options);
  if (answer.status === 204) return null;
  const text = await answer.text();
  let value = {};
  try { value = text ? JSON.parse(text) : {}; } catch { /* a gateway's page */ }
  if (!answer.ok) throw new Refusal(answer.status, value);
  return value;
}

// all walks a list's pages.
async function all(path) {
  const items = [];
  for (let next = ""; ;) {
    const page = await call("GET", `${path}?limit=100${next && "&cursor=" + encodeURIComponent(next)}`);
    items.push(...page.items);
    if (!page.next) return items;
    next = page.next;
  }
}

function show(part) {
  for (const id of ["enter", "home", "room"]) $(id).hidden = id !== part;
  $("fault").hidden = true;
  $("who").textContent = store.getItem("token") ? store.getItem("name") || "" : "";
}

function fail(fault) {
  if (fault.status === 401) {
    store.removeItem("token");
    show("enter");
    $("token-label").hidden = false;
  }
  $("fault").textContent = fault.message;
  $("fault").hidden = false;
}

// on runs what a person asks for, and says what went wrong.
function on(id, event, action) {
  $(id).addEventListener(event, async (e) => {
    e.preventDefault();
    $("fault").hidden = true;
    try { await action(e); } catch (fault) { fail(fault); }
  });
}

function item(text, action) {
  const li = document.createElement("li");
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => action().catch(fail));
    li.append(button);
  } else {
    li.textContent = text;
  }
  return li;
}

// Entering: a development's issuer signs for a name; elsewhere a token is pasted.

on("enter-form", "submit", async () => {
  const name = $("name").value.trim();
  let token = $("token").value.trim();
  if (!token) {
    const answer = await fetch("token", { method: "POST", body: JSON.stringify({ name }) });
    if (!answer.ok) {
      $("token-label").hidden = false;
      const problem = await answer.json().catch(() => ({}));
      throw new Error(answer.status === 400 ? problem.detail : "Tokens are not signed here: paste an access token.");
    }
    token = (await answer.json()).token;
  }
  store.setItem("name", name);
  store.setItem("token", token);
  await route();
});

// What is shown stands in the address: #room/ID, #join/CODE, or the list of rooms. So Back goes from a room to the rooms, a
// page that is opened again goes on where it was, and an address can be sent to somebody.

async function route() {
  if (!store.getItem("token")) return show("enter");
  const [what, value] = location.hash.slice(1).split("/");
  $("leaving").close();
  if (what === "room" && value) return enter(value);
  if (what === "join" && value) return join(value, (id) => history.replaceState(null, "", "#room/" + id));
  return home();
}

// go shows another part; Back comes back.
function go(hash) {
  history.pushState(null, "", hash || location.pathname);
  return route();
}

addEventListener("popstate", () => { $("fault").hidden = true; route().catch(fail); });


async function showGenres() {
  const list = (await call("GET", "genres?mediaType=" + $("media").value)).items;
  $("genres").replaceChildren(...list.map((genre) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = genre.id;
    box.addEventListener("change", boundGenres);
    label.append(box, " " + genre.name);
    return label;
  }));
  boundGenres();
}

// boundGenres offers no third genre while two are chosen, and says why.
function boundGenres() {
  const full = chosen().length >= 2;
  for (const box of document.querySelectorAll("#genres input:not(:checked)")) box.disabled = full;
  $("genres-full").textContent = full ? "That is two. To choose another, take one of them away." : "";
}

const chosen = () => [...document.querySelectorAll("#genres input:checked")].map((box) => Number(box.value));

async function home() {
  if (feed) feed.abort();
  room = feed = null;
  await showGenres();
  const rooms = await all("rooms");
  $("rooms").replaceChildren(...rooms.map((r) => item(`${r.code} · ${r.mediaType === "TV" ? "series" : "films"}${r.hasMatch ? " · match" : ""}`, () => go("#room/" + r.id))));
  show("home");
}

on("media", "change", showGenres);

// pending is the key of a request for a room that may not have been answered: sent again, it is the same request.
let pending = null;

on("create-form", "submit", async () => {
  const body = { mediaType: $("media").value, genreIds: chosen() };
  const text = JSON.stringify(body);
  if (!pending || pending.text !== text) pending = { text, key: randomKey() };
  const made = await call("POST", "rooms", body, { "Idempotency-Key": pending.key });
  pending = null;
  await go("#room/" + made.id);
});

// randomKey does without crypto.randomUUID, which phones have over https only.
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

on("join-form", "submit", async () => {
  await join($("code").value.trim(), (id) => history.pushState(null, "", "#room/" + id));
  $("code").value = "";
});

// join makes one a member of the room of a code, and shows it at an address.
async function join(code, at) {
  const joined = await call("PUT", `codes/${encodeURIComponent(code)}/member`).catch(async (fault) => {
    await home(); // the address may be of a room that is gone
    throw fault;
  });
  at(joined.id);
  await enter(joined.id);
}

// The room.

async function enter(id) {
  const [found, candidates, votes, matches] = await Promise.all([
    call("GET", `rooms/${id}`), all(`rooms/${id}/candidates`), all(`rooms/${id}/votes/mine`), all(`rooms/${id}/matches`),
  ]);
  room = found;
  people = new Set(found.members.map((m) => m.userId));
  const voted = new Set(votes.map((v) => v.movieId));
  films = candidates.filter((c) => !voted.has(c.movieId));
  $("room-code").textContent = room.code;
  showQR();
  $("matches").replaceChildren();
  $("match").hidden = true;
  shown.clear();
  for (const match of matches) remember(match);
  showPeople();
  showFilm();
  show("room");
  if (feed) feed.abort();
  feed = new AbortController();
  follow(id, feed.signal);
}

// showQR shows how a phone joins, where this process has an address for it.
function showQR() {
  $("share").hidden = true;
  $("qr").onload = () => { $("share").hidden = false; };
  $("qr").src = "qr.png?code=" + encodeURIComponent(room.code);
}

function showPeople() {
  $("people").textContent = people.size === 1 ? "only you" : people.size + " people";
}

function showFilm() {
  const film = films[0];
  $("film").hidden = !film;
  $("done").hidden = Boolean(film);
  if (!film) return;
  $("title").textContent = film.title;
  $("year").textContent = film.releaseDate.slice(0, 4);
  $("overview").textContent = film.overview;
  $("poster").hidden = !film.posterPath;
  if (film.posterPath) $("poster").src = "https://image.tmdb.org/t/p/w342" + film.posterPath;
  $("film").dataset.movie = film.movieId;
}

let voting = false;

async function vote(yes) {
  if (voting || !films.length) return;
  voting = true;
  try {
    const film = films[0];
    const answer = await call("PUT", `rooms/${room.id}/votes/${film.movieId}`, { vote: yes }).catch((fault) => {
      if (fault.code !== "vote_is_final") throw fault;
      films.shift(); // voted on elsewhere
      showFilm();
      throw fault;
    });
    films.shift();
    showFilm();
    if (answer.match) celebrate(answer.match);
  } finally {
    voting = false;
  }
}

on("yes", "click", () => vote(true));
on("no", "click", () => vote(false));

const shown = new Set(); // matches by film

function remember(match) {
  if (shown.has(match.movieId)) return false;
  shown.add(match.movieId);
  $("matches").append(item(match.title));
  return true;
}

function celebrate(match) {
  if (!remember(match)) return;
  $("match-title").textContent = match.title;
  $("match").hidden = false;
  if (navigator.vibrate) navigator.vibrate(200);
}

on("match-close", "click", () => { $("match").hidden = true; });
on("back", "click", () => go(""));
on("leave", "click", () => { $("leaving").returnValue = ""; $("leaving").showModal(); });
on("leaving", "close", async () => {
  if ($("leaving").returnValue !== "leave" || !room) return;
  const id = room.id;
  feed.abort();
  await call("DELETE", `rooms/${id}/member`);
  history.replaceState(null, "", location.pathname);
  await route();
});

// follow reads the room's events until it is aborted. EventSource cannot send a token, so the stream is read with fetch.
async function follow(id, signal) {
  let last = "";
  let rest = 1000;
  while (!signal.aborted) {
    try {
      const headers = { Authorization: "Bearer " + store.getItem("token"), Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const answer = await fetch(`${base}rooms/${id}/events`, { headers, signal, cache: "no-store" });
      if (answer.status === 401 || answer.status === 403 || answer.status === 404) {
        const problem = await answer.json().catch(() => ({}));
        fail(new Refusal(answer.status, problem));
        return;
      }
      if (answer.ok) {
        for await (const event of events(answer.body)) {
          if (event.id) last = event.id;
          if (event.retry) rest = event.retry;
          await happened(event, id);
        }
      }
    } catch (fault) {
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    $("state").textContent = "connecting…";
    await new Promise((resolve) => setTimeout(resolve, rest));
  }
}

// events parses a stream of server-sent events.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = { name: "message", data: "", id: "", retry: 0 };
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        const value = line.slice(colon + 1).replace(/^ /, "");
        switch (line.slice(0, colon)) {
          case "event": event.name = value; break;
          case "data": event.data += value; break;
          case "id": event.id = value; break;
          case "retry": event.retry = Number(value); break;
        }
      }
      text = text.slice(end + 2);
      if (event.data) yield event;
    }
  }
}

async function happened(event, id) {
  if (!room || room.id !== id) return;
  const data = JSON.parse(event.data);
  switch (event.name) {
    case "ready": {
      // Who came and went while nobody listened is not told again. What is told from now on waits for this answer.
      const found = await call("GET", `rooms/${id}`);
      if (!room || room.id !== id) return; // another was opened meanwhile
      people = new Set(found.members.map((m) => m.userId));
      showPeople();
      $("state").textContent = "live";
      break;
    }
    case "match": celebrate(data); break;
    case "joined": people.add(data.userId); showPeople(); break;
    case "left": people.delete(data.userId); showPeople(); break;
  }
}

route().catch(fail);
