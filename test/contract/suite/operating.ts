import { expect, it } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import type { LedgerPage } from "../../../runtime/edge/ports.ts";
import { VERSION } from "../../../runtime/contract/names.ts";
import { fields, HTML, json, type Client } from "./client.ts";
import { GUILD } from "./requests.ts";

const GATEWAY = expect.arrayContaining([expect.objectContaining({ name: "gateway", state: "running" })]);
const SOON = { timeout: 60_000 };

/** Pages and debug routes, with an identity. */
export function operating(client: () => Client): void {
  it("shows the admin pages, with devices and who waits for approval", async () => {
    const { operate, postSlack } = client();
    await postSlack(directMessage("UBOB"));
    await expect
      .poll(async () => (await operate("/_admin/devices", HTML)).text, SOON)
      .toContain("Waiting for approval (1)");
    for (const path of [
      "/_admin/",
      "/_admin/devices",
      "/_admin/ledger",
      "/_admin/logs",
      "/_admin/config",
      "/_admin/restart",
    ]) {
      const page = await operate(path, HTML);
      expect([path, page.status, page.headers.get("content-type")]).toEqual([
        path,
        200,
        expect.stringContaining("text/html"),
      ]);
    }
    expect((await operate("/_admin/", HTML)).text).toContain("Waiting for approval (1)");
  });

  it("runs commands of the list, and no others", async () => {
    const { run, operate } = client();
    expect(await run("devices list")).toEqual({
      command: "devices list",
      exitCode: 0,
      stdout: "No device pairing entries.\n",
      stderr: "",
    });
    const file = await run("cat steward.json");
    expect(file).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(String(file["stdout"]))).toMatchObject({
      channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" } } },
    });
    expect(await run("config validate")).toMatchObject({ exitCode: 0 });
    // The specification's way to the bot token; here it stays hidden.
    expect(await run("config get telegram.botToken")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("[redacted]"),
    });
    for (const command of [
      "",
      "rm steward.json",
      "cat /etc/passwd",
      "cat ../x",
      "cat credentials/../../x",
      "devices list; id",
      "config set a b",
    ]) {
      const refused = await operate(`/debug/cli?cmd=${encodeURIComponent(command)}`);
      expect([command, refused.status, fields(refused)["code"]]).toEqual([
        command,
        400,
        "command_not_allowed",
      ]);
    }
    expect((await operate("/debug/cli?cmd=rm")).text).toContain("Allowed are: cat <file>, devices list");
    const foreign = { headers: { "sec-fetch-site": "cross-site" } };
    expect((await operate("/debug/cli?cmd=devices%20list", foreign)).status).toBe(403);
  });

  it("shows the container's config, its processes and their logs", async () => {
    const { operate } = client();
    expect(fields(await operate("/debug/container-config"))).toMatchObject({
      valid: true,
      config: { channels: { telegram: { botToken: expect.anything() } } },
    });
    const processes = fields(await operate("/debug/processes?logs=true"));
    expect(processes).toMatchObject({ state: "ready", processes: GATEWAY });
    expect(JSON.stringify(processes)).toContain('"logs":[');
    const without = fields(await operate("/debug/processes"));
    expect(without).toMatchObject({ processes: GATEWAY });
    expect(JSON.stringify(without)).not.toContain('"logs"');
    expect(fields(await operate("/debug/logs?lines=5"))).toMatchObject({ lines: expect.any(Array) });
    expect(fields(await operate("/debug/version"))).toMatchObject({ version: VERSION, gateway: VERSION });
  });

  it("lists events without their content, and delivers none again that was answered", async () => {
    const { operate, target } = client();
    const list = async () => JSON.parse((await operate("/debug/ledger?limit=200")).text) as LedgerPage;
    const settled = new Set(["answered", "ignored"]);
    const open = async () => (await list()).entries.filter(({ state }) => !settled.has(state));
    await expect.poll(open, SOON).toEqual([]);
    const { entries } = await list();
    const answered = entries.filter(({ state }) => state === "answered");
    expect(entries.filter(({ state }) => state === "ignored")).toMatchObject([
      { platform: "discord", group: GUILD },
    ]);
    expect(new Set(entries.map(({ key }) => key.split(":")[0]))).toEqual(
      new Set(["slack", "telegram", "discord"]),
    );
    expect(JSON.stringify(entries)).not.toContain("what is up?");
    const replay = async (key: string) => {
      const { body, headers } = json({ key });
      const init = { method: "POST", body, headers: { ...headers, origin: new URL(target.url).origin } };
      return (await operate("/_admin/api/ledger/replay", init)).status;
    };
    expect([await replay(answered[0]?.key ?? ""), await replay("slack:nothing")]).toEqual([409, 404]);
    const figures = await operate("/metrics");
    expect(figures.text).toContain(`steward_ledger_entries{state="answered"} ${answered.length}\n`);
    expect(figures.text).toMatch(/^steward_answers_total [1-9]/m);
    expect((await operate("/_admin/api/metrics")).status).toBe(200);
  });

  it("serves the web chat's page to everyone, and its socket to sockets alone", async () => {
    const { ask } = client();
    expect((await ask("/chat", HTML)).status).toBe(200);
    expect((await ask("/chat/socket")).status).toBe(426);
    expect((await ask(`/chat/files/${"f".repeat(22)}`)).status).toBe(403);
  });
}

/** A direct message of somebody unknown: https://docs.slack.dev/reference/events/message.im */
function directMessage(user: string): object {
  const sent = mention("may I?", { chat: `D${user}` }) as { event: object };
  return { ...sent, event: { ...sent.event, type: "message", channel_type: "im", user } };
}
