// Starts and ends processes of chats' users while it uses its own files. Prints what it observed as JSON. Ends by
// itself, because the signal sender must not keep it running.
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { TenantUsers } from "../../../runtime/host/tenants/users.ts";
import { startChild } from "../../../runtime/supervisor/child.ts";

process.umask(0o077);
const [, , home = ""] = process.argv;
const users = TenantUsers.take(home);
const environment = { PATH: process.env["PATH"] };
const seen = { failures: new Set<string>(), owners: new Set<number>(), signals: new Set<unknown>() };
const ended = new AbortController();

async function useFiles(name: string): Promise<void> {
  const file = path.join(home, name);
  while (!ended.signal.aborted) {
    await writeFile(file, "own").catch((error: unknown) => seen.failures.add(String(error)));
    const { uid } = await stat(file).catch(() => ({ uid: -1 }));
    seen.owners.add(uid);
    await rm(file).catch((error: unknown) => seen.failures.add(String(error)));
  }
}

const uses = ["one", "two", "three"].map(useFiles);
for (let run = 0; run < 40; run += 1) {
  const { user } = users.of(`slack-C${run % 3}`);
  const child = startChild({ command: ["/bin/sleep", "1000"], environment, user });
  await sleep(5);
  child.kill("SIGTERM");
  const { signal, spawnError } = await child.exited;
  seen.signals.add(signal ?? spawnError);
}
const shown = startChild({
  command: ["/bin/cat", "/proc/self/status"],
  environment,
  user: users.of("slack-C0").user,
});
let status = "";
shown.read((_stream, text) => (status += text));
await shown.exited;
ended.abort();
await Promise.all(uses);
const own = await readFile("/proc/self/status", "utf8");
// The signal sender is still running. Only root may read its environment.
const children = (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).trim().split(" ");
const environments = children.map((pid) => `/proc/${pid}/environ`);
const { stdout: helpers } = spawnSync("/bin/cat", environments, { uid: 0, gid: 0, encoding: "utf8" });
const rights = (text: string): string[] =>
  [...text.matchAll(/^(?:Uid|Gid|Groups|CapEff|CapPrm):.*$/gm)].map(([line]) =>
    line.replace(/\s+/g, " ").trim(),
  );
process.stdout.write(
  JSON.stringify({
    failures: [...seen.failures],
    owners: [...seen.owners],
    signals: [...seen.signals],
    child: rights(status),
    own: rights(own),
    helpers: { count: children.length, environment: helpers },
  }),
);
