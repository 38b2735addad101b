import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import { ToolError } from "../agent/tools/tool.ts";
import { Workspace } from "../agent/workspace.ts";
import { readConfigFile } from "./config-file.ts";
import type { CommandContext, JsonOption } from "./context.ts";

const LARGEST = 48 * 1024;
const MOST_FILES = 500;
/** Versions that are kept of each file. */
const VERSIONS = 20;
/** Folder of the former versions, in the workspace: so they are part of every backup. */
const HISTORY = ".history";
const VERSION = /^\d{13}$/;
const NO_FILE = "none";
/** Limits where the config is not valid: the gateway is down, and its files are edited all the same. */
const QUOTA = { workspaceMiB: 256, groupMiB: 16 };

/** `steward workspace list|show|write|remove`: the files that the assistant reads, with the versions before each change. */
export function addWorkspaceCommands(program: Command, context: CommandContext): void {
  const command = program.command("workspace").description("the files that the assistant reads");
  const answer = (
    json: boolean | undefined,
    act: (files: WorkspaceFiles) => { value: unknown; text: string },
  ) => {
    const { value, text } = refusing(() => act(new WorkspaceFiles(context)));
    context.output.answer(json, value, text);
  };
  command
    .command("list")
    .description("lists the files")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) =>
      answer(json, (files) => {
        const rows = files.list();
        const cells = rows.map(({ name, size, changedAt }) => [name, String(size), changedAt]);
        const text = rows.length === 0 ? "No files." : table(["File", "Bytes", "Changed"], cells);
        return { value: { files: rows }, text };
      }),
    );
  command
    .command("show")
    .description("prints a file, or a former version of it")
    .argument("<file>", "path in the workspace")
    .argument("[version]", "as --json lists them")
    .option("--json", "as JSON, with its sha256 and the versions")
    .action((file: string, version: string | undefined, { json }: JsonOption) =>
      answer(json, (files) => {
        const value = files.show(file, version);
        return { value, text: value.text };
      }),
    );
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

/** A file as a list shows it. */
interface ListedFile {
  name: string;
  size: number;
  /** ISO 8601 */
  changedAt: string;
}

/** The workspace's files for the operator. */
class WorkspaceFiles {
  readonly #workspace: Workspace;
  readonly #clock: () => number;

  constructor({ settings, environment, clock }: CommandContext) {
    const { result } = readConfigFile(settings.configPath, environment);
    const quota = result.ok ? result.config.agent.limits : QUOTA;
    this.#workspace = new Workspace(join(settings.home, "workspace"), quota);
    this.#clock = clock;
  }

  list(): ListedFile[] {
    const root = this.#workspace.locate("");
    const files: ListedFile[] = [];
    const walk = (folder: string): void => {
      for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
        const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (name === HISTORY || files.length >= MOST_FILES) continue;
        if (entry.isDirectory()) walk(name);
        if (!entry.isFile()) continue;
        const { size, mtimeMs } = statSync(join(root, name));
        files.push({ name, size, changedAt: new Date(mtimeMs).toISOString() });
      }
    };
    walk("");
    return files.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
  }

  show(name: string, version?: string) {
    const present = this.#read(name);
    const text = version === undefined ? present : this.#version(name, version);
    const versions = this.#versions(name);
    if (text === undefined) {
      // A file that was removed can be had back: it has versions, and no text.
      if (version !== undefined || versions.length === 0) throw new StewardError("workspace_file_unknown");
    }
    if (Buffer.byteLength(text ?? "") > LARGEST) throw tooLong();
    return {
      name,
      text: text ?? "",
      /** Of the file that is there now. */
      expected: digest(present),
      /** Of the text above: a text that was masked on the way has another. */
      sha256: digest(text ?? ""),
      versions: versions.map((id) => ({ id, at: new Date(Number(id)).toISOString() })),
    };
  }

  write(name: string, expected: string, text: string) {
    if (Buffer.byteLength(text) > LARGEST) throw tooLong();
    this.#locateFile(name);
    this.#keep(name, expected);
    this.#workspace.write(name, text);
    return { name, expected: digest(text) };
  }

  remove(name: string, expected: string) {
    if (this.#read(name) === undefined) throw new StewardError("workspace_file_unknown");
    this.#keep(name, expected);
    rmSync(this.#workspace.locate(name));
    return { removed: name };
  }

  /** @throws ToolError for a path that is no file's, or one of the history's. */
  #locateFile(name: string): void {
    const segments = name.split("/");
    if (segments.some((part) => part === "" || part === "." || part === HISTORY))
      throw new ToolError("The path must name a file of the workspace.");
    this.#workspace.locate(name);
  }

  #read(name: string): string | undefined {
    this.#locateFile(name);
    return this.#workspace.read(name);
  }

  /** Keeps the file that is there as a version. @throws StewardError `workspace_changed` if its digest is not the expected one. */
  #keep(name: string, expected: string): void {
    const text = this.#read(name);
    if (digest(text) !== expected) throw new StewardError("workspace_changed");
    if (text === undefined) return;
    const folder = this.#workspace.locate(historyOf(name));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const last = Number(this.#versions(name)[0] ?? 0);
    writeFileSync(join(folder, String(Math.max(this.#clock(), last + 1))), text, { mode: 0o600 });
    for (const old of this.#versions(name).slice(VERSIONS)) rmSync(join(folder, old), { force: true });
  }

  /** Newest first. */
  #versions(name: string): string[] {
    try {
      const names = readdirSync(this.#workspace.locate(historyOf(name)));
      return names.filter((one) => VERSION.test(one)).toSorted((a, b) => b.localeCompare(a, "en"));
    } catch {
      return [];
    }
  }

  #version(name: string, version: string): string | undefined {
    if (!VERSION.test(version)) throw new StewardError("workspace_file_unknown");
    return this.#workspace.read(`${historyOf(name)}/${version}`);
  }
}

function historyOf(name: string): string {
  return `${HISTORY}/${encodeURIComponent(name)}`;
}

function digest(text: string | undefined): string {
  return text === undefined ? NO_FILE : createHash("sha256").update(text).digest("hex");
}

function tooLong(): StewardError {
  return new StewardError(
    "workspace_refused",
    `A file of more than ${LARGEST / 1024} KiB is not edited here.`,
  );
}

/** The workspace tells in words for the model why it refuses; here they are an operator's. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ToolError)
      throw new StewardError("workspace_refused", error.message, { cause: error });
    throw error;
  }
}
