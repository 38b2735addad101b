import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DiskStore } from "../../runtime/backups/stores/disk.ts";
import { addSchedule } from "../../runtime/gateway/schedules/port.ts";
import { openStores, type Stores } from "../../runtime/gateway/stores.ts";
import { ChatData } from "../../runtime/host/tenants/chat-data.ts";
import { ChatBackupDirectory } from "../../runtime/host/tenants/chat-backup-directory.ts";
import { runtimeProgramFile } from "../../runtime/process/programs.ts";
import type { ProcessUser } from "../../runtime/supervisor/child.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
let count = 0;

export async function inHome(home: string, work: (stores: Stores) => unknown): Promise<void> {
  const stores = openStores({ home, clock: Date.now, log });
  await work(stores);
  stores.database.close();
}

export function say({ sessions, records }: Stores, session: string, text: string): void {
  const [delivery, at] = [`Ev${(count += 1)}`, Date.now() + count];
  sessions.ask({ session, messages: [{ delivery, sender: { id: "U1" }, text }], group: false, at });
  sessions.keepAnswer(session, [delivery], `re ${text}`, at);
  records.answer("slack", [delivery], at);
}

export async function write(home: string, name: string, text: string): Promise<void> {
  await mkdir(path.join(home, name, ".."), { recursive: true });
  await writeFile(path.join(home, name), text);
}

export function texts(home: string, session: string): unknown[] {
  const database = new DatabaseSync(path.join(home, "state.db"));
  try {
    const query = "SELECT text FROM messages WHERE conversation = ? ORDER BY seq";
    return database
      .prepare(query)
      .all(session)
      .map(({ text }) => text);
  } finally {
    database.close();
  }
}

/** Creates the data directory of a gateway that served the chats C1 and C2. */
export async function servedAll() {
  const home = await temporaryDirectory();
  await inHome(home, async (stores) => {
    for (const chat of ["C1", "C2"]) {
      say(stores, `slack:${chat}`, `hello ${chat}`);
      const plan = { enabled: true, every: "1h", to: { platform: "slack", chat }, text: `plan ${chat}` };
      await addSchedule(stores.schedules, "chat", plan as Parameters<typeof addSchedule>[2], Date.now());
    }
  });
  await write(home, "workspace/HOUSE.md", "rules");
  for (const chat of ["C1", "C2"])
    await write(home, `workspace-chats/slack-${chat}/plan.md`, `file of ${chat}`);
  const folder = (tenant: string): string => path.join(home, "tenants", tenant);
  const user: ProcessUser = {
    id: process.getuid?.() ?? 0,
    as: (command) => ({ command, options: {} }),
    kill: () => {},
  };
  const open = async (backupDirectory?: string): Promise<DiskStore> =>
    new DiskStore({
      home,
      backupDirectory,
      supervisor: { hold: async () => {}, release() {}, stop: async () => {} },
      editConfig: () => Promise.reject(new Error("no editor")),
      environment: {},
      redact: (text) => text,
      clock: Date.now,
      log,
    });
  const backupDirectory = new ChatBackupDirectory(home);
  /** `program` is the command that copies a chat's state. */
  const chatData = (
    program: readonly [string, ...string[]] = [process.execPath, runtimeProgramFile("host/chat-state/main")],
  ) =>
    new ChatData({
      backupDirectory,
      users: {
        has: (tenant) => existsSync(folder(tenant)),
        of: (tenant) => ({ home: folder(tenant), user }),
      },
      open,
      program,
      environment: { PATH: process.env["PATH"] },
      clock: Date.now,
      log,
    });
  return { home, folder, open, backupDirectory, chatData };
}
