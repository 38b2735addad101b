import { platformSchema } from "../../../runtime/contract/delivery.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { NameEntry, PortRequest } from "../../../runtime/edge/ports.ts";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const REQUEST_ID = "3f1c2a9e-0000-4000-8000-00000000000a";
const DEVICE_ID = "ab".repeat(32);
const REVOKED_ID = "cd".repeat(32);

const CODES = { code: "ABCDEFGH", id: "U123", meta: { username: "<b>Ann</b>\u202E" } };
const SENDER = { ...CODES, createdAt: new Date(NOW - 5 * 60_000).toISOString() };
const OLD = { ...CODES, code: "ZZZZZZZZ", createdAt: new Date(NOW - 61 * 60_000).toISOString() };
const device = (deviceId: string, displayName: string, token: object) => ({
  deviceId,
  displayName,
  role: "chat",
  approvedAtMs: NOW - 86_400_000,
  tokens: { chat: token },
});
const PAIRING = {
  channels: [{ channel: "slack", requests: [SENDER], approved: ["U777", "U778"], operators: ["U778"] }],
};
const DEVICES = {
  pending: [
    {
      requestId: REQUEST_ID,
      deviceId: DEVICE_ID,
      displayName: "Firefox on Linux",
      remoteIp: "192.0.2.7",
      ts: NOW - 1_000,
    },
  ],
  paired: [
    device(DEVICE_ID, "Chrome on Mac", {}),
    device(REVOKED_ID, "Safari on iPhone", { revokedAtMs: NOW - 1_000 }),
  ],
};

type Answer = (line: string) => unknown;
const operator = signedIn();

/** The command line's answers of a container in order. */
const usual: Answer = (line) => {
  if (line === "pairing list") return PAIRING;
  return line === "devices list" ? DEVICES : {};
};

