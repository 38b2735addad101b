import { describe, expect, test } from "vitest";
import type { GrantedRole } from "../../../runtime/contract/config/rights.ts";
import {
  approvedOperators,
  approvePairing,
  grantedRole,
  grantRole,
  type PairingChange,
  type PairingList,
  pendingRequests,
  rejectPairing,
  requestPairing,
  revokeAccess,
} from "../../../runtime/shared/pairing-list.ts";
import { generator } from "../../support/random.ts";

const NOW = Date.parse("2026-11-20T10:00:00.000Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EMPTY: PairingList = { requests: [], allowFrom: [], operators: [] };

/** A list that a rule cannot change in place. */
function frozen({ requests, allowFrom, operators }: PairingList): PairingList {
  for (const request of requests) Object.freeze(request);
  for (const list of [requests, allowFrom, operators]) Object.freeze(list);
  return Object.freeze({ requests, allowFrom, operators });
}

const changed = (list: PairingList, change: PairingChange = {}) => frozen({ ...list, ...change });

/** Adds a request and returns the list and its code; the code is empty if no place was free. */
function asked(list: PairingList, id: string, now = NOW, meta?: Record<string, string>) {
  const result = requestPairing(list, { id, ...(meta && { meta }) }, { now });
  return { list: changed(list, result?.change), code: result?.request.code ?? "", ...result };
}

const filled = (ids: number, now = NOW) =>
  Array.from({ length: ids }, (_, index) => `U${index}`).reduce(
    (list, id) => asked(list, id, now).list,
    EMPTY,
  );

describe("a request", () => {
  test("gets a code from fair bytes only: 253 to 255 are of an incomplete round", () => {
    const bytes = [255, 0, 253, 22, 23, 254, 252, 46, 1, 2, 3, 99];
    const randomBytes = () => Uint8Array.of(bytes.shift() ?? 0);
    const result = requestPairing(EMPTY, { id: "U1" }, { now: NOW, randomBytes });
    expect(result?.request).toEqual({
      id: "U1",
      code: "AZAZABCD",
      createdAt: "2026-11-20T10:00:00.000Z",
      lastSeenAt: "2026-11-20T10:00:00.000Z",
      meta: {},
    });
    expect(result?.change).toEqual({ requests: [result?.request] });
    expect(bytes).toEqual([99]);
  });

  test("gets letters without I, L and O from Web Crypto, and every other letter occurs", () => {
    const codes = Array.from({ length: 300 }, (_, index) => asked(EMPTY, `U${index}`).code);
    for (const code of codes) expect(code).toMatch(/^[A-HJKMNP-Z]{8}$/);
    expect(new Set(codes).size).toBe(codes.length);
    expect(new Set(codes.join("")).size).toBe(23);
  });

  test("keeps its code, place, expiry and details when its sender asks again", () => {
    const first = asked(filled(2), "U2", NOW, { username: "ada" });
    const later = asked(asked(first.list, "U3").list, "U2", NOW + MINUTE, { firstName: "Ada" });
    expect(later.list.requests.map(({ id }) => id)).toEqual(["U0", "U1", "U2", "U3"]);
    expect(later.request).toEqual({
      ...first.request,
      lastSeenAt: "2026-11-20T10:01:00.000Z",
      meta: { username: "ada", firstName: "Ada" },
    });
  });

  test("expires an hour after its creation, to the millisecond", () => {
    const { list, code } = asked(EMPTY, "U1");
    const again = asked(list, "U1", NOW + HOUR - 1).list;
    expect(pendingRequests(again, NOW + HOUR - 1)).toHaveLength(1);
    expect(pendingRequests(again, NOW + HOUR)).toEqual([]);
    expect(approvePairing(again, code, "person", NOW + HOUR)).toBeUndefined();
    expect(rejectPairing(again, code, NOW + HOUR)).toBeUndefined();
    expect(asked(again, "U1", NOW + HOUR).code).not.toBe(code);
    // The next change drops it from the list.
    expect(asked(again, "U2", NOW + HOUR).list.requests.map(({ id }) => id)).toEqual(["U2"]);
  });

  test("finds no place among twenty; after ten minutes the oldest gives way", () => {
    const full = filled(20);
    for (const age of [0, 10 * MINUTE - 1]) {
      expect(requestPairing(full, { id: "ULATE" }, { now: NOW + age })).toBeUndefined();
      expect(asked(full, "U7", NOW + age).list.requests).toHaveLength(20);
    }
    const { list } = asked(full, "ULATE", NOW + 10 * MINUTE);
    expect(list.requests.map(({ id }) => id)).toEqual([
      ...full.requests.slice(1).map(({ id }) => id),
      "ULATE",
    ]);
    // The one whose place is gone takes the next place.
    expect(asked(list, "U0", NOW + 10 * MINUTE).list.requests.at(-1)).toMatchObject({ id: "U0" });
  });

  test("does not count expired ones as places", () => {
    expect(asked(filled(20), "ULATE", NOW + HOUR).list.requests).toHaveLength(1);
  });
});

describe("a role", () => {
  const list = frozen({ requests: [], allowFrom: ["U1", "U2"], operators: ["U2", "U3"] });

  test("is granted by an approval only", () => {
    expect(["U1", "U2", "U3", "U4"].map((id) => grantedRole(list, id))).toEqual([
      "person",
      "operator",
      undefined,
      undefined,
    ]);
    expect(approvedOperators(list)).toEqual(["U2"]);
  });

  test("of an earlier approval does not come back", () => {
    const { list: waiting, code } = asked(list, "U3");
    const approved = changed(
      waiting,
      approvePairing(waiting, ` ${code.toLowerCase()} `, "person", NOW)?.change,
    );
    expect(grantedRole(approved, "U3")).toBe("person");
    expect(approved).toEqual({ requests: [], allowFrom: ["U1", "U2", "U3"], operators: ["U2"] });
  });

  test("is changed by a grant, which settles the sender's request too", () => {
    const waiting = asked(list, "U1").list;
    const { change } = grantRole(waiting, "U1", "operator", NOW);
    expect(changed(waiting, change)).toEqual({
      requests: [],
      allowFrom: ["U1", "U2"],
      operators: ["U2", "U3", "U1"],
    });
  });

  test("ends with a revocation", () => {
    expect(revokeAccess(list, "U2")).toEqual({ change: { allowFrom: ["U1"], operators: ["U3"] } });
    expect(revokeAccess(list, "U1")).toEqual({ change: { allowFrom: ["U2"] } });
    expect(revokeAccess(list, "U3")).toBeUndefined();
  });

  test("is decided for the sender of the code alone", () => {
    const one = asked(EMPTY, "U1");
    const two = asked(one.list, "U2");
    for (const code of ["", "ABCDEFGH", `${one.code}${two.code}`, one.code.slice(1)]) {
      expect(approvePairing(two.list, code, "operator", NOW)).toBeUndefined();
      expect(rejectPairing(two.list, code, NOW)).toBeUndefined();
    }
    expect(rejectPairing(two.list, two.code, NOW)).toEqual({
      request: two.request,
      change: { requests: [one.request] },
    });
  });
});

const RANK = { none: 0, person: 1, operator: 2 };
const rankOf = (list: PairingList, id: string) => RANK[grantedRole(list, id) ?? "none"];

test("any order of changes agrees with a simple model, and a crash within one grants nothing more", () => {
  const random = generator(12);
  const below = (most: number) => Math.floor(random() * most);
  let [list, now] = [EMPTY, NOW];
  let waiting: { id: string; code: string; until: number }[] = [];
  const roles = new Map<string, GrantedRole>();
  for (let step = 0; step < 5_000; step += 1) {
    const id = `U${below(30)}`;
    const role = below(2) === 0 ? "person" : "operator";
    const known = waiting.find((one) => one.id === id);
    const code = known?.code ?? "NOBODYSX";
    let change: PairingChange | undefined;
    let isChange = true;
    switch (below(8)) {
      case 0: {
        now += below(20 * MINUTE);
        waiting = waiting.filter(({ until }) => until > now);
        isChange = false;
        break;
      }
      case 1:
        ({ change } = approvePairing(list, code, role, now) ?? {});
        isChange = known !== undefined;
        if (known) roles.set(id, role);
        waiting = waiting.filter((one) => one !== known);
        break;
      case 2:
        ({ change } = rejectPairing(list, code, now) ?? {});
        isChange = known !== undefined;
        waiting = waiting.filter((one) => one !== known);
        break;
      case 3:
        ({ change } = grantRole(list, id, role, now));
        roles.set(id, role);
        waiting = waiting.filter((one) => one !== known);
        break;
      case 4:
        ({ change } = revokeAccess(list, id) ?? {});
        isChange = roles.delete(id);
        break;
      default: {
        const result = requestPairing(list, { id }, { now });
        change = result?.change;
        const [oldest] = waiting;
        const isFree = known !== undefined || waiting.length < 20;
        const givesWay = oldest !== undefined && now - (oldest.until - HOUR) >= 10 * MINUTE;
        isChange = isFree || givesWay;
        if (result === undefined || known) break;
        if (!isFree) waiting.shift();
        waiting.push({ id, code: result.request.code, until: now + HOUR });
      }
    }
    expect(change !== undefined, `step ${step}`).toBe(isChange);
    const after = changed(list, change);
    // Written one after the other, in the order of PairingChange.
    let partly = list;
    const isPending = (one: PairingList) => pendingRequests(one, now).some((request) => request.id === id);
    for (const name of ["operators", "allowFrom", "requests"] as const) {
      if (change?.[name]) partly = changed(partly, { [name]: change[name] });
      expect(rankOf(partly, id)).toBeLessThanOrEqual(Math.max(rankOf(list, id), rankOf(after, id)));
      // A request that was not settled completely can be settled again.
      expect(isPending(partly)).toBe(name === "requests" ? isPending(after) : isPending(list));
    }
    list = after;
    expect(pendingRequests(list, now).map((one) => one.code)).toEqual(waiting.map((one) => one.code));
    expect(new Map(list.allowFrom.map((one) => [one, grantedRole(list, one)]))).toEqual(roles);
  }
  expect(roles.size).toBeGreaterThan(5);
});
