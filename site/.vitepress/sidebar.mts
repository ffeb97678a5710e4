import type { DefaultTheme } from "vitepress";

type Items = DefaultTheme.SidebarItem[];

/** The order of the pages. Rules and decisions are collapsed and listed from their files. */
export const sidebar = (lists: { rules: Items; decisions: Items }): Items => [
  {
    text: "Get started",
    items: [
      { text: "Install and run", link: "/start/" },
      { text: "AWS CLI", link: "/start/cli" },
      { text: "Go", link: "/start/go" },
      { text: "JavaScript", link: "/start/javascript" },
      { text: "Python", link: "/start/python" },
      { text: "Docker", link: "/start/docker" },
      { text: "Replacing DynamoDB Local", link: "/dynamodb-local" },
      { text: "Test helpers", link: "/test-helpers" },
      { text: "Moving to monotable", link: "/moving-in" },
      { text: "Infrastructure tools", link: "/infrastructure" },
    ],
  },
  {
    text: "Design",
    items: [
      { text: "From an empty file to code", link: "/design" },
      { text: "The design language", link: "/design-language" },
      { text: "Check", link: "/check" },
      { text: "Rules", link: "/rules/", collapsed: true, items: lists.rules },
      { text: "Test", link: "/test" },
      { text: "Races", link: "/races" },
      { text: "Generate: Go", link: "/generate" },
      { text: "Generate: TypeScript", link: "/typescript" },
      { text: "Generate: Python", link: "/python" },
      { text: "Personal data", link: "/personal-data" },
      { text: "Provision", link: "/provision" },
      { text: "Compare two designs", link: "/diff" },
      { text: "Migrate", link: "/migrations" },
      { text: "Compare with a real table", link: "/conform" },
      { text: "Import a model", link: "/importing-designs" },
      { text: "Document a design", link: "/docs" },
      { text: "Editors", link: "/editors" },
      { text: "Language models", link: "/mcp" },
    ],
  },
  {
    text: "Operate",
    items: [
      { text: "Operations", link: "/operations" },
      { text: "The console", link: "/console" },
      { text: "Security", link: "/security" },
      { text: "Audit", link: "/audit" },
      { text: "Metrics", link: "/metrics" },
      { text: "Backups", link: "/backups" },
      { text: "Exports and imports", link: "/export-import" },
      { text: "Streams", link: "/streams" },
      { text: "Consumers", link: "/consumers" },
      { text: "Several servers", link: "/cluster" },
      { text: "PostgreSQL", link: "/postgresql" },
      { text: "TiKV", link: "/tikv" },
      { text: "How far it scales", link: "/scale" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "API operations", link: "/api" },
      { text: "Compatibility", link: "/compatibility" },
      { text: "Compatibility in detail", link: "/compatibility-details" },
      { text: "Performance", link: "/performance" },
      { text: "Versions", link: "/versioning" },
      { text: "Releasing", link: "/releasing" },
      { text: "How it compares", link: "/comparison" },
      { text: "How it works", link: "/how-it-works" },
      { text: "Decisions", link: "/decisions/", collapsed: true, items: lists.decisions },
    ],
  },
];