/** The edge over a container whose command line answers so; `undefined` never comes to an answer. */
async function edge(answer: Answer = usual, state: "ready" | "stopped" = "ready") {
  const { jwk, headers } = await operator;
  const { answers, lines } = operationAnswers(answer);
  const fixture = edgeFixture({ jwk, state, answers });
  const look = (path = "/_admin/devices") => fixture.app.request(`${HOST}${path}`, { headers });
  const text = async (path?: string) => (await look(path)).text();
  const post = (action: string, body: string, others: Record<string, string> = { origin: HOST }) =>
    fixture.app.request(`${HOST}${action.startsWith("/") ? action : `/_admin/devices/${action}`}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded", ...others },
      body,
    });
  return { ...fixture, lines, look, text, post };
}

/** Lets time pass once so many lines were asked; what an identity takes to check is real time. */
async function passes(milliseconds: number, lines: readonly string[], asked: number) {
  await vi.waitFor(() => expect(lines).toHaveLength(asked), { timeout: 20_000 });
  await vi.advanceTimersByTimeAsync(milliseconds);
}

afterEach(() => void vi.useRealTimers());

describe("GET /_admin/devices", () => {
  it("lists who waits on every platform, and the devices, in one page", async () => {
    const { text, lines } = await edge();
    const page = await text();
    expect(lines.sort()).toEqual(["devices list", "pairing list"]);
    for (const shown of ["Waiting for approval (2)", "ABCDEFGH", "U123", "5 minutes ago"]) {
      expect(page).toContain(shown);
    }
    for (const shown of ["Firefox on Linux", "192.0.2.7", "Chrome on Mac", "1 day ago", "Approve all 2"]) {
      expect(page).toContain(shown);
    }
    expect(page).toContain('value="slack:ABCDEFGH"');
    expect(page).toContain(`value="device:${REQUEST_ID}"`);
    expect(page).toContain("steward pairing approve slack ABCDEFGH");
    expect(page).toContain("/debug/cli?cmd=pairing approve slack ABCDEFGH");
  });

  it("shows a stranger's name as text, without what turns the text around", async () => {
    const page = await (await edge()).text();
    expect(page).toContain("<bdi>&lt;b&gt;Ann&lt;/b&gt;</bdi>");
    expect(page).not.toContain("\u202E");
  });

  it("offers to revoke what is approved, and only that", async () => {
    const page = await (await edge()).text();
    expect(page).toContain(`name="device" value="${DEVICE_ID}"`);
    expect(page).not.toMatch(new RegExp(`(?:value="|device:)${REVOKED_ID}`));
    expect(page).toContain("Safari on iPhone");
  });

  it("wakes no stopped container, and offers to", async () => {
    const { text, requests, wakes, post } = await edge(usual, "stopped");
    expect(await text()).toContain("Wake now");
    expect([...requests, ...wakes]).toEqual([]);
    const response = await post("/_admin/wake", "page=%2F_admin%2Fdevices");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/_admin/devices?done=waking"]);
    expect(wakes).toEqual(["operator"]);
    for (const wrong of ["https%3A%2F%2Fevil.example", "%2F_admin%2Fnowhere", "%2F%2Fevil.example", ""])
      expect((await post("/_admin/wake", `page=${wrong}`)).status).toBe(400);
    expect(await text("/_admin/devices?done=waking")).toContain('http-equiv="refresh"');
  });

  it("offers a person's rights and an operator's to each request, and the other role to each approved one", async () => {
    const { text } = await edge();
    const page = await text();
    for (const request of ["slack:ABCDEFGH", `device:${REQUEST_ID}`]) {
      expect(page).toContain(`name="request" value="${request}"/>`);
      expect(page).toContain(`name="request" value="${request}:operator"/>`);
    }
    expect(page).toContain("Approve as person</button>");
    expect(page).toContain("Approve as operator</button>");
    expect(page).toContain('value="slack:U777:operator"');
    expect(page).toContain('value="slack:U778:person"');
    expect(page).toContain(`value="device:${DEVICE_ID}:operator"`);
    expect(page).toContain("Approve all 2 as persons");
  });

  it("shows the six who have waited longest, browsers among them, counts all, and lets in those shown", async () => {
    const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
    const codes = Array.from({ length: 20 }, (_, index) => `ABCDEFG${String.fromCodePoint(65 + index)}`);
    const requests = codes.map((code, index) => ({ ...SENDER, code, id: `U${index}`, createdAt: at(index) }));
    const ids = Array.from({ length: 5 }, (_, index) => `${REQUEST_ID.slice(0, -1)}${index}`);
    const pending = ids.map((requestId, index) => ({
      ...DEVICES.pending[0],
      requestId,
      ts: NOW - index * 1_000,
    }));
    const { text } = await edge((line) =>
      line === "pairing list"
        ? { channels: [{ ...PAIRING.channels[0], requests }] }
        : { ...DEVICES, pending },
    );
    for (const path of ["/_admin/devices", "/_admin/"]) {
      const page = await text(path);
      expect(page).toContain("Waiting for approval (25)");
      expect(page).toContain("19 more are waiting and appear once these are approved or rejected.");
      const [, all = ""] =
        /<form[^>]*>((?:<input[^>]*>)+)<button[^>]*>Approve these 6 as persons/.exec(page) ?? [];
      expect([...all.matchAll(/value="([^"]+)"/g)].map(([, value]) => value)).toEqual([
        ...codes
          .slice(-4)
          .toReversed()
          .map((code) => `slack:${code}`),
        ...ids
          .slice(-2)
          .toReversed()
          .map((id) => `device:${id}`),
      ]);
      expect(page.match(/aria-label="Reject /g)).toHaveLength(6);
    }
  });

  it("lists approved people, and revokes one", async () => {
    const { text, post, lines } = await edge();
    expect(await text()).toMatch(/People \(2\)[\s\S]*title="slack:U777"[\s\S]*<bdi>U777<\/bdi>/);
    const answer = await post("revoke-person", "person=slack%3AU777");
    expect(answer.headers.get("location")).toBe("/_admin/devices?done=removed");
    expect(lines.at(-1)).toBe("pairing revoke slack U777");
    for (const wrong of ["irc:U1", "slack:", "slack:a b", "slack:--help\n"]) {
      expect((await post("revoke-person", `person=${encodeURIComponent(wrong)}`)).status).toBe(400);
    }
  });

  it("names people as the directory does, ordered and searched by name, each with an id to copy", async () => {
    const { jwk, headers } = await operator;
    const entry = (id: string, name: string): NameEntry => ({
      key: `slack:${id}`,
      kind: "person",
      platform: "slack",
      id,
      hue: 30,
      name,
      firstSeenAt: new Date(NOW - 9e8).toISOString(),
      lastSeenAt: new Date(NOW).toISOString(),
    });
    const named = [entry("U777", "Zoë"), entry("U778", "Ada"), entry("U123", "Grace")];
    const { app } = edgeFixture({ jwk, named, answers: operationAnswers(usual).answers });
    const namesAt = async (query: string) => {
      const text = await (await app.request(`${HOST}/_admin/devices${query}`, { headers })).text();
      const names = [...text.matchAll(/<bdi>([^<]+)</g)].map(([, name]) => name);
      return { text, names };
    };
    const { text, names } = await namesAt("?sort=name");
    expect(names).toEqual(["Grace", "Firefox on Linux", "Ada", "Chrome on Mac", "Safari on iPhone", "Zoë"]);
    expect(text).toContain('value="slack:U778" aria-label="Copy slack:U778"');
    expect(text).toContain('aria-sort="ascending"><a href="/_admin/devices?sort=-name">Name');
    expect((await namesAt("?sort=-name")).names[2]).toBe("Zoë");
    expect((await namesAt("?q=zo%C3%AB")).names).toEqual(["Grace", "Firefox on Linux", "Zoë"]);
    expect((await namesAt("?sort=nothing")).names[2]).toBe("Zoë");
    expect((await namesAt("?sort=<b>")).text).toContain("query_invalid");
  });

  it("shows what the files tell within 10 s where the command line hangs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { text, lines } = await edge((line) => {
      if (line === "cat credentials/slack-pairing.json")
        return { text: JSON.stringify({ version: 1, requests: [SENDER, OLD] }) };
      return line === "cat credentials/telegram-pairing.json" ? { error: "none" } : undefined;
    });
    const page = text();
    await passes(7_000, lines, 2);
    // The files of each platform are read.
    await passes(3_000, lines, 2 + platformSchema.options.length);
    const shown = await page;
    expect(shown).toContain("devices_unavailable");
    expect(shown).toContain("/debug/cli?cmd=cat credentials/slack-pairing.json");
    expect(shown).toContain('<details open="">');
    expect(shown).toContain("steward pairing approve slack ABCDEFGH");
    expect(shown).not.toContain(OLD.code);
    expect(shown).toContain("None known.");
  });

  it("tells the command line's own error, and keeps the other list", async () => {
    const failure = { error: { code: "store_corrupt", message: "pending.json is damaged" } };
    const { text } = await edge((line) => (line.startsWith("devices") ? failure : usual(line)));
    const page = await text();
    expect(page).toContain("pending.json is damaged");
    expect(page).toContain("ABCDEFGH");
  });

  it("takes a list of another form for a failure", async () => {
    const { text } = await edge((line) => (line.startsWith("pairing") ? { channels: "none" } : usual(line)));
    expect(await text()).toContain("command_failed");
  });

  it("shows no text out of its address", async () => {
    const { text } = await edge();
    for (const query of ["?done=hello", "?problem=hello", "?done=approved&text=hello"]) {
      const page = await text(`/_admin/devices${query}`);
      expect([query, page.includes("hello"), page.includes("<aside")]).toEqual([query, false, false]);
    }
    expect(await text("/_admin/devices?done=approved")).toContain("<p>Approved, but not as an operator.");
    expect(await text("/_admin/devices?problem=pairing_code_unknown")).toContain('role="alert"');
  });
});

