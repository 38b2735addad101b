import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steward } from "../support/cli.ts";
import { startNode, temporaryDirectory } from "../support/processes.ts";
import { grantedTo } from "../../../runtime/shared/devices.ts";
import { deviceStore, pair, newDevice } from "../support/webchat.ts";

const MINUTE = 60_000;
const stranger = (n: number, remoteIp = `192.0.2.${n}`) => ({
  deviceId: `d${n}`.padEnd(64, "0"),
  publicKey: "k".repeat(43),
  displayName: `Device ${n}`,
  platform: "web",
  remoteIp,
});
const read = async (home: string, name: string) =>
  JSON.parse(await readFile(join(home, "devices", name), "utf8"));

test("requests and devices are kept in the reference's form, for this user alone", async () => {
  const home = await temporaryDirectory();
  const { store, time } = deviceStore(home);
  const { requestId = "" } = store.request(stranger(1)) ?? {};
  const asked = { ...stranger(1), role: "chat", scopes: ["chat"] };
  expect(await read(home, "pending.json")).toEqual({ [requestId]: { requestId, ...asked, ts: time.now } });
  const requestedAt = time.now;
  time.now += 1_000;
  store.approve(requestId);
  expect(await read(home, "pending.json")).toEqual({});
  expect(await read(home, "paired.json")).toEqual({
    [asked.deviceId]: {
      ...asked,
      tokens: {
        chat: { token: expect.stringMatching(/^[\w-]{43}$/), scopes: ["chat"], createdAtMs: time.now },
      },
      createdAtMs: requestedAt,
      approvedAtMs: time.now,
    },
  });
  store.used(asked.deviceId);
  time.now += 1_000;
  store.revoke(asked.deviceId);
  expect((await read(home, "paired.json"))[asked.deviceId].tokens.chat).toMatchObject({
    lastUsedAtMs: time.now - 1_000,
    revokedAtMs: time.now,
  });
  for (const name of ["pending.json", "paired.json"])
    expect((await stat(join(home, "devices", name))).mode & 0o777).toBe(0o600);
});

test("a request lives 5 minutes, is kept when asked for again, and is settled once", async () => {
  const { store, time } = deviceStore(await temporaryDirectory());
  const first = store.request(stranger(1));
  time.now += 4 * MINUTE;
  expect(store.request(stranger(1))).toEqual(first);
  time.now += MINUTE;
  expect(store.pending()).toEqual([]);
  expect(store.approve(first?.requestId ?? "")).toBeUndefined();
  const second = store.request(stranger(1));
  expect(second?.requestId).not.toBe(first?.requestId);
  expect(store.reject(second?.requestId ?? "")?.deviceId).toBe(stranger(1).deviceId);
  expect(store.approve(second?.requestId ?? "")).toBeUndefined();
  expect(store.paired()).toEqual([]);
});

test("strangers cannot fill the store: 3 a network, 10 in all, and the oldest of the most gives way", async () => {
  const { store } = deviceStore(await temporaryDirectory());
  const waiting = () => store.pending().map(({ remoteIp }) => remoteIp);
  const operator = store.request(stranger(0, "198.51.100.7"));
  for (let n = 1; n < 30; n += 1) store.request(stranger(n, `2001:db8:1:2::${n}`));
  expect(waiting()).toEqual(["198.51.100.7", ...[27, 28, 29].map((n) => `2001:db8:1:2::${n}`)]);

  for (let n = 30; n < 60; n += 1) store.request(stranger(n, `2001:db8:2:${n % 4}::1`));
  expect(waiting()).toHaveLength(10);
  expect(store.approve(operator?.requestId ?? "")?.remoteIp).toBe("198.51.100.7");
});

test.each([
  ["no JSON", "{"],
  ["another form", '{"a":{"requestId":1}}'],
])("a store that is %s is set aside whole and lets nobody in", async (_, text) => {
  const home = await temporaryDirectory();
  await mkdir(join(home, "devices"));
  for (const name of ["pending.json", "paired.json"]) await writeFile(join(home, "devices", name), text);
  const { store, reports } = deviceStore(home);
  expect(store.paired()).toEqual([]);
  expect(store.request(stranger(1))).toMatchObject({ deviceId: stranger(1).deviceId });
  expect(reports).toHaveLength(2);
  for (const { movedTo } of reports) expect(await readFile(movedTo, "utf8")).toBe(text);
});

