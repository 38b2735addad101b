import { expect, test } from "vitest";
import { ChatExports } from "../../../runtime/backups/chat-exports.ts";
import { ChatReturns } from "../../../runtime/backups/chat-returns.ts";
import { CONTROL_ROUTES } from "../../../runtime/contract/control.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const OWN = "steward/generations/00000001-00000001.json";
const THEIRS = "steward/tenants/slack-C1/generations/00000004-00000002";

/** A bucket with keys, a container that answers about its chats, and what was asked. */
function stage(
  keys: string[],
  answers: {
    tenants: string[];
    scheduled?: string[];
    broughtBack?: Record<string, string>;
    shared?: boolean;
  },
) {
  const asked: string[] = [];
  const put: string[] = [];
  const notes = new Map<string, string>([["startedAt", "1"]]);
  const container = { running: false, restored: true, whenDrained: async () => {} };
  const bucket = {
    list: async ({ prefix }: { prefix: string }) => ({
      objects: keys
        .filter((key) => key.startsWith(prefix))
        .map((key) => ({ key, size: 1, uploaded: new Date(0) })),
      truncated: false,
    }),
    put: async (key: string) => void put.push(key),
    get: async () => null,
  };
  const ports = {
    status: async () => ({}),
    control: async (path: string, { method = "GET" }: RequestInit) => {
      asked.push(`${method} ${path}`);
      return path === CONTROL_ROUTES.chats
        ? Response.json({ scheduled: [], broughtBack: {}, ...answers })
        : Response.json({ code: "disk_full", detail: "The disk is full." }, { status: 507 });
    },
  };
  const options = {
    bucket: bucket as never,
    ports,
    notes: {
      read: (name: string) => notes.get(name),
      write: (name: string, value: string) => void notes.set(name, value),
    },
    clock: () => 0,
    log,
  };
  const service = { whileAwake: <T>(work: () => Promise<T>) => work() };
  const exports = new ChatExports({ ...options, container, service });
  const ended: string[] = [];
  const returns = new ChatReturns({ ...options, handOver: async (tenant) => void ended.push(tenant) });
  return { exports, returns, asked, put, notes, container, ports, ended };
}
const MARK = "steward/tenants/slack-C1/tenant.json";

test("the chats with schedules are known to a state alone; a deployment without one starts nothing", async () => {
  const scheduled = ["slack-C7"];
  expect(await stage([OWN], { tenants: [], scheduled }).exports.scheduled()).toEqual(scheduled);
  const none = stage([], { tenants: [], scheduled });
  expect([await none.exports.scheduled(), none.asked]).toEqual([[], []]);
});

test("a deployment without a former state asks no container", async () => {
  const { exports, asked, put } = stage([], { tenants: [] });
  await exports.moveOut("slack-C1");
  expect([asked, put]).toEqual([[], [MARK]]);
});

test("a chat that the former state does not know is moved without a second question", async () => {
  const { exports, asked } = stage([OWN], { tenants: ["slack-C2"] });
  await exports.moveOut("slack-C1");
  await exports.moveOut("slack-C3");
  expect(asked).toEqual(["GET /chats"]);
  exports.forget();
  await exports.moveOut("slack-C3");
  expect(asked).toHaveLength(2);
});

test("a chat that the former state does not know gets the files that every chat may read", async () => {
  const { exports, asked, put } = stage([OWN], { tenants: ["slack-C2"], shared: true });
  for (const tenant of ["slack-C8", "slack-C9"])
    await expect(exports.moveOut(tenant)).rejects.toThrow("The disk is full.");
  expect(asked).toEqual(["GET /chats", "POST /chats/slack-C8", "GET /chats", "POST /chats/slack-C9"]);
  expect(put).toEqual([]);
});

test("a part that was stored before a kill is not made again", async () => {
  const { exports, asked, put } = stage([OWN, `${THEIRS}.json`, `${THEIRS}.tar.zst`], {
    tenants: ["slack-C1"],
  });
  await exports.moveOut("slack-C1");
  expect([asked, put]).toEqual([["GET /chats"], [MARK]]);
});

test("what was brought back is moved again, and a failure leaves the chat unmoved", async () => {
  const broughtBack = { "slack-C1": "00000004-00000002" };
  const { exports, asked, put } = stage([OWN, `${THEIRS}.json`, `${THEIRS}.tar.zst`], {
    tenants: ["slack-C1"],
    broughtBack,
  });
  await expect(exports.moveOut("slack-C1")).rejects.toThrow("The disk is full.");
  expect([asked, put]).toEqual([["GET /chats", "POST /chats/slack-C1"], []]);
});

test("a container that was restarted is not believed to have no chats", async () => {
  const { exports, notes, ports, put } = stage([OWN], { tenants: [] });
  const { control } = ports;
  ports.control = async (...given) => {
    notes.set("startedAt", "2");
    return control(...given);
  };
  await expect(exports.moveOut("slack-C1")).rejects.toThrow("was restarted");
  expect([put, notes.get("chatsHere")]).toEqual([[], undefined]);
});

test("the way back finds the newest backup of each chat, and those that have none yet", async () => {
  const { returns } = stage(
    [
      MARK,
      `${THEIRS}.json`,
      `${THEIRS}.tar.zst`,
      "steward/tenants/slack-C1/generations/00000003-00000009.json",
      "steward/tenants/slack-C2/tenant.json",
      "steward/tenants/slack-C3/duty.json",
      "steward/tenants/slack-C4/generations/00000001-00000001.tar.zst",
      "steward/tenants/approvals.json",
    ],
    { tenants: [] },
  );
  expect([...(await returns.find())]).toEqual([
    ["slack-C1", "00000004-00000002"],
    ["slack-C2", ""],
  ]);
});

test("only chats with something newer are asked to end", async () => {
  const { returns, ended } = stage([], { tenants: [], broughtBack: { "slack-C1": "00000004-00000002" } });
  await returns.mergeAll(
    new Map([
      ["slack-C1", "00000004-00000002"],
      ["slack-C2", "00000001-00000000"],
      ["slack-C3", ""],
    ]),
  );
  expect(ended).toEqual(["slack-C2", "slack-C3"]);
});
