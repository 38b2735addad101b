// Processes one possibly hostile file from standard input. The first argument is the task. Writes a JPEG, or a
// document's text as JSON, to standard output. Fails if the file is broken.
import { buffer } from "node:stream/consumers";

const TASKS: Readonly<Record<string, (data: Uint8Array) => Promise<Uint8Array | string>>> = {
  image: async (data) => (await import("./scale.ts")).scaleDown(data),
  pdf: async (data) => JSON.stringify(await (await import("./documents.ts")).pdfText(data)),
  office: async (data) => JSON.stringify({ text: (await import("./documents.ts")).officeText(data) }),
};

const task = TASKS[process.argv[2] ?? ""];
if (task === undefined) throw new Error("There is no such task.");
process.getBuiltinModule("node:fs").writeFileSync(1, await task(await buffer(process.stdin)));
