// Copies or replaces the state in STEWARD_HOME as its owner, because the main process cannot read a chat's folder.
// `send <id>` writes a backup to standard output, `receive` reads one from standard input. An error is a line of JSON
// on standard error.
import { createReadStream, createWriteStream, writeSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { DiskStore } from "../../backups/stores/disk.ts";
import { type Reason, reason, StewardError } from "../../contract/errors.ts";
import { readCopy, writeCopy } from "./stream.ts";

const [STDIN, STDOUT, STDERR] = [0, 1, 2];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

process.umask(0o077);
try {
  const [, , task, id = ""] = process.argv;
  const store = new DiskStore({
    home: process.env["STEWARD_HOME"] ?? "",
    // Supervise nothing: the main process starts no gateway while this program runs.
    supervisor: { hold: async () => {}, release() {}, stop: async () => {} },
    editConfig: () => Promise.reject(new StewardError("command_not_allowed")),
    environment: process.env,
    redact: (text) => text,
    clock: Date.now,
    log: silent,
  });
  if (task === "receive") {
    const archive = await readCopy(createReadStream("", { fd: STDIN }));
    await store.receive(archive, { config: "current", start: false });
    await store.finishMarked();
  } else {
    // An interrupted attempt may have left a backup with this id.
    await store.remove(id).catch(() => undefined);
    await store.write({ id });
    await pipeline(writeCopy(await store.read({ id })), createWriteStream("", { fd: STDOUT }));
    await store.remove(id);
  }
} catch (error) {
  const why: Reason = error instanceof StewardError ? error.reason : reason("backup_failed", String(error));
  writeSync(STDERR, `${JSON.stringify(why)}\n`);
  process.exitCode = 1;
}
