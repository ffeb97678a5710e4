// The documentation site: the pages of ../docs, in the order of the sidebar. A test compares the sidebar with the files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { sidebar } from "./sidebar.mts";

const site = dirname(dirname(fileURLToPath(import.meta.url)));
const root = resolve(site, "..");
const docs = join(root, "docs");
const repository = "https://github.com/monotable/monotable";

/** Sidebar entries for all pages of a folder, named by their first headings. */
function pages(folder: string) {
  return readdirSync(join(docs, folder)).filter((file) => file.endsWith(".md") && file !== "README.md").sort().map((file) => ({
    text: /^# (.*)$/m.exec(readFileSync(join(docs, folder, file), "utf8"))?.[1] ?? file,
    link: `/${folder}/${file.replace(/\.md$/, "")}`,
  }));
}

/** The address of a link on the site: for files outside of docs, their page in the repository. Undefined if the link needs no change. */
function address(href: string, page: string): string | undefined {
  if (/^([a-z]+:|#|\/)/i.test(href)) return undefined;
  const [path = "", fragment] = href.split("#");
  const target = resolve(dirname(page), path);
  if (!relative(docs, target).startsWith("..") && (path.endsWith(".md") || /\.(svg|png|webp)$/.test(path))) {
    return path.endsWith("README.md") ? href.replace("README.md", "index.md") : undefined;
  }
  if (!existsSync(target)) throw new Error(`${relative(root, page)} links to ${href}, which does not exist`);
  return `${repository}/blob/main/${relative(root, target)}${fragment === undefined ? "" : `#${fragment}`}`;
}

export default defineConfig({
  title: "monotable",
  description: "DynamoDB's API on your own machine, exact and durable, and a checker for single-table designs.",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { "rules/README.md": "rules/index.md", "decisions/README.md": "decisions/index.md" },
  head: [["meta", { name: "theme-color", content: "#5b4bd6" }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" }, // the usual ones are too pale on our backgrounds
    anchor: { slugify: (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-") }, // as GitHub does
    config(md) {
      // "{{ }}" in a document is a template of AWS or monotable, never of Vue.
      // Lines break between its words, not within "--json".
      const escape = md.utils.escapeHtml;
      const word = (text: string) => (text.length > 30 ? escape(text) : `<span>${escape(text)}</span>`);
      md.renderer.rules.code_inline = (tokens, i) => `<code v-pre>${tokens[i]!.content.split(" ").map(word).join(" ")}</code>`;
      // Indented blocks are commands, and look like those between fences.
      const fence = md.renderer.rules.fence!;
      md.renderer.rules.code_block = (tokens, i, ...rest) => {
        tokens[i]!.info = "sh";
        return fence(tokens, i, ...rest);
      };
      md.core.ruler.push("links-to-the-repository", (state) => {
        if (typeof state.env?.path !== "string") return; // a title
        const page = join(docs, relative(join(site, "pages"), state.env.path));
        for (const token of state.tokens.flatMap((block) => block.children ?? [])) {
          const href = token.type === "link_open" ? token.attrGet("href") : null;
          const here = href === null ? undefined : address(href, page);
          if (here !== undefined) token.attrSet("href", here);
        }
      });
    },
  },
  // The pages are a symbolic link; their imports must be resolved from here.
  vite: { resolve: { preserveSymlinks: true }, server: { fs: { allow: [root] } }, build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    nav: [
      { text: "Get started", link: "/start/", activeMatch: "/start/" },
      { text: "Design", link: "/design", activeMatch: "/(design|check|rules)" },
      { text: "Operate", link: "/operations" },
      { text: "Reference", link: "/api" },
    ],
    sidebar: sidebar({ rules: pages("rules"), decisions: pages("decisions") }),
    outline: [2, 3],
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
    footer: { message: "Apache-2.0" },
  },
});
