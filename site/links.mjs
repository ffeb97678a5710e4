// Checks that every link within the built site leads to an existing page and heading. VitePress only checks pages.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "dist");
const pages = readdirSync(dist, { recursive: true }).map(String).filter((file) => file.endsWith(".html"));
const ids = new Map(pages.map((page) => [page, new Set([...readFileSync(join(dist, page), "utf8").matchAll(/ id="([^"]+)"/g)].map((m) => m[1]))]));

/** The file served at an address of the site; undefined if there is none. */
function file(address) {
  const path = normalize(address).replace(/^\//, "");
  const found = [path, `${path}.html`, join(path, "index.html")].find((name) => existsSync(join(dist, name)) && statSync(join(dist, name)).isFile());
  return found;
}

let wrong = 0;
for (const page of pages) {
  for (const [, href] of readFileSync(join(dist, page), "utf8").matchAll(/<a[^>]* href="([^"]*)"/g)) {
    if (/^[a-z]+:/i.test(href)) continue;
    const [path, fragment] = href.split("#");
    const target = path === "" ? page : file(path.startsWith("/") ? path : join("/", dirname(page), path));
    const heading = fragment === undefined ? "" : decodeURIComponent(fragment);
    if (target === undefined || (heading !== "" && ids.get(target)?.has(heading) === false)) {
      console.error(`${page} links to ${href}, which does not exist`);
      wrong++;
    }
  }
}
console.log(`${pages.length} pages, ${wrong} broken links`);
process.exit(wrong === 0 ? 0 : 1);
