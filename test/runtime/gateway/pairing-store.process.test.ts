import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steward } from "../support/cli.ts";
import { pairingStores } from "../../../runtime/gateway/pairing/store.ts";
import { pairingStore, storeFile } from "../support/pairing.ts";
import { eventually, startNode, temporaryDirectory } from "../support/processes.ts";
import { generator } from "../../support/random.ts";

const HOUR = 3_600_000;

test("codes are 8 letters without I, L and O, and every other letter occurs", async () => {
  const { store } = pairingStore(await temporaryDirectory());
  const codes = Array.from({ length: 300 }, (_, index) => {
    const code = store.request(`U${index}`)?.code ?? "";
    store.reject(code);
    return code;
  });

  for (const code of codes) expect(code).toMatch(/^[A-HJKMNP-Z]{8}$/);
  expect(new Set(codes).size).toBe(codes.length);
  expect(new Set(codes.join("")).size).toBe(23);
});

test("both files have the documented form and are this user's alone", async () => {
  const home = await temporaryDirectory();
  const { store, time } = pairingStore(home, Date.parse("2026-11-20T10:00:00.000Z"));
  const first = store.request("U1", { username: "ada", firstName: "Ada" });
  time.now += 5_000;
  store.request("U1");

  expect(await storeFile(home, "slack-pairing.json")).toEqual({
    version: 1,
    requests: [
      {
        id: "U1",
        code: first?.code,
        createdAt: "2026-11-20T10:00:00.000Z",
        lastSeenAt: "2026-11-20T10:00:05.000Z",
        meta: { username: "ada", firstName: "Ada" },
      },
    ],
  });
  store.approve(first?.code ?? "");
  expect(await storeFile(home, "slack-pairing.json")).toEqual({ version: 1, requests: [] });
  expect(await storeFile(home, "slack-allowFrom.json")).toEqual({ version: 1, allowFrom: ["U1"] });
  for (const name of ["slack-pairing.json", "slack-allowFrom.json"]) {
    expect((await stat(join(home, "credentials", name))).mode & 0o777).toBe(0o600);
  }
  expect((await stat(join(home, "credentials"))).mode & 0o777).toBe(0o700);
  expect((await readdir(join(home, "credentials"))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a code lives an hour from its creation, however often its sender asks", async () => {
  const { store, time } = pairingStore(await temporaryDirectory());
  const first = store.request("U1");
  time.now += HOUR - 1;
  expect(store.request("U1")?.code).toBe(first?.code);
  time.now += 1;

  expect(store.approve(first?.code ?? "")).toBeUndefined();
  expect(store.pending()).toEqual([]);
  expect(store.request("U1")?.code).not.toBe(first?.code);
});

test("a flood of accounts takes one place each; a place is kept ten minutes, and any sender can be let in by id", async () => {
  const { store, time } = pairingStore(await temporaryDirectory());
  const known = store.request("UKNOWN");
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 60; index += 1) store.request(`UFLOOD${index}`);
  }
  // One account has one place, however often it asks; the one that was there first is still to be seen.
  expect(store.pending()).toHaveLength(20);
  expect(store.pending()[0]).toMatchObject({ id: "UKNOWN", code: known?.code });
  expect(store.request("ULATE")).toBeUndefined();
  store.grant("ULATE", "person");
  expect(store.granted("ULATE")).toBe("person");

  time.now += 10 * 60_000;
  // Now the oldest gives way, one for each newcomer.
  expect(store.request("UNEXT")).toMatchObject({ id: "UNEXT" });
  expect(store.pending().map(({ id }) => id)).toEqual([
    ...Array.from({ length: 19 }, (_, index) => `UFLOOD${index}`),
    "UNEXT",
  ]);
  expect(store.approve(known?.code ?? "")).toBeUndefined();
  // Whoever writes again has a place again, for ten minutes more.
  const again = store.request("UKNOWN");
  for (let index = 0; index < 60; index += 1) store.request(`UFLOOD${index}`);
  expect(store.approve(again?.code ?? "")).toMatchObject({ id: "UKNOWN" });
});

