import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { canMount, fillVolume, mountVolume } from "../../support/full-volume.ts";
import { startService, startSurroundings } from "../../support/service.ts";
import { eventually } from "../support/processes.ts";

const ADMIN_TOKEN = "full-volume-admin-token-0123456789";
const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}`, accept: "text/html" };
test.runIf(canMount)(
  "a full volume is told within half a minute, nothing accepted is lost, and room ends it without a restart",
  { timeout: 180_000 },
  async () => {
    const { slack, environment, close } = await startSurroundings();
    const disk = await mkdtemp(join(tmpdir(), "steward-full-"));
    mountVolume(disk, 16);
    const { container } = await buildBundle();
    const service = await startService(container.dir, "host/main.js", disk, { ...environment, ADMIN_TOKEN });
    onTestFinished(async () => {
      await service.stop();
      await close();
    });
    const send = async (text: string) => {
      const event = mention(text, { chat: `C${text}` });
      return (await fetch(`${service.url}/slack/events`, { method: "POST", ...slack.sign(event) })).status;
    };
    const ready = async () => {
      const response = await fetch(`${service.url}/readyz`);
      return { status: response.status, body: (await response.json()) as { volume?: string } };
    };
    const overview = async () => (await fetch(`${service.url}/_admin/`, { headers: OPERATOR })).text();
    expect(await send("before")).toBe(200);
    await slack.waitFor(({ text }) => text.includes("before"), 20_000);

    fillVolume(join(disk, "filler"));
    await eventually(async () => (await ready()).status === 503);

    expect((await ready()).body).toMatchObject({ volume: "disk_full" });
    const page = await overview();
    expect(page).toMatch(/class="badge bad"[^>]*>Down</);
    expect(page).toMatch(/disk is full: \d+ KiB are free, and 64 KiB are needed/);
    expect(page).not.toContain("Healthy");
    const metrics = await (await fetch(`${service.url}/metrics`, { headers: OPERATOR })).text();
    expect(metrics).toContain("steward_volume_writable 0");
    // SQLite's own file may have room for some: those are kept.
    const codes = new Map<string, number>();
    for (let count = 0; count < 40; count += 1) codes.set(`full${count}.`, await send(`full${count}.`));
    expect([...codes.values()].some((code) => code >= 500)).toBe(true);

    await rm(join(disk, "filler"));
    await eventually(async () => (await ready()).status === 200);

    expect(await overview()).not.toMatch(/class="badge bad"/);
    for (const [text, code] of codes) {
      if (code === 200) await slack.waitFor((message) => message.text.includes(text), 60_000);
    }
    expect(await send("after")).toBe(200);
    await slack.waitFor(({ text }) => text.includes("after"), 20_000);
    expect(await readdir(disk)).not.toContain("filler");
  },
);
