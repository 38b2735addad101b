// Works on one file, which comes in by the standard input; what becomes of it goes out by the standard output: a JPEG, or
// JSON with the text of a document. The first argument is the task. Ends with a code other than 0 if the file is broken.
import { buffer } from "node:stream/consumers";

const TASKS: Readonly<Record<string, (data: Uint8Array) => Promise<Uint8Array | string>>> = {
  image: async (data) => (await import("./scale.ts")).scaleDown(data),
  pdf: async (data) => JSON.stringify(await (await import("./documents.ts")).pdfText(data)),
  office: async (data) => JSON.stringify({ text: (await import("./documents.ts")).officeText(data) }),
};

const task = TASKS[process.argv[2] ?? ""];
if (task === undefined) throw new Error("There is no such task.");
process.getBuiltinModule("node:fs").writeFileSync(1, await task(await buffer(process.stdin)));