describe("POST /_admin/devices", () => {
  it.each([
    ["approve", "request=slack:ABCDEFGH", "pairing approve slack ABCDEFGH", "approved"],
    [
      "approve",
      "request=slack:ABCDEFGH:operator",
      "pairing approve slack ABCDEFGH --operator",
      "approvedOperator",
    ],
    [
      "approve",
      `request=device:${REQUEST_ID}:operator`,
      `devices approve ${REQUEST_ID} --operator`,
      "approvedOperator",
    ],
    ["grant", "grant=slack:U777:operator", "pairing grant slack U777 operator", "granted"],
    ["grant", `grant=device:${DEVICE_ID}:person`, `devices grant ${DEVICE_ID} person`, "granted"],
    ["reject", "request=telegram:ABCDEFGH", "pairing reject telegram ABCDEFGH", "rejected"],
    ["approve", `request=device:${REQUEST_ID}`, `devices approve ${REQUEST_ID}`, "approved"],
    ["reject", `request=device:${REQUEST_ID}`, `devices reject ${REQUEST_ID}`, "rejected"],
    ["revoke", `device=${DEVICE_ID}`, `devices revoke ${DEVICE_ID}`, "revoked"],
  ])("%s %s", async (action, body, line, done) => {
    const { post, lines, logged } = await edge();
    const response = await post(action, body);
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      `/_admin/devices?done=${done}`,
    ]);
    expect(lines).toEqual([line]);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({
      by: "operator@example.com",
      command: line,
    });
  });

  it.each([
    ["request=slack:ABCDEFGH:operator", { approved: "U777" }, "pairing slack U777 --operator"],
    [`request=device:${REQUEST_ID}`, { approved: { deviceId: DEVICE_ID } }, `devices ${DEVICE_ID}`],
  ])("records who was approved by %s", async (body, answer, detail) => {
    const { post, text } = await edge((line) => (line.includes("approve") ? answer : usual(line)));
    await post("approve", body);
    expect(await text("/_admin/activity")).toContain(`<code>${detail}</code>`);
  });

  it("approves all that the page showed, and tells what failed after the others", async () => {
    const gone = { error: { code: "pairing_code_unknown", message: "gone" } };
    const { post, lines } = await edge((line) => (line.includes("slack") ? gone : {}));
    const response = await post("approve", `request=slack:ABCDEFGH&request=device:${REQUEST_ID}`);
    expect(response.headers.get("location")).toBe("/_admin/devices?problem=pairing_code_unknown");
    expect(lines).toHaveLength(2);
  });

  it("takes a command that ended with an error of no known code for a failure", async () => {
    const { post } = await edge(() => ({ error: { code: "other", message: "no" } }));
    const response = await post("approve", "request=slack:ABCDEFGH");
    expect(response.headers.get("location")).toBe("/_admin/devices?problem=command_failed");
  });

  it("gives up after 10 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { post, lines } = await edge(() => undefined);
    const response = post("approve", "request=slack:ABCDEFGH&request=slack:BCDEFGHA");
    await passes(10_000, lines, 1);
    expect((await response).headers.get("location")).toBe("/_admin/devices?problem=command_timed_out");
    expect(lines).toHaveLength(1);
  });

  it.each([
    ["approve", ""],
    ["approve", "request="],
    ["approve", "request=irc:ABCDEFGH"],
    ["approve", "request=slack:abc"],
    ["approve", "request=slack:ABCDEFGH:person"],
    ["approve", "request=slack:ABCDEFGH:--json"],
    ["reject", "request=slack:ABCDEFGH:operator"],
    ["grant", "grant=slack:U777"],
    ["grant", "grant=slack:U777:guest"],
    ["grant", "grant=irc:U777:operator"],
    ["grant", "grant=slack:--json:operator:person"],
    ["approve", "request=slack:ABCDEFGHA"],
    ["approve", "request=slack:ABCDEFGH--json"],
    ["approve", "request=slack:ABCDEFGH%0Ax"],
    ["approve", "request=device:--help"],
    ["approve", "request=slack:ABCDEFGH&request=x"],
    ["approve", "request=slack:ABCDEFGH&all=true"],
    ["reject", "device=x"],
    ["revoke", `device=${DEVICE_ID.slice(0, 12)}`],
    ["revoke", `request=slack:ABCDEFGH`],
  ])("refuses %s with %j, and runs nothing", async (action, body) => {
    const { post, lines } = await edge();
    expect(await (await post(action, body)).json()).toMatchObject({ status: 400, code: "form_invalid" });
    expect(lines).toEqual([]);
  });

  it.each(["approve", "reject", "revoke", "wake"])("refuses %s from another site's page", async (action) => {
    const { post, requests } = await edge();
    const body = action === "revoke" ? `device=${DEVICE_ID}` : "request=slack:ABCDEFGH";
    const response = await post(action, body, { "sec-fetch-site": "cross-site" });
    expect([response.status, requests]).toEqual([403, []]);
  });
});

