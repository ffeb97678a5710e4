// Likes, bookmarks and comments on a post's page. The page is whole without it. The studio's log-in keeps the token, and the
// chosen theme, where this reads them (web/ui/session.ts, web/ui/theme.ts).
(() => {
  const kept = (name) => {
    try {
      return localStorage.getItem(name) ?? "";
    } catch {
      return "";
    }
  };
  const theme = kept("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;

  /** Whose token it is; undefined where there is none, or it has ended. */
  const signedIn = () => {
    const token = kept("access-token /portfolio/");
    try {
      const part = token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
      const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (c) => c.charCodeAt(0))));
      return claims.exp * 1000 > Date.now() ? { token, sub: claims.sub, groups: claims["cognito:groups"] ?? [] } : undefined;
    } catch {
      return undefined;
    }
  };

  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

  document.addEventListener("DOMContentLoaded", () => {
    const me = signedIn();
    const account = document.querySelector("[data-account]");
    if (me && account) account.textContent = account.dataset.in;
    const post = document.querySelector("[data-post]");
    if (!post) return;
    const id = post.dataset.post;
    const form = post.querySelector(".comment-form");
    if (!me) {
      post.querySelector(".comments-sign-in")?.removeAttribute("hidden");
      return;
    }

    const call = async (method, path, body, key) => {
      const headers = { Authorization: `Bearer ${me.token}`, "Accept-Language": document.documentElement.lang };
      if (body) headers["Content-Type"] = "application/json";
      if (key) headers["Idempotency-Key"] = key;
      const response = await fetch(`../${path}`, { method, headers, body: body && JSON.stringify(body) });
      const result = response.status === 204 ? undefined : await response.json().catch(() => undefined);
      if (!response.ok) throw new Error(result?.detail ?? response.statusText);
      return result;
    };

    const say = post.querySelector("[role=status]");
    const failed = (thrown) => {
      say.textContent = thrown instanceof TypeError || !thrown.message ? say.dataset.failed : thrown.message;
    };

    // Likes and bookmarks: shown at once, and taken back where the server refuses.
    const count = post.querySelector("[data-likes]");
    const toggles = [...post.querySelectorAll("[data-toggle]")];
    const show = (button, on) => {
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? button.dataset.yes : button.dataset.no;
    };
    const counted = (more) => {
      const n = Number(count.dataset.likes) + more;
      count.dataset.likes = String(n);
      count.textContent = (n === 1 ? count.dataset.singular : count.dataset.plural).replace("{n}", String(n));
    };
    for (const button of toggles) {
      const path = button.dataset.toggle === "like" ? `posts/${id}/like` : `bookmarks/${id}`;
      button.addEventListener("click", async () => {
        if (button.disabled) return;
        const on = button.getAttribute("aria-pressed") !== "true";
        const more = button.dataset.toggle !== "like" ? 0 : on ? 1 : -1;
        button.disabled = true;
        show(button, on);
        counted(more);
        try {
          await call(on ? "PUT" : "DELETE", path);
        } catch (thrown) {
          show(button, !on);
          counted(-more);
          failed(thrown);
        }
        button.disabled = false;
        button.focus();
      });
    }
    let name = me.sub;
    if (toggles.length > 0) call("GET", `posts/${id}/mine`).then((mine) => {
      name = mine.name || me.sub;
      for (const button of toggles) show(button, button.dataset.toggle === "like" ? mine.liked : mine.bookmarked);
      post.querySelector(".post-tools").hidden = false;
    }, failed);

    // Comments.
    const list = post.querySelector(".comment-list");
    const total = post.querySelector("[data-comments]");
    const moderator = me.sub === post.dataset.author || me.groups.includes("portfolio-admin");
    const removable = (item, kind, method, path) => {
      const button = document.querySelector(`#${kind}`).content.firstElementChild.cloneNode(true);
      button.addEventListener("click", async () => {
        if (button.dataset.ask && !confirm(button.dataset.ask)) return;
        button.disabled = true;
        try {
          await call(method, `posts/${id}/comments/${item.dataset.comment}${path}`);
          const near = item.nextElementSibling ?? item.previousElementSibling;
          item.remove();
          (near?.querySelector("button") ?? document.getElementById("comments-title")).focus(); // the button that had it is gone
          if (total) total.textContent = String(Number(total.textContent) - 1);
        } catch (thrown) {
          button.disabled = false;
          failed(thrown);
        }
      });
      item.querySelector(".post-meta").append(button);
    };
    // Who has made a comment deletes it; its moderators can hide it, too.
    const moderated = (item) => {
      if (moderator) removable(item, "hide", "PUT", "/hidden");
      if (moderator || item.dataset.user === me.sub) removable(item, "delete", "DELETE", "");
    };
    for (const item of list.children) moderated(item);
    if (!form) return;
    form.hidden = false;
    let key = newKey();
    form.addEventListener("input", () => { key = newKey(); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const field = form.elements.namedItem("body");
      const button = form.querySelector("[type=submit]");
      button.disabled = true;
      say.textContent = "";
      try {
        const made = await call("POST", `posts/${id}/comments`, { body: field.value }, key);
        const item = document.querySelector("#comment").content.firstElementChild.cloneNode(true);
        item.dataset.comment = made.commentId;
        item.dataset.user = made.userId;
        item.querySelector("b").textContent = name;
        item.querySelector("time").textContent = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long" }).format(new Date(made.createdAt));
        item.querySelector(".comment-body").textContent = made.body;
        list.prepend(item);
        total.textContent = String(Number(total.textContent) + 1);
        moderated(item);
        post.querySelector(".comments-none")?.remove();
        form.reset();
        key = newKey();
        say.textContent = form.dataset.sent;
      } catch (thrown) {
        failed(thrown);
      }
      button.disabled = false;
    });
  });
})();
