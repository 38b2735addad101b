import { expect, test } from "vitest";
import { GatewayPool } from "../../../runtime/host/tenants/gateway-pool.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** Room for two gateways. A gateway is busy from its start until the test says otherwise. */
function roomForTwo() {
  const gateways = new Map<string, ReturnType<typeof gatewayOf>>();
  const begun: string[] = [];
  let used = 0;
  const gatewayOf = (tenant: string) => ({
    tenant,
    isRunning: false,
    isBusy: false,
    usedAt: 0,
    isDue: false,
    schedule: {
      poll: async (): Promise<boolean> => gateways.get(tenant)?.isDue === true,
    },
    async stop(): Promise<void> {
      this.isRunning = false;
    },
  });
  const gateway = (tenant: string) => {
    const known = gateways.get(tenant) ?? gatewayOf(tenant);
    gateways.set(tenant, known);
    return known;
  };
  const broken = new Set<string>();
  const wants = (tenant: string): Promise<boolean> => {
    gateway(tenant);
    return room.take(tenant, () => {
      Object.assign(gateway(tenant), { isRunning: true, isBusy: true, usedAt: (used += 1) });
      begun.push(tenant);
    });
  };
  const room: GatewayPool = new GatewayPool({
    most: 2,
    gateways: () => gateways.values(),
    begin: async (tenant) => {
      if (broken.has(tenant)) throw new Error("its data is broken");
      return wants(tenant);
    },
    log,
  });
  const running = (): string[] =>
    [...gateways.values()].filter(({ isRunning }) => isRunning).map(({ tenant }) => tenant);
  return { room, wants, gateway, begun, broken, running };
}

test("the gateway that was used longest ago makes room, unless it is in use or soon will be", async () => {
  const { wants, gateway, running } = roomForTwo();
  for (const tenant of ["a", "b"]) expect(await wants(tenant)).toBe(true);
  expect(await wants("c")).toBe(false);
  gateway("a").isBusy = gateway("b").isBusy = false;
  gateway("a").isDue = true;
  expect(await wants("c")).toBe(true);
  expect(running()).toEqual(["a", "c"]);
});

test("as soon as one is idle, the chat that has waited longest is started", async () => {
  const { room, wants, gateway, begun } = roomForTwo();
  for (const tenant of ["a", "b"]) await wants(tenant);
  for (const tenant of ["c", "d", "c"]) expect(await wants(tenant)).toBe(false);
  await room.offer();
  expect(begun).toEqual(["a", "b"]);
  gateway("b").isBusy = false;
  await room.offer();
  expect(begun).toEqual(["a", "b", "c"]);
  // Nobody else takes the room of the next one.
  gateway("a").isBusy = false;
  expect(await wants("e")).toBe(false);
  await room.offer();
  gateway("c").isBusy = false;
  await room.offer();
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
});

test("a chat that cannot start keeps no other waiting", async () => {
  const { room, wants, gateway, begun, broken } = roomForTwo();
  for (const tenant of ["a", "b", "c", "d"]) await wants(tenant);
  broken.add("c");
  gateway("a").isBusy = false;
  await room.offer();
  expect(begun).toEqual(["a", "b", "d"]);
});

test("after its end nothing is started", async () => {
  const { room, wants, begun } = roomForTwo();
  room.close();
  expect(await wants("a")).toBe(false);
  expect(begun).toEqual([]);
});
