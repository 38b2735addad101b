import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync } from "node:zlib";
import { pack, type Header } from "tar-stream";
import { beforeEach, expect, test } from "vitest";
import type { GenerationManifest } from "../../runtime/contract/backup.ts";
import { container } from "../runtime/support/container.ts";
import { ask } from "../runtime/support/gateway.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";

interface File extends Partial<Header> {
  name: string;
  content?: string | Buffer;
}

const NOTE: File = { name: "workspace/MEMORY.md", content: "likes tea" };
const NOTHING = { files: 1, sessions: 0, messages: 0, schedules: 0, approvals: 0 };

/** An archive of files, and the manifest that belongs to it. */
async function archive(files: File[], counts: Partial<GenerationManifest["counts"]> = {}) {
  const tar = pack();
  for (const { content = "", ...header } of files) tar.entry({ type: "file", ...header }, content);
  tar.finalize();
  return described(zstdCompressSync(await buffer(tar)), counts);
}

function described(body: Buffer, counts: Partial<GenerationManifest["counts"]> = {}) {
  const manifest: GenerationManifest = {
    version: 1,
    id: "00000001-00000001",
    createdAt: "2026-11-21T12:00:00.000Z",
    sha256: createHash("sha256").update(body).digest("hex"),
    size: body.length,
    configSha256: null,
    configValid: false,
    counts: { ...NOTHING, ...counts },
    agentVersion: "0.1.0",
  };
  return { body, manifest };
}

/** A database's file with what a statement makes. */
async function database(statement: string): Promise<Buffer> {
  const path = join(await temporaryDirectory(), "state.db");
  const made = new DatabaseSync(path);
  made.exec(statement);
  made.close();
  return readFileSync(path);
}

let around: Awaited<ReturnType<typeof container>>;
beforeEach(async () => {
  around = await container({ STEWARD_AWAIT_RESTORE: "true" });
  around.start();
  await around.state("starting");
});

async function restore({ body, manifest }: { body: Buffer; manifest: object }) {
  const response = await ask(`${around.control}/restore?config=generation&start=false`, {
    method: "POST",
    body: new Uint8Array(body),
    headers: { "steward-manifest": JSON.stringify(manifest) },
  });
  return { status: response.status, answer: (await response.json()) as { code?: string; detail?: string } };
}