test("one channel's places are its own", async () => {
  const home = await temporaryDirectory();
  const stores = pairingStores({ home, clock: Date.now, onSetAside: () => undefined });
  for (let index = 0; index < 60; index += 1) stores("telegram").request(String(index));
  expect(stores("telegram").pending()).toHaveLength(20);
  for (const channel of ["slack", "discord"] as const) {
    expect(stores(channel).request("1")).toMatchObject({ id: "1" });
  }
});

test("an approval records its role apart from the file that others read", async () => {
  const home = await temporaryDirectory();
  const { store } = pairingStore(home);
  const approve = (id: string, role?: "operator") => store.approve(store.request(id)?.code ?? "", role);
  approve("U1");
  approve("U2", "operator");
  expect(await storeFile(home, "slack-allowFrom.json")).toEqual({ version: 1, allowFrom: ["U1", "U2"] });
  expect(await storeFile(home, "slack-operators.json")).toEqual({ version: 1, operators: ["U2"] });
  expect((await stat(join(home, "credentials/slack-operators.json"))).mode & 0o777).toBe(0o600);

  // Revoked, and approved again without the role: nothing of the first approval is left.
  store.revoke("U2");
  expect(store.granted("U2")).toBeUndefined();
  approve("U2");
  expect(store.granted("U2")).toBe("person");

  // A version that knows no roles has taken the approval away: the role alone lets nobody in, and does not come back.
  store.grant("U2", "operator");
  await writeFile(join(home, "credentials/slack-allowFrom.json"), '{"version":1,"allowFrom":["U1"]}');
  expect([store.granted("U2"), store.operators()]).toEqual([undefined, []]);
  approve("U2");
  expect(store.granted("U2")).toBe("person");
});

test("approvals from before roles, and a file of roles that cannot be read, grant a person's rights", async () => {
  const home = await temporaryDirectory();
  const directory = join(home, "credentials");
  await mkdir(directory);
  await writeFile(join(directory, "slack-allowFrom.json"), '{"version":1,"allowFrom":["U1"]}');
  const { store, reports } = pairingStore(home);
  expect([store.granted("U1"), store.granted("U2")]).toEqual(["person", undefined]);
  await writeFile(join(directory, "slack-operators.json"), '{"version":1,"operators":{"U1":true}}');
  expect(store.granted("U1")).toBe("person");
  expect(reports).toHaveLength(1);
});

test("any order of requests, approvals and waits agrees with a simple model", async () => {
  const next = generator(7);
  const random = (below: number): number => Math.floor(next() * below);
  const { store, time } = pairingStore(await temporaryDirectory());
  let model: { id: string; code: string; until: number }[] = [];
  const approved = new Set<string>();
  for (let step = 0; step < 400; step += 1) {
    const id = `U${random(6)}`;
    const action = random(6);
    const known = model.find((one) => one.id === id);
    let got: string | undefined;
    let wanted: string | undefined;
    if (action < 3) {
      got = store.request(id)?.code;
      // A new code cannot be foreseen.
      wanted = known?.code ?? got ?? "a code";
      if (!known && got !== undefined) model.push({ id, code: got, until: time.now + HOUR });
    } else if (action < 5) {
      const code = known?.code ?? "NOBODYSX";
      const typed = random(2) === 0 ? code.toLowerCase() : code;
      got = (action === 3 ? store.approve(typed) : store.reject(typed))?.id;
      wanted = known?.id;
      if (known && action === 3) approved.add(id);
      model = model.filter((one) => one !== known);
    } else {
      time.now += random(HOUR);
      model = model.filter(({ until }) => until > time.now);
    }
    expect(got, `step ${step}`).toBe(wanted);
    expect(model.length).toBeLessThanOrEqual(6);
    expect(store.pending().map(({ code }) => code)).toEqual(model.map(({ code }) => code));
    expect(new Set(store.approved())).toEqual(approved);
  }
  expect(approved.size).toBe(6);
});

