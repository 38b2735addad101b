import { describe, expect, it } from "vitest";
import type { Role } from "../../../runtime/contract/config/rights.ts";
import type { PortRequest } from "../../../runtime/edge/ports.ts";
import type { Sql } from "../../../runtime/edge/ledger/sql.ts";
import { Browsers } from "../../../runtime/edge/tenants/browsers.ts";
import { operateOnPeople } from "../../../runtime/edge/tenants/operations.ts";
import { People } from "../../../runtime/edge/tenants/people.ts";
import { createSigner, edgeFixture, NOW } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const signer = createSigner();
const DEVICE = {
  deviceId: "ab".repeat(32),
  publicKey: "k".repeat(43),
  displayName: "Firefox on Linux",
  platform: "web",
  remoteIp: "192.0.2.7",
};

/** Tables with one text a row, as {@link People} and {@link Browsers} use them. */
function memorySql(): Sql {
  const rows = new Map<unknown, unknown>();
  return {
    all(statement: string, ...[key, value]: unknown[]) {
      if (statement.startsWith("INSERT")) rows.set(key, value);
      const text = statement.startsWith("SELECT") ? rows.get(key) : undefined;
      return text === undefined ? [] : [{ lists: text, list: text }];
    },
  } as Partial<Sql> as Sql;
}

/** A browser of an operator over real lists of people and browsers. */
async function stage() {
  const { jwk, sign } = await signer;
  const time = { now: NOW };
  const clock = () => time.now;
  const changes: [string, Role | undefined][] = [];
  const people = new People({ sql: memorySql(), clock, onChange: (_, id, role) => changes.push([id, role]) });
  const browsers = new Browsers({
    sql: memorySql(),
    clock,
    onChange: (id, role) => changes.push([id, role]),
  });
  const restored: unknown[] = [];
  const operations = async ({ body = "" }: PortRequest) => {
    const { operation, input } = JSON.parse(body);
    if (input.record === "sealed") restored.push(input);
    if (operation.startsWith("schedules") || input.record === "sealed") {
      const value = operation === "schedules remove" ? { removed: input.id, undo: "sealed" } : {};
      return Response.json({ ok: true, value, notes: "" });
    }
    return Response.json(await operateOnPeople(people, browsers, { operation, input }));
  };
  const { app } = edgeFixture({ jwk, clock, answers: { "/operations": operations } });
  const cookies = new Map<string, string>();
  const ask = async (path: string, fields?: Record<string, string>, email = "operator@example.com") => {
    const headers = {
      "cf-access-jwt-assertion": await sign({ email }),
      cookie: [...cookies].map((one) => one.join("=")).join("; "),
      ...(fields && { origin: HOST, "content-type": "application/x-www-form-urlencoded" }),
    };
    const body = fields && { method: "POST", body: new URLSearchParams(fields).toString() };
    const response = await app.request(`${HOST}${path}`, { headers, ...body });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  /** Sends a form, follows where it leads, and returns the fields of the button "Undo" there. */
  const change = async (path: string, fields: Record<string, string>) => {
    const response = await ask(path, fields);
    const to = response.headers.get("location") ?? "";
    const text = await (await ask(to)).text();
    const [, page = ""] = /name="page" value="([^"]*)"/.exec(text) ?? [];
    const [, undo = ""] = /name="undo" value="([^"]*)"/.exec(text) ?? [];
    return { to, undo, page, cookie: response.headers.getSetCookie().join("\n") };
  };
  const undo = async ({ undo: token = "", page = "" }: Record<string, string>, email?: string) =>
    (await ask("/_admin/undo", { undo: token, page }, email)).headers.get("location");
  return {
    time,
    people: people.lists("slack"),
    browsers,
    changes,
    restored,
    cookies,
    ask,
    change,
    undo,
  };
}

const REVOKE = "/_admin/devices/revoke-person";
const DONE = "/_admin/devices?done=undone";
const OVER = "/_admin/devices?problem=undo_over";