test("processes that request and approve at once lose nothing", async () => {
  const home = await temporaryDirectory();
  const module = new URL("../../../runtime/gateway/devices.ts", import.meta.url).href;
  const program = `
    const { DeviceStore } = await import(${JSON.stringify(module)});
    const store = new DeviceStore({ home: process.env.HOME_UNDER_TEST, clock: Date.now,
      onSetAside: (report) => { throw new Error(JSON.stringify(report)); } });
    for (let n = 0; n < 15; n += 1) {
      const request = store.request({ deviceId: process.env.NAME + n, publicKey: "k", displayName: "",
        platform: "web", remoteIp: process.env.NAME });
      if (store.approve(request.requestId)?.deviceId !== process.env.NAME + n) throw new Error("not approved");
    }`;
  const names = ["A", "B", "C"];
  const runs = names.map((NAME) =>
    startNode(["--input-type=module", "-e", program], { NAME, HOME_UNDER_TEST: home }),
  );
  for (const run of runs) expect({ code: await run.exited, stderr: run.stderr() }).toMatchObject({ code: 0 });
  const wanted = names.flatMap((name) => Array.from({ length: 15 }, (_, n) => `${name}${n}`));
  expect(Object.keys(await read(home, "paired.json")).toSorted()).toEqual(wanted.toSorted());
  expect(await read(home, "pending.json")).toEqual({});
});

test("the command line lists, approves, rejects and revokes, without a gateway and without a secret", async () => {
  const home = await temporaryDirectory();
  const run = (...args: string[]) => steward({ STEWARD_HOME: home }, "devices", ...args);
  expect(await run("list")).toMatchObject({ code: 0, stdout: "No device pairing entries.\n" });
  expect(JSON.parse((await run("list", "--json")).stdout)).toEqual({ pending: [], paired: [] });

  const { store } = deviceStore(home);
  const [one, two] = [store.request(stranger(1)), store.request(stranger(2))];
  const list = (await run("list")).stdout;
  expect(list).toContain("Pending (2)");
  expect(list).toContain(one?.requestId.slice(0, 12));
  expect(await run("approve", one?.requestId.slice(0, 8) ?? "")).toMatchObject({
    code: 0,
    stdout: `Approved device ${stranger(1).deviceId.slice(0, 12)} (Device 1).\nGranted a person's rights. For an operator's: steward devices grant ${stranger(1).deviceId.slice(0, 12)} operator\n`,
  });
  expect((await run("reject", two?.requestId ?? "", "--json")).stdout).toContain(stranger(2).deviceId);
  const unknown = await run("approve", two?.requestId ?? "", "--json");
  expect(unknown.code).toBe(1);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "device_request_unknown" } });

  const { token } = Object.values(store.paired()[0]?.tokens ?? {})[0] ?? { token: "missing" };
  const outputs = [await run("list"), await run("list", "--json"), await run("revoke", "d1", "--json")];
  expect(outputs[0]?.stdout).toMatch(/Paired \(1\)\n.*\n.*Device 1 +\w+ +chat +paired/);
  for (const { code, stdout } of outputs) {
    expect(code).toBe(0);
    expect(stdout).not.toContain(token);
  }
  expect((await run("list")).stdout).toMatch(/Device 1 +\w+ +chat +revoked/);
  expect(await run("revoke", "nobody")).toMatchObject({ code: 1 });
});

test("an approval grants a person's rights unless it names an operator's, whatever the device asked for", async () => {
  const home = await temporaryDirectory();
  const run = (...args: string[]) => steward({ STEWARD_HOME: home }, "devices", ...args);
  const { store } = deviceStore(home);
  const asking = { ...stranger(1), role: "operator", scopes: ["chat", "operator"] };
  const ids = [asking, stranger(2)].map((one) => store.request(one)?.requestId ?? "");
  const roles = () => store.paired().map(grantedTo);
  expect(await run("approve", ids[0] ?? "")).toMatchObject({ code: 0 });
  expect(await run("approve", ids[1] ?? "", "--operator")).toMatchObject({ code: 0 });
  expect(roles()).toEqual(["person", "operator"]);
  expect(await run("grant", stranger(1).deviceId, "operator")).toMatchObject({ code: 0 });
  expect(await run("grant", stranger(2).deviceId, "person")).toMatchObject({ code: 0 });
  expect(roles()).toEqual(["operator", "person"]);
  expect((await run("list")).stdout).toMatch(/Device 1 .* operator\n/);
  expect(await run("grant", stranger(1).deviceId, "guest")).toMatchObject({ code: 1 });

  await run("revoke", stranger(2).deviceId);
  expect(await run("grant", stranger(2).deviceId, "operator")).toMatchObject({ code: 1 });
  expect(roles()).toEqual(["operator", "person"]);
});

test("the beginning of an id is not enough where several have it", async () => {
  const home = await temporaryDirectory();
  for (const deviceId of ["aa11", "aa22"]) pair(home, { ...newDevice(), deviceId });
  const result = await steward({ STEWARD_HOME: home }, "devices", "revoke", "aa");
  expect(result).toMatchObject({ code: 1 });
  expect(result.stderr).toContain("2 ids begin with aa");
  expect(await steward({ STEWARD_HOME: home }, "devices", "revoke", "aa2")).toMatchObject({ code: 0 });
});