test.each([
  ["no JSON", "{"],
  ["half a file", '{"version":1,"requests":[{"id":"U1","co'],
  ["empty", ""],
  ["another version", '{"version":2,"requests":[],"allowFrom":[]}'],
  ["another form", '{"version":1,"requests":{},"allowFrom":{}}'],
  ["a wrong entry", '{"version":1,"requests":[{"id":1}],"allowFrom":[1]}'],
])("a store that is %s is set aside whole, told, and counts as empty", async (_, text) => {
  const home = await temporaryDirectory();
  const directory = join(home, "credentials");
  await mkdir(directory);
  for (const name of ["slack-pairing.json", "slack-allowFrom.json"]) {
    await writeFile(join(directory, name), text);
  }
  const { store, reports } = pairingStore(home);

  expect(store.approved()).toEqual([]);
  expect(store.request("U1")).toMatchObject({ id: "U1" });

  expect(reports).toHaveLength(2);
  for (const { movedTo } of reports) expect(await readFile(movedTo, "utf8")).toBe(text);
  expect(store.pending()).toHaveLength(1);
});

/** A process that asks for and approves ids of its name, one after the other, up to `count` of them. */
function approver(home: string, name: string, count: number) {
  const module = new URL("../../../runtime/gateway/pairing/store.ts", import.meta.url).href;
  const program = `
    const { PairingStore } = await import(${JSON.stringify(module)});
    const store = new PairingStore({ home: process.env.HOME_UNDER_TEST, channel: "slack", clock: Date.now,
      onSetAside: (report) => { throw new Error(JSON.stringify(report)); } });
    for (let n = 0; n < ${count}; n += 1) {
      const id = process.env.NAME + n;
      let request;
      while (!(request = store.request(id))) await new Promise((resolve) => setTimeout(resolve, 1));
      if (store.approve(request.code)?.id !== id) throw new Error("not approved: " + id);
      console.log(id);
    }`;
  return startNode(["--input-type=module", "-e", program], { NAME: name, HOME_UNDER_TEST: home });
}

/** Few enough that on a busy machine none of four waits 5 s for the lock, which would be an error. */
const EACH = 15;

test("processes that request and approve at once lose nothing", async () => {
  const home = await temporaryDirectory();
  const names = ["A", "B", "C", "D"];
  const runs = names.map((name) => approver(home, name, EACH));

  for (const run of runs) expect({ code: await run.exited, stderr: run.stderr() }).toMatchObject({ code: 0 });
  const wanted = names.flatMap((name) => Array.from({ length: EACH }, (_, n) => `${name}${n}`));
  expect((await storeFile(home, "slack-allowFrom.json")).allowFrom.toSorted()).toEqual(wanted.toSorted());
  expect(await storeFile(home, "slack-pairing.json")).toEqual({ version: 1, requests: [] });
});

test("a process killed at any moment leaves no lock, whole files, and all that it had approved", async () => {
  const home = await temporaryDirectory();
  const { store, reports } = pairingStore(home);
  const done: string[] = [];
  for (let round = 0; round < 12; round += 1) {
    const run = approver(home, `R${round}-`, 1_000_000);
    await eventually(() => run.stdout() !== "");
    await new Promise((resolve) => setTimeout(resolve, 7 * round));
    run.kill("SIGKILL");
    await run.exited;
    done.push(...run.stdout().split("\n").slice(0, -1));
    for (const { code } of store.pending()) expect(store.reject(code)).toMatchObject({ code });
  }

  expect(store.approved()).toEqual(expect.arrayContaining(done));
  expect(done.length).toBeGreaterThan(12);
  expect(reports).toEqual([]);
});

test("two command lines at once: different codes are both approved, the same one once", async () => {
  const home = await temporaryDirectory();
  const { store } = pairingStore(home);
  const codes = ["U1", "U2", "U3"].map((id) => store.request(id)?.code ?? "");
  const [one = "", two = "", three = ""] = codes;
  const approve = (code: string) => steward({ STEWARD_HOME: home }, "pairing", "approve", "slack", code);

  const results = await Promise.all([one, two, three, three].map(approve));

  expect(results.map(({ code }) => code).toSorted()).toEqual([0, 0, 0, 1]);
  expect(store.approved().toSorted()).toEqual(["U1", "U2", "U3"]);
  expect(store.pending()).toEqual([]);
});