describe("the overview", () => {
  it("lists who waits, with buttons, and the devices", async () => {
    const page = await (await edge()).text("/_admin/");
    expect(page).toContain("Waiting for approval (2)");
    expect(page).toContain('value="slack:ABCDEFGH"');
    expect(page).toMatch(/Browsers \(\d+\)/);
    const { text, lines } = await edge(usual, "stopped");
    expect(await text("/_admin/")).toContain("Requests for access are available once the container has run");
    expect(lines).toEqual([]);
  });

  it("does not wait for a command line that hangs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { text, lines } = await edge(() => undefined);
    const page = text("/_admin/");
    await passes(3_000, lines, 2);
    const shown = await page;
    expect(shown).toContain("Requests for access are available once the container has run");
    expect(shown).toContain("command_timed_out");
    // Operations that still run leave a slot for the next one of the operator.
    expect(lines.sort()).toEqual(["devices list", "pairing list"]);
  });

  it("never asks for more than three lists at the same time", async () => {
    const known = operationAnswers(usual).answers["/operations"];
    let running = 0;
    let most = 0;
    const slow = async (request: PortRequest) => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return known(request);
    };
    const { jwk, headers } = await operator;
    const { app, requests } = edgeFixture({ jwk, answers: { "/operations": slow } });
    await app.request(`${HOST}/_admin/`, { headers });
    expect(requests.filter(({ request }) => request.path === "/operations")).toHaveLength(5);
    expect(most).toBeLessThanOrEqual(3);
  });

  it("tells how old its list is while the container does not answer, also if nobody waited then", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const at = "2026-11-18T10:00:00.000Z";
    const text = JSON.stringify({ senders: [], requests: [], devices: [], people: [] });
    const { jwk, headers } = await operator;
    const { answers, lines } = operationAnswers(() => undefined);
    const { app } = edgeFixture({ jwk, answers, remembered: [["access", { at, text }]] });
    const page = Promise.resolve(app.request(`${HOST}/_admin/`, { headers })).then((one) => one.text());
    await passes(3_000, lines, 2);
    expect(await page).toMatch(
      new RegExp(`command_timed_out[^]*As of <time datetime="${at}">[^]*Nobody is waiting`),
    );
  });
});
