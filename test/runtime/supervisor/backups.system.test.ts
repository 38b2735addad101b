import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { GenerationManifest, RestoreReport } from "../../../runtime/contract/backup.ts";
import type { ConfigText } from "../../../runtime/contract/control.ts";
import { container } from "../support/container.ts";
import { ask, askJson, deliver, delivery, writeConfig } from "../support/gateway.ts";
import { listens } from "../../support/ports.ts";

/** A container whose gateway runs, with something in each part of its data directory. */
async function filled() {
  const around = await container();
  const { home, start, state, url, control } = around;
  await writeConfig(home);
  await mkdir(join(home, "credentials"));
  await mkdir(join(home, "devices"));
  await mkdir(join(home, "workspace", "memory", "empty"), { recursive: true });
  const allowed = { version: 1, allowFrom: ["U1", "U2"] };
  await writeFile(join(home, "credentials", "slack-allowFrom.json"), JSON.stringify(allowed));
  await writeFile(join(home, "credentials", "slack.lock"), "");
  await writeFile(join(home, "devices", "paired.json"), JSON.stringify({}));
  await writeFile(join(home, "devices", "paired.json.corrupt-2026"), "{");
  await writeFile(join(home, "workspace", "MEMORY.md"), "likes tea");
  await writeFile(join(home, "workspace", "yarn.lock"), "theirs");
  await writeFile(join(home, "workspace", "MEMORY.md.12.tmp"), "half");
  await symlink("/etc/passwd", join(home, "workspace", "link"));
  start();
  await state("ready");
  for (const id of ["E1", "E2"]) await deliver(url, delivery(id));
  const make = async (body: object = {}) => {
    const response = await ask(`${control}/generations`, { method: "POST", body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as GenerationManifest;
  };
  const post = async (path: string, body: object = {}) => {
    const response = await ask(`${control}${path}`, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, answer: (await response.json()) as RestoreReport & { code?: string } };
  };
  const rows = (query: string) => {
    const database = new DatabaseSync(join(home, "state.db"), { timeout: 10_000 });
    try {
      return database.prepare(query).all();
    } finally {
      database.close();
    }
  };
  return { ...around, make, post, rows };
}

test("a generation is made beside a running gateway, listed, handed out and removed", async () => {
  const { make, control, post, home } = await filled();
  const revision = async () => (await askJson<{ revision: string }>(`${control}/revision`)).revision;
  const before = await revision();
  expect(await revision()).toBe(before);

  const manifest = await make();
  expect(manifest).toMatchObject({
    version: 1,
    id: "00000001-00000001",
    configValid: true,
    counts: { files: 6, sessions: 1, messages: 4, schedules: 0, approvals: 2 },
  });
  expect(await revision()).toBe(before);
  await writeFile(join(home, "workspace", "new.md"), "more");
  expect(await revision()).not.toBe(before);

  expect(await make({ id: "00000007-00000003" })).toMatchObject({ counts: { files: 7 } });
  expect((await make()).id).toBe("00000007-00000004");
  const { generations } = await askJson<{ generations: GenerationManifest[] }>(`${control}/generations`);
  expect(generations.map(({ id }) => id)).toEqual([
    "00000007-00000004",
    "00000007-00000003",
    "00000001-00000001",
  ]);
  const archive = await ask(`${control}/generations/${manifest.id}`);
  expect(archive.headers.get("content-length")).toBe(String(manifest.size));
  expect((await archive.arrayBuffer()).byteLength).toBe(manifest.size);
  expect(await post(`/generations/${manifest.id}/verify`)).toEqual({
    status: 200,
    answer: { id: manifest.id, counts: manifest.counts, configProblems: [] },
  });

  const again = await ask(`${control}/generations`, {
    method: "POST",
    body: JSON.stringify({ id: manifest.id }),
  });
  expect(await again.json()).toMatchObject({ code: "backup_failed" });
  const gone = await ask(`${control}/generations/${manifest.id}`, { method: "DELETE" });
  expect(gone.status).toBe(204);
  expect((await ask(`${control}/generations/${manifest.id}`)).status).toBe(404);
  expect(await readdir(join(home, "backups"))).toHaveLength(5);
});

test("a restore brings everything back, keeps the edge's tables, and can be undone", async () => {
  const { make, post, rows, home, control, state, url, slack } = await filled();
  const ledger = "CREATE TABLE ledger (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT)";
  rows(ledger);
  rows("INSERT INTO ledger (key) VALUES ('before') RETURNING seq");
  // The place in Discord's events: an older one would not be theirs any more.
  rows("CREATE TABLE discord_intake (bot TEXT PRIMARY KEY, sequence INTEGER)");
  rows("INSERT INTO discord_intake (bot, sequence) VALUES ('b', 1)");
  const manifest = await make();
  rows("INSERT INTO ledger (key) VALUES ('after') RETURNING seq");
  rows("UPDATE discord_intake SET sequence = 2");
  await deliver(url, delivery("E3"));
  await writeFile(join(home, "workspace", "MEMORY.md"), "likes coffee");
  await writeFile(join(home, "workspace", "later.md"), "later");
  await writeConfig(home, { requireMention: false });

  expect(await post(`/generations/${manifest.id}/restore`, { config: "generation" })).toMatchObject({
    status: 200,
    answer: { id: manifest.id, counts: { messages: 4 } },
  });
  await state("ready");

  expect(rows("SELECT count(*) AS n FROM messages")).toEqual([{ n: 4 }]);
  expect(rows("SELECT messages FROM session_totals")).toEqual([{ messages: 4 }]);
  expect(rows("SELECT key FROM ledger ORDER BY seq")).toEqual([{ key: "before" }, { key: "after" }]);
  expect(rows("SELECT sequence FROM discord_intake")).toEqual([{ sequence: 2 }]);
  expect(await readFile(join(home, "workspace", "MEMORY.md"), "utf8")).toBe("likes tea");
  expect((await readdir(join(home, "workspace"))).toSorted()).not.toContain("later.md");
  expect(await readdir(join(home, "workspace", "memory"))).toEqual(["empty"]);
  expect(await readFile(join(home, "steward.json"), "utf8")).not.toContain("requireMention");
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
  expect((await deliver(url, delivery("E4"))).status).toBe(200);
  expect(slack.posts().length).toBeGreaterThan(3);

  const { generations } = await askJson<{ generations: GenerationManifest[] }>(`${control}/generations`);
  expect(generations[0]).toMatchObject({ counts: { messages: 6 } });
  await post(`/generations/${generations[0]?.id}/restore`, { config: "current" });
  await state("ready");
  expect(await readFile(join(home, "workspace", "MEMORY.md"), "utf8")).toBe("likes coffee");
  expect(rows("SELECT count(*) AS n FROM messages")).toEqual([{ n: 6 }]);
  expect(await readFile(join(home, "steward.json"), "utf8")).not.toContain("requireMention");
  await writeConfig(home, { requireMention: false });
  await post(`/generations/${manifest.id}/restore`, { config: "fresh" });
  await state("ready");
  expect(await readFile(join(home, "steward.json"), "utf8")).not.toContain("requireMention");
});

test("a supervisor that is given its data first holds the gateway until then", async () => {
  const { make, control } = await filled();
  const manifest = await make();
  const archive = await (await ask(`${control}/generations/${manifest.id}`)).arrayBuffer();
  const fresh = await container({ STEWARD_AWAIT_RESTORE: "true" });
  fresh.start();
  expect(await fresh.state("starting")).toMatchObject({
    reason: { detail: expect.stringContaining("waits for its data") },
  });
  await ask(`${fresh.control}/restart`, { method: "POST" });
  expect(await fresh.status()).toMatchObject({ state: "starting", reason: { code: "gateway_not_ready" } });
  const restore = (query: string, body: ArrayBuffer, header: object = manifest) =>
    ask(`${fresh.control}/restore?${query}`, {
      method: "POST",
      body,
      headers: { "steward-manifest": JSON.stringify(header) },
    });

  expect((await restore("config=generation", archive.slice(1))).status).toBe(422);
  expect((await restore("config=other", archive)).status).toBe(400);
  expect(await listens(fresh.port)).toBe(false);
  const report = { id: manifest.id, counts: manifest.counts, configProblems: [] };
  expect(await (await restore("config=generation&drill=true", archive)).json()).toEqual(report);
  expect((await restore("config=generation&drill=true", archive.slice(1))).status).toBe(422);
  expect(await fresh.status()).toMatchObject({ state: "starting", reason: { code: "gateway_not_ready" } });
  expect(await readdir(fresh.home)).not.toContain("workspace");
  const first = await restore("config=generation&start=false", archive);
  expect(await first.json()).toEqual(report);
  expect(await fresh.status()).toMatchObject({ state: "stopped" });
  await ask(`${fresh.control}/restart`, { method: "POST" });
  await fresh.state("ready");
  expect(await readFile(join(fresh.home, "workspace", "MEMORY.md"), "utf8")).toBe("likes tea");
  const variables = await readFile(`/proc/${(await fresh.gateway()).pid}/environ`, "utf8");
  expect(variables).toContain("STEWARD_HOME");
  expect(variables).not.toContain("STEWARD_AWAIT_RESTORE");
});

test("where there is nothing to restore the gateway starts with what it has", async () => {
  const { start, control, state } = await container({ STEWARD_AWAIT_RESTORE: "true" });
  start();
  await state("starting");
  const response = await ask(`${control}/restore?config=generation`, { method: "POST" });
  expect(response.status).toBe(200);
  await state("ready");
  const unknown = await ask(`${control}/restore?config=generation`, { method: "POST", body: "archive" });
  expect(await unknown.json()).toMatchObject({ code: "body_invalid" });
});

test("a restore that cannot be finished at a start holds the gateway and says so; another one mends it", async () => {
  const { home, start, state, status, control, port } = await container();
  await writeConfig(home);
  await mkdir(join(home, "backups"));
  await writeFile(join(home, "restore.json"), "{}");
  start();
  await state("starting");
  await expect.poll(async () => (await status()).reason?.code).toBe("restore_failed");
  expect(await listens(port)).toBe(false);
  const made = await ask(`${control}/generations`, { method: "POST" });
  const { id } = (await made.json()) as GenerationManifest;
  const body = JSON.stringify({ config: "generation" });
  const restored = await ask(`${control}/generations/${id}/restore`, { method: "POST", body });
  expect(restored.status).toBe(200);
  await state("ready");
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
});

test("the config of an archive is shown without its secrets, changing nothing, or takes the file's place", async () => {
  const { make, control, home } = await filled();
  const slack = (signingSecret: string) => ({
    channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret } },
  });
  const text = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const path = join(home, "steward.json");
  const good = text({ ...slack("plain-and-kept"), gateway: { token: "only-in-the-backup" } });
  await writeFile(path, good);
  const manifest = await make();
  const archive = await (await ask(`${control}/generations/${manifest.id}`)).arrayBuffer();
  const bad = text({ ...slack("plain-and-kept"), gateway: { token: "only-in-the-file" }, unknown: true });
  await writeFile(path, bad);

  const show = (body: ArrayBuffer, how = "show") =>
    ask(`${control}/restore?config=generation&${how}=config`, {
      method: "POST",
      headers: { "steward-manifest": JSON.stringify(manifest) },
      body,
    });
  const shown = (await (await show(archive)).json()) as ConfigText;
  expect(JSON.parse(shown.text ?? "")).toEqual({
    ...slack("[redacted]"),
    gateway: { token: "[redacted]" },
  });
  expect(shown.secrets).toEqual(["channels.slack.signingSecret", "gateway.token"]);
  expect(shown.sha256).toBe(createHash("sha256").update(bad).digest("hex"));
  expect(await readFile(path, "utf8")).toBe(bad);
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
  const cut = await show(archive.slice(0, 100));
  expect(await cut.json()).toMatchObject({ code: "backup_corrupt" });

  const took = await show(archive, "take");
  expect([took.status, await took.json()]).toMatchObject([200, { sha256: manifest.configSha256 }]);
  expect(await readFile(path, "utf8")).toBe(good);
  const copy = (await readdir(home)).find((name) => name.startsWith("steward.json.bak-")) ?? "";
  expect(await readFile(join(home, copy), "utf8")).toBe(bad);
});
