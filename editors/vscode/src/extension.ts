import { commands, type ExtensionContext, workspace } from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const command = workspace.getConfiguration("monotable").get<string>("path", "monotable");
  client = new LanguageClient(
    "monotable",
    "monotable designs",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    { documentSelector: [{ language: "monotable-design" }, { pattern: "**/*.design.yaml" }] },
  );
  context.subscriptions.push(commands.registerCommand("monotable.restart", () => client?.restart()));
  await client.start();
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
