import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { StewardError } from "../contract/errors.ts";
import { CHATS } from "../contract/workspace.ts";
import { table } from "../shared/table.ts";
import { always, argument, EVERYWHERE, operation } from "./operation.ts";

const LARGEST = 48 * 1024;
const MAX_FILES = 500;

const file = () => argument(z.string(), "path in the workspace");

/** `steward workspace`. Shows and edits the assistant's files, and shows their previous versions. */
export const workspace = {
  list: operation({
    name: "workspace list",
    summary: `lists up to ${MAX_FILES} shared files, and the chats; or the files of one chat`,
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        root: argument(
          z._default(z.string(), "."),
          "chats/<chat>, as the list shows it, or . for the shared files",
        ),
        after: argument(z.optional(z.string()), "continue the list after this file"),
      }),
    output: () =>
      z.object({
        files: z.array(z.object({ name: z.string(), size: z.int(), changedAt: z.iso.datetime() })),
        next: z.optional(z.string()),
        chats: z.optional(z.array(z.object({ root: z.string(), entries: z.int(), bytes: z.int() }))),
      }),
    async run(tools, { root: folder, after }) {
      const workspace = await tools.workspace();
      const { root, name } = workspace.find(folder);
      if (name !== "") throw refusal(`Only the whole workspace or one chat can be listed: ${CHATS}/<chat>.`);
      const isShared = root.id === "shared";
      const { files, isCut } = root.files({
        most: MAX_FILES,
        ...(after !== undefined && { after: workspace.find(after).name }),
      });
      const prefix = isShared ? "" : `${root.id}/`;
      const rows = files.map(({ name, size, changedAt }) => ({ name: `${prefix}${name}`, size, changedAt }));
      const next = isCut ? rows.at(-1)?.name : undefined;
      const chats = isShared ? workspace.chats() : [];
      return { files: rows, ...(next !== undefined && { next }), ...(chats.length > 0 && { chats }) };
    },
    text({ files, next, chats = [] }, { root }) {
      const cells = files.map(({ name, size, changedAt }) => [name, String(size), changedAt]);
      const parts = [files.length === 0 ? "No files." : table(["File", "Bytes", "Changed"], cells)];
      if (next !== undefined) parts.push(`There are more files: list ${root} "${next}"`);
      const roots = chats.map(({ root, entries, bytes }) => [root, String(entries), String(bytes)]);
      if (chats.length > 0) parts.push(table(["Chat", "Files and folders", "Bytes"], roots));
      return parts.join("\n\n");
    },
  }),
  show: operation({
    name: "workspace show",
    summary: "prints a file, or an earlier version of it",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        file: file(),
        version: argument(z.optional(z.string()), "id of a version, as --json lists it"),
      }),
    output: () =>
      z.object({
        text: z.string(),
        /** Digest of the current file. */
        expected: z.string(),
        /** Digest of the text before secrets are masked. */
        sha256: z.string(),
        versions: z.array(
          z.object({ id: z.string(), at: z.iso.datetime(), by: z.optional(z.enum(["operator", "agent"])) }),
        ),
      }),
    async run(tools, { file, version }) {
      const { root, name } = (await tools.workspace()).find(file);
      const present = root.read(name);
      const text = version === undefined ? present : root.readVersion(name, version);
      const versions = root.versions(name);
      // A removed file has versions but no text, and can be restored.
      if (text === undefined && (version !== undefined || versions.length === 0))
        throw new StewardError("workspace_file_unknown");
      refuseLong(text ?? "");
      return {
        name: file,
        text: text ?? "",
        expected: present === undefined ? "none" : await sha256Hex(present),
        sha256: await sha256Hex(text ?? ""),
        versions: versions.map(({ id, by }) => ({ id, at: new Date(Number(id)).toISOString(), by })),
      };
    },
    text: ({ text }) => text,
    verbatim: true,
  }),
  write: operation({
    name: "workspace write",
    summary: "replaces a file if it has not changed; the previous text becomes a version",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        file: file(),
        expected: argument(z.string(), "SHA-256 of the file to replace, or none"),
        text: argument(z.string(), "the new text, after --"),
      }),
    changes: always,
    async run(tools, { file, expected, text }) {
      refuseLong(text);
      if (text.includes("\0")) throw refusal("The text contains a NUL character.");
      const { root, name } = (await tools.workspace()).find(file);
      root.write(name, text, { by: "operator", expected });
      return { name: file, expected: await sha256Hex(text) };
    },
    text: ({ name }) => `Wrote ${name}.`,
  }),
  remove: operation({
    name: "workspace remove",
    summary: "removes a file; its text becomes a version",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        file: file(),
        expected: argument(z.string(), "SHA-256 of the file to remove"),
      }),
    changes: always,
    async run(tools, { file, expected }) {
      const { root, name } = (await tools.workspace()).find(file);
      root.remove(name, { by: "operator", expected });
      return { removed: file };
    },
    text: ({ removed }) => `Removed ${removed}.`,
  }),
};

function refuseLong(text: string): void {
  if (new TextEncoder().encode(text).length > LARGEST)
    throw refusal(`A file larger than ${LARGEST / 1024} KiB cannot be shown or edited here.`);
}

function refusal(detail: string): StewardError {
  return new StewardError("workspace_refused", detail);
}