test("what is not what its manifest says, or does not belong into an archive, is refused and changes nothing", async () => {
  const whole = await archive([NOTE]);
  const broken = await database("CREATE TABLE messages (text TEXT); INSERT INTO messages VALUES ('a')");
  broken.fill(0xff, 4_096, 8_192);
  const flipped = Buffer.from(whole.body);
  flipped[20] = (flipped[20] ?? 0) ^ 1;
  const cases: Record<string, { body: Buffer; manifest: object }> = {
    "another sha256": { body: whole.body, manifest: { ...whole.manifest, sha256: "0".repeat(64) } },
    "a flipped bit": { body: flipped, manifest: whole.manifest },
    "a shorter one": { body: whole.body.subarray(0, -9), manifest: whole.manifest },
    "nothing at all": { body: Buffer.alloc(0), manifest: whole.manifest },
    "a longer one": { body: Buffer.concat([whole.body, whole.body]), manifest: whole.manifest },
    "a cut frame with a manifest of its own": described(whole.body.subarray(0, -9)),
    "no zstd": described(Buffer.from("no archive at all")),
    "no tar": described(zstdCompressSync(Buffer.alloc(4_096, 7))),
    "a cut tar": described(zstdCompressSync(Buffer.from("x".repeat(100)))),
    "a symbolic link": await archive([NOTE, { name: "workspace/link", type: "symlink", linkname: "/etc" }]),
    "a hard link": await archive([NOTE, { name: "workspace/b", type: "link", linkname: "steward.json" }]),
    "a file through a link": await archive(
      [
        { name: "workspace/link", type: "symlink", linkname: "/tmp" },
        { ...NOTE, name: "workspace/link/MEMORY.md" },
      ],
      { files: 2 },
    ),
    "a device": await archive([NOTE, { name: "workspace/null", type: "character-device", devmajor: 1 }]),
    "a disk": await archive([NOTE, { name: "workspace/disk", type: "block-device", devmajor: 8 }]),
    "a pipe": await archive([NOTE, { name: "workspace/fifo", type: "fifo" }]),
    "an absolute path": await archive([{ ...NOTE, name: "/workspace/MEMORY.md" }]),
    "a way out": await archive([{ ...NOTE, name: "workspace/../../MEMORY.md" }]),
    "a way out at once": await archive([{ ...NOTE, name: "../workspace/MEMORY.md" }]),
    "a way out in a long name": await archive([
      { ...NOTE, name: `workspace/${"x/".repeat(100)}../MEMORY.md` },
    ]),
    "a way out in a header of its own": await archive([{ ...NOTE, pax: { path: "../../MEMORY.md" } }]),
    "an absolute path in a header of its own": await archive([{ ...NOTE, pax: { path: "/tmp/MEMORY.md" } }]),
    "a dot on the way": await archive([{ ...NOTE, name: "workspace/./MEMORY.md" }]),
    "a dot at once": await archive([{ ...NOTE, name: "./workspace/MEMORY.md" }]),
    "an empty part": await archive([{ ...NOTE, name: "workspace//MEMORY.md" }]),
    "the directory itself": await archive([{ ...NOTE, name: "." }]),
    "the way to it from itself": await archive([{ ...NOTE, name: "workspace/.." }]),
    "a backup in the backup": await archive([{ ...NOTE, name: "backups/1.tar.zst" }]),
    "a name that does not belong": await archive([{ ...NOTE, name: "logs/gateway.log" }]),
    "the write-ahead log": await archive([{ ...NOTE, name: "state.db-wal" }]),
    "a file for a directory": await archive([{ ...NOTE, name: "credentials" }]),
    "a directory for a file": await archive([{ name: "state.db/", type: "directory" }], { files: 0 }),
    "a file twice": await archive([NOTE, NOTE], { files: 2 }),
    "a file below a file": await archive([NOTE, { ...NOTE, name: `${NOTE.name}/x` }], { files: 2 }),
    "other counts": await archive([NOTE], { files: 2 }),
    "fewer messages": await archive([{ name: "state.db", content: await database("CREATE TABLE t (a)") }], {
      messages: 7,
    }),
    "a broken database": await archive([{ name: "state.db", content: broken }], { messages: 1 }),
    "no database": await archive([{ name: "state.db", content: "no database ".repeat(500) }]),
    "the edge's tables": await archive([
      { name: "state.db", content: await database("CREATE TABLE ledger (key TEXT)") },
    ]),
    "a config of another hash": await archive([{ name: "steward.json", content: "{}" }]),
  };
  const answers: Record<string, unknown> = {};
  for (const [name, sent] of Object.entries(cases)) {
    const { status, answer } = await restore(sent);
    answers[name] = { status, code: answer.code };
  }

  expect(Object.keys(cases).length).toBeGreaterThanOrEqual(34);
  const refused = { status: 422, code: "backup_corrupt" };
  expect(answers).toEqual(Object.fromEntries(Object.keys(cases).map((name) => [name, refused])));
  expect(await readdir(around.home)).toEqual(["backups"]);
  expect(await around.status()).toMatchObject({ state: "starting" });
  expect(await restore(whole)).toMatchObject({ status: 200, answer: { counts: NOTHING } });
  expect(readdirSync(join(around.home, "workspace"))).toEqual(["MEMORY.md"]);
});

/** The block with which an entry begins. */
async function headOf(header: File): Promise<Buffer> {
  const tar = pack();
  const head = new Promise<Buffer>((resolve) => tar.once("data", (piece) => resolve(piece as Buffer)));
  tar.entry(header);
  return head;
}

test(
  "an archive that would come to more than 2 GiB or 200,000 entries is refused before it does",
  { timeout: 240_000 },
  async () => {
    const huge = await headOf({ name: "workspace/huge", type: "file", size: 3 * 1024 ** 3 });
    const folder = await headOf({ name: "workspace/", type: "directory" });
    const refused = {
      status: 422,
      answer: { code: "backup_corrupt", detail: "The archive is too large when unpacked." },
    };
    expect(await restore(described(zstdCompressSync(huge)))).toMatchObject(refused);
    const many = Buffer.alloc(folder.length * 200_001, folder);
    expect(await restore(described(zstdCompressSync(many)))).toMatchObject(refused);
    expect(await readdir(around.home)).toEqual(["backups"]);
  },
);

test("a manifest that is none, and no manifest, are told", async () => {
  const { body } = await archive([NOTE]);
  expect(await restore({ body, manifest: { version: 2 } })).toMatchObject({
    answer: { code: "body_invalid" },
  });
  expect(await readdir(around.home)).toEqual([]);
});