describe("undo", () => {
  it.each(["person", "operator"] as const)("gives a revoked %s the same rights back", async (role) => {
    const { people, changes, change, undo, ask } = await stage();
    people.grant("U1", role);
    const { to, undo: token, page } = await change(REVOKE, { person: "slack:U1" });
    expect([to, people.granted("U1")]).toEqual(["/_admin/devices?done=removed", undefined]);
    expect(await undo({ undo: token, page })).toBe(DONE);
    expect(people.granted("U1")).toBe(role);
    expect(changes).toEqual([
      ["U1", role],
      ["U1", undefined],
      ["U1", role],
    ]);
    expect(await (await ask("/_admin/activity")).text()).toMatch(/undo[\s\S]*pairing revoke slack U1/);
    expect(await (await ask(DONE)).text()).toContain("Undone.");
  });

  it("gives a revoked browser back exactly what it had", async () => {
    const { browsers, change, undo } = await stage();
    browsers.approve(browsers.request(DEVICE)?.requestId ?? "", "operator");
    const before = browsers.paired();
    const { undo: token, page } = await change("/_admin/devices/revoke", { device: DEVICE.deviceId });
    expect(browsers.enter(DEVICE)).toEqual({ kind: "revoked" });
    expect(await undo({ undo: token, page })).toBe(DONE);
    expect(browsers.paired()).toEqual(before);
    expect(browsers.enter(DEVICE)).toMatchObject({ kind: "paired" });
  });

  it("brings rejected requests back with their codes and the rest of their time", async () => {
    const { time, people, browsers, change, undo } = await stage();
    const asked = people.request("U1", { username: "Ann" });
    const device = browsers.request(DEVICE);
    time.now += 1_000;
    const other = people.request("U2");
    for (const request of [`slack:${asked?.code}`, `device:${device?.requestId}`]) {
      const { undo: token, page } = await change("/_admin/devices/reject", { request });
      expect(await undo({ undo: token, page })).toBe(DONE);
    }
    expect(people.pending()).toEqual([asked, other]);
    expect(browsers.pending()).toEqual([device]);
    time.now += 5 * 60_000;
    expect(browsers.pending()).toEqual([]);
  });

  it("restores a removed schedule by what its removal returned", async () => {
    const { restored, change, undo } = await stage();
    const { to, undo: token, page } = await change("/_admin/schedules/remove", { id: "cli:1" });
    expect(to).toBe("/_admin/schedules?done=unscheduled");
    expect(await undo({ undo: token, page })).toBe("/_admin/schedules?done=undone");
    expect(restored).toEqual([{ record: "sealed" }]);
  });

  it("is possible once, and within seconds", async () => {
    const { time, people, change, undo, cookies } = await stage();
    people.grant("U1", "person");
    const first = await change(REVOKE, { person: "slack:U1" });
    const kept = new Map(cookies);
    expect(await undo(first)).toBe(DONE);
    people.revoke("U1");
    for (const [name, value] of kept) cookies.set(name, value);
    expect(await undo(first)).toBe(OVER);
    people.grant("U1", "person");
    const second = await change(REVOKE, { person: "slack:U1" });
    time.now += 10_000;
    const late = new Map(cookies);
    time.now += 6_000;
    for (const [name, value] of late) cookies.set(name, value);
    expect(await undo(second)).toBe(OVER);
    expect(people.granted("U1")).toBeUndefined();
  });

  it("is not possible for another person, another browser or by what an address shows", async () => {
    const { people, change, undo, cookies, ask } = await stage();
    people.grant("U1", "operator");
    const { to, undo: token, page, cookie } = await change(REVOKE, { person: "slack:U1" });
    expect(to).not.toContain(token);
    expect(cookie).toMatch(
      /^steward-undo=removed\.[\w-]{36}; Max-Age=15; Path=\/_admin; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(await undo({ undo: token, page }, "other@example.com")).toBe(OVER);
    cookies.clear();
    expect(await undo({ undo: token, page })).toBe(OVER);
    expect(await (await ask(to)).text()).not.toContain("Undo");
    expect(people.granted("U1")).toBeUndefined();
  });

  it("is not offered beside another notice, nor for what was not made", async () => {
    const { people, change, ask } = await stage();
    people.grant("U1", "person");
    await change(REVOKE, { person: "slack:U1" });
    expect(await (await ask("/_admin/devices?done=rejected")).text()).not.toContain("Undo");
    expect((await change(REVOKE, { person: "slack:U1" })).undo).toBe("");
  });

  it.each([
    ["a person who was approved again", (one: Stage) => one.people.grant("U1", "person"), "person"],
    [
      "a person who was approved with other rights",
      (one: Stage) => one.people.grant("U1", "operator"),
      "operator",
    ],
  ] as const)("leaves %s", async (_, meanwhile, role) => {
    const one = await stage();
    one.people.grant("U1", "person");
    const fields = await one.change(REVOKE, { person: "slack:U1" });
    meanwhile(one);
    expect(await one.undo(fields)).toBe("/_admin/devices?problem=undo_changed");
    expect(one.people.granted("U1")).toBe(role);
  });

  it("leaves the new request of a sender who asked again", async () => {
    const { people, change, undo } = await stage();
    const fields = await change("/_admin/devices/reject", { request: `slack:${people.request("U1")?.code}` });
    const again = people.request("U1");
    expect(await undo(fields)).toBe("/_admin/devices?problem=undo_changed");
    expect(people.pending()).toEqual([again]);
  });

  it("does not undo a revocation of longer ago, whoever asks for it", async () => {
    const { time, browsers } = await stage();
    browsers.approve(browsers.request(DEVICE)?.requestId ?? "");
    browsers.revoke(DEVICE.deviceId);
    const at = time.now;
    time.now += 60_001;
    expect(browsers.restore({ deviceId: DEVICE.deviceId, at })).toBe(false);
    time.now = at;
    expect(browsers.restore({ deviceId: DEVICE.deviceId, at: at - 1 })).toBe(false);
    expect(browsers.restore({ deviceId: DEVICE.deviceId, at })).toBe(true);
  });

  it.each([{}, { undo: "x" }, { undo: "", page: "/_admin/" }, { page: "https://evil.example/" }])(
    "refuses the form %j",
    async (fields) => {
      const { ask } = await stage();
      expect((await ask("/_admin/undo", fields)).status).toBe(400);
    },
  );
});

type Stage = Awaited<ReturnType<typeof stage>>;
