import type { Command } from "commander";
import { StewardError } from "../../contract/errors.ts";
import { CHATS } from "../../contract/workspace.ts";
import { table } from "../../shared/table.ts";
import { digestOf, refusal } from "../workspace/root.ts";
import { Workspace } from "../workspace/workspace.ts";
import { readConfigFile } from "./config-file.ts";
import type { CommandContext, JsonOption } from "./context.ts";

const LARGEST = 48 * 1024;
const MOST_FILES = 500;
/** Limits where the config is not valid: the gateway is down, and its files are edited all the same. */
const LIMITS = { workspaceMiB: 256, groupMiB: 16 };

/** `steward workspace list|show|write|remove`: the files that the assistant reads, with the versions before each change. */
export function addWorkspaceCommands(program: Command, context: CommandContext): void {
  const command = program.command("workspace").description("the files that the assistant reads");
  const answer = (
    json: boolean | undefined,
    act: (files: WorkspaceFiles) => { value: unknown; text: string },
  ) => {
    const { value, text } = act(new WorkspaceFiles(context));
    context.output.answer(json, value, text);
  };
  command
    .command("list")
    .description(`lists up to ${MOST_FILES} shared files, and the chats; or the files of one chat`)
    .argument("[root]", "chats/<chat>, as the list shows it, or . for the shared files", ".")
    .argument("[after]", "name that the list continues after")
    .option("--json", "as JSON")
    .action((root: string, after: string | undefined, { json }: JsonOption) =>
      answer(json, (files) => {
        const value = files.list(root, after);
        return { value, text: listText(root, value) };
      }),
    );
  command
    .command("show")
    .description("prints a file, or a former version of it")
    .argument("<file>", "path in the workspace")
    .argument("[version]", "as --json lists them")
    .option("--json", "as JSON, with its sha256 and the versions")
    .action((file: string, version: string | undefined, { json }: JsonOption) => {
      const value = new WorkspaceFiles(context).show(file, version);
      context.output.file(json, value, value.text);
    });
  command
    .command("write")
    .description("writes a file in place of the one that was read; the one before is kept as a version")
    .argument("<file>", "path in the workspace")
    .argument("<expected>", "sha256 of the file that it replaces, or none")
    .argument("<text>", "its text, behind --")
    .option("--json", "as JSON")
    .action((file: string, expected: string, text: string, { json }: JsonOption) =>
      answer(json, (files) => ({ value: files.write(file, expected, text), text: `Wrote ${file}.` })),
    );
  command
    .command("remove")
    .description("removes a file; it is kept as a version")
    .argument("<file>", "path in the workspace")
    .argument("<expected>", "sha256 of the file that it removes")
    .option("--json", "as JSON")
    .action((file: string, expected: string, { json }: JsonOption) =>
      answer(json, (files) => ({ value: files.remove(file, expected), text: `Removed ${file}.` })),
    );
}

/** The workspace's files for the operator. */
class WorkspaceFiles {
  readonly #workspace: Workspace;

  constructor({ settings, environment, clock }: CommandContext) {
    const { result } = readConfigFile(settings.configPath, environment);
    const limits = result.ok ? result.config.agent.limits : LIMITS;
    this.#workspace = new Workspace({ home: settings.home, limits, clock });
  }

  /** Lists a page of one root's files, the shared one's by default; with it the chats' roots. */
  list(folder: string, after: string | undefined) {
    const { root, name } = this.#workspace.find(folder);
    if (name !== "") throw refusal(`A list is of the whole workspace, or of one chat: ${CHATS}/<chat>.`);
    const isShared = root.id === "shared";
    const prefix = isShared ? "" : `${root.id}/`;
    const { files, isCut } = root.files({
      most: MOST_FILES,
      ...(after !== undefined && { after: this.#workspace.find(after).name }),
    });
    const rows = files.map(({ name: own, size, changedAt }) => ({
      name: `${prefix}${own}`,
      size,
      changedAt,
    }));
    const next = isCut ? rows.at(-1)?.name : undefined;
    const chats = isShared ? this.#workspace.chats() : [];
    return { files: rows, ...(next !== undefined && { next }), ...(chats.length > 0 && { chats }) };
  }

  show(file: string, version?: string) {
    const { root, name } = this.#workspace.find(file);
    const present = root.read(name);
    const text = version === undefined ? present : root.readVersion(name, version);
    const versions = root.versions(name);
    if (text === undefined) {
      // A file that was removed can be had back: it has versions, and no text.
      if (version !== undefined || versions.length === 0) throw new StewardError("workspace_file_unknown");
    }
    if (Buffer.byteLength(text ?? "") > LARGEST) throw tooLong();
    return {
      name: file,
      text: text ?? "",
      /** Of the file that is there now. */
      expected: digestOf(present),
      /** Of the text above: a text that was masked on the way has another. */
      sha256: digestOf(text ?? ""),
      versions: versions.map(({ id, by }) => ({ id, at: new Date(Number(id)).toISOString(), by })),
    };
  }

  write(file: string, expected: string, text: string) {
    if (Buffer.byteLength(text) > LARGEST) throw tooLong();
    const { root, name } = this.#workspace.find(file);
    root.write(name, text, { by: "operator", expected });
    return { name: file, expected: digestOf(text) };
  }

  remove(file: string, expected: string) {
    const { root, name } = this.#workspace.find(file);
    root.remove(name, { by: "operator", expected });
    return { removed: file };
  }
}

function listText(root: string, { files, next, chats = [] }: ReturnType<WorkspaceFiles["list"]>): string {
  const cells = files.map(({ name, size, changedAt }) => [name, String(size), changedAt]);
  const parts = [files.length === 0 ? "No files." : table(["File", "Bytes", "Changed"], cells)];
  if (next !== undefined) parts.push(`There are more files: list ${root} "${next}"`);
  const roots = chats.map(({ root, entries, bytes }) => [root, String(entries), String(bytes)]);
  if (chats.length > 0) parts.push(table(["Chat", "Files and folders", "Bytes"], roots));
  return parts.join("\n\n");
}

function tooLong(): StewardError {
  return refusal(`A file of more than ${LARGEST / 1024} KiB is not edited here.`);
}
