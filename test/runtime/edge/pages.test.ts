import { describe, expect, it } from "vitest";
import { ERRORS, reason } from "../../../runtime/contract/errors.ts";
import type { ColdStart } from "../../../runtime/contract/cold-starts.ts";
import type { SandboxStatus } from "../../../runtime/contract/control.ts";
import { createSigner, EDGE_BUNDLE, edgeFixture, NOW } from "../../support/edge.ts";

const HTML = { headers: { accept: "text/html" } };

describe("GET /", () => {
  it("tells what this is while the gateway is ready", async () => {
    const response = await edgeFixture().app.request("/");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ name: "steward", state: "ready" });
    const page = await edgeFixture().app.request("/", HTML);
    expect(await page.text()).toContain("The gateway is up");
  });

  it.each(["starting", "stopped", "crash-looping"] as const)(
    "answers 502 with Retry-After while it is %s",
    async (state) => {
      const response = await edgeFixture({ state }).app.request("/");
      expect(response.status).toBe(502);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ status: 502, code: "gateway_not_ready" });
      const page = await edgeFixture({ state }).app.request("/", HTML);
      expect(page.status).toBe(502);
      expect(await page.text()).toContain('http-equiv="refresh"');
    },
  );

  it.each([
    ["starting", 2],
    ["stopped", 2],
    ["crash-looping", 30],
  ] as const)("is loaded again while it is %s after %i s", async (state, seconds) => {
    const response = await edgeFixture({ state }).app.request("/", HTML);
    expect(response.headers.get("retry-after")).toBe(`${seconds}`);
    expect(await response.text()).toContain(`http-equiv="refresh" content="${seconds}"`);
  });

  it("tells everyone the kind of cause and the fix, and no path or name of the config", async () => {
    const status = { reason: reason("config_invalid", '- channels.telegram: Unrecognized key: "<dm>"') };
    const { app } = edgeFixture({ state: "crash-looping", status });
    const { cause } = ERRORS.config_invalid;
    const answer = await (await app.request("/")).json();
    expect(answer).toMatchObject({ status: 502, code: "config_invalid", detail: cause });
    const text = await (await app.request("/", HTML)).text();
    expect(text).toContain(cause);
    expect(text).not.toContain("telegram");
    expect(text).toContain("Correct or delete the config file");
  });

  it("wakes a stopped container, and only that one", async () => {
    const wakes = async (state: "stopped" | "starting" | "ready") => {
      const { app, wakes: asked } = edgeFixture({ state });
      await app.request("/");
      return asked;
    };
    expect(await Promise.all([wakes("stopped"), wakes("starting"), wakes("ready")])).toEqual([
      ["visitor"],
      [],
      [],
    ]);
  });

  it("shows a visitor that the container is being woken", async () => {
    const woken = await (await edgeFixture({ state: "stopped" }).app.request("/", HTML)).text();
    expect(woken).toContain("The gateway is starting");
    const refused = edgeFixture({ state: "stopped", grantsWake: false });
    expect(await (await refused.app.request("/", HTML)).text()).toContain("asleep; a message wakes it");
  });

  it("asks a visitor to come back later whose wish to wake it was not granted", async () => {
    const response = await edgeFixture({ state: "stopped", grantsWake: false }).app.request("/");
    expect(response.headers.get("retry-after")).toBe("600");
  });
});

describe("the wait page while it starts", () => {
  const at = (msAgo: number) => new Date(NOW - msAgo).toISOString();
  const EARLIER: ColdStart[] = [500, 90_000, 600, 700, 400].map((ms, index) => ({
    at: at(3_600_000 * (index + 1)),
    ms,
    ended: ms === 90_000 ? "restore_failed" : "ready",
  }));
  const wait = async (status: Partial<SandboxStatus>) =>
    (await edgeFixture({ state: "starting", status }).app.request("/", HTML)).text();

  it("measures it against the median of the earlier ones", async () => {
    const start = { at: at(330), phase: "starting" } as const;
    const page = await wait({ start, coldStarts: EARLIER });
    expect(page).toContain("Starting for 0.3 s; usually ready after 0.6 s.");
    expect(page).toMatch(/<progress\s+aria-label="Start"\s+max="550"\s+value="330"/);
    expect(page).not.toContain("longer than usual");
  });

  it("claims no progress beyond the usual, nor without an earlier start", async () => {
    const start = { at: at(1_200), phase: "restoring" } as const;
    const late = await wait({ start, coldStarts: EARLIER });
    expect(late).toContain("Starting for 1.2 s, restoring its state; usually ready after 0.6 s.");
    expect(late).toContain("This one takes longer than usual.");
    expect(late).toContain('<progress aria-label="Start"></progress>');
    const first = await wait({ start, coldStarts: [EARLIER[1] as ColdStart] });
    expect(first).toContain("no earlier start for comparison.");
    expect(first).toContain('<progress aria-label="Start"></progress>');
  });

  it("tells that it has crashed and why, without a measure", async () => {
    const start = { at: at(1_200), phase: "crashed" } as const;
    const page = await wait({ start, coldStarts: EARLIER, reason: reason("crash_looping", "It exited.") });
    expect(page).toContain("crashed and restarts automatically");
    expect(page).toContain(ERRORS.crash_looping.cause);
    expect(page).not.toContain("It exited.");
    expect(page).not.toContain("<progress");
  });

  it("begins at nothing for a container that this visit wakes", async () => {
    const edge = edgeFixture({ state: "stopped", status: { coldStarts: EARLIER } });
    const page = await (await edge.app.request("/", HTML)).text();
    expect(page).toMatch(/Starting for 0\.0 s[\s\S]*max="550"\s+value="0"/);
    const refused = edgeFixture({ state: "stopped", grantsWake: false, status: { coldStarts: EARLIER } });
    expect(await (await refused.app.request("/", HTML)).text()).not.toContain("<progress");
  });
});

describe("health", () => {
  it("is constant on /healthz and wakes nothing", async () => {
    const { app, wakes } = edgeFixture({ state: "stopped" });
    const response = await app.request("/healthz");
    expect([response.status, await response.text(), wakes]).toEqual([200, "ok", []]);
  });

  it("is the gateway's on /readyz and wakes nothing", async () => {
    const { app, wakes } = edgeFixture({ state: "stopped" });
    const response = await app.request("/readyz");
    expect([response.status, wakes]).toEqual([503, []]);
    expect(await response.json()).toMatchObject({ state: "stopped", bundle: EDGE_BUNDLE });
    expect((await edgeFixture().app.request("/readyz")).status).toBe(200);
  });
});

describe("with an identity", () => {
  const signedIn = async () => {
    const { jwk, sign } = await createSigner();
    return { jwk, init: { headers: { "cf-access-jwt-assertion": await sign() } } };
  };

  it("shows the overview in full without its script, and under a policy that allows that one alone", async () => {
    const { jwk, init } = await signedIn();
    const response = await edgeFixture({ jwk }).app.request("/_admin/", init);
    const text = await response.text();
    expect(text).toContain("operator@example.com");
    expect(text).toMatch(/gateway<\/dt>\s*<dd>running, pid 7, 0 restarts/);
    expect(text.match(/<script[^>]*>[^<]*/g)).toEqual(['<script type="module" src="/assets/live.js">']);
    expect(text).not.toContain("<style");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/,
    );
  });

  it("tells what a platform refuses, with the fix, and when the next schedule is due", async () => {
    const { jwk, init } = await signedIn();
    const text = await (await edgeFixture({ jwk }).app.request("/_admin/", init)).text();
    expect(text).toContain("slack_token_expired");
    expect(text).toContain("Reinstall the app in the workspace");
    const starting = edgeFixture({ jwk, state: "starting" });
    expect(await (await starting.app.request("/_admin/", init)).text()).not.toContain(
      "<h2>Channels and models</h2>",
    );
  });

  it("lists the last starts with how they ended", async () => {
    const { jwk, init } = await signedIn();
    const coldStarts: ColdStart[] = [
      { at: new Date(NOW - 120_000).toISOString(), ms: 612, ended: "ready" },
      { at: new Date(NOW - 240_000).toISOString(), ms: 99, ended: "config_invalid" },
    ];
    const { app } = edgeFixture({ jwk, status: { coldStarts } });
    const text = await (await app.request("/_admin/", init)).text();
    expect(text).toContain("Last starts: 2");
    expect(text).toMatch(/2 minutes ago[\s\S]*612 ms[\s\S]*ready[\s\S]*99 ms[\s\S]*config_invalid/);
  });

  it("tells how much of the day the container is awake, where it sleeps and once that is known", async () => {
    const { jwk, init } = await signedIn();
    const overview = async (status: Partial<SandboxStatus>) =>
      (await edgeFixture({ jwk, status }).app.request("/_admin/", init)).text();
    const duty = { measuredHours: 300, awakeHours: 3.42, startsADay: 9 };
    expect(await overview({ duty })).toMatch(
      /Awake<\/dt>\s*<dd>\s*3.4 hours a day, measured over 12 days\s*</,
    );
    expect(await overview({ duty: { ...duty, measuredHours: 23 } })).toContain("available after 24 h");
    expect(await overview({})).not.toContain("Awake");
  });

  it("lists processes, with logs when asked, and wakes no stopped container for it", async () => {
    const { jwk, init } = await signedIn();
    const { app, requests } = edgeFixture({ jwk });
    expect(await (await app.request("/debug/processes?logs=true", init)).json()).toMatchObject({
      state: "ready",
      processes: [{ name: "gateway", state: "running" }],
    });
    expect(requests).toEqual([
      { port: "supervisor", request: { method: "GET", path: "/processes?logs=true" } },
    ]);
    const stopped = edgeFixture({ jwk, state: "stopped" });
    expect(await (await stopped.app.request("/debug/processes", init)).json()).toMatchObject({
      processes: [],
    });
    expect(stopped.requests).toEqual([]);
  });

  it("the overview names the bundle, and the container's where it is another one", async () => {
    const overview = async (bundle?: string) => {
      const { jwk, init } = await signedIn();
      const { app } = edgeFixture({ jwk, status: { ...(bundle && { bundle }) } });
      return (await (await app.request("/_admin/", init)).text()).replace(/\s+/g, " ");
    };
    expect(await overview(EDGE_BUNDLE)).toContain(`<dd><code>${EDGE_BUNDLE}</code></dd>`);
    expect(await overview("fedcba")).toContain("</code>, container <code>fedcba</code>");
    expect(await overview()).toContain("</code>, container unknown while it is stopped");
  });

  it("gives the container's config", async () => {
    const { jwk, init } = await signedIn();
    const response = await edgeFixture({ jwk }).app.request("/debug/container-config", init);
    expect(await response.json()).toMatchObject({ config: { channels: {} }, valid: true });
  });
});

it("answers an unknown address with a problem document", async () => {
  const response = await edgeFixture().app.request("/nowhere");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: "not_found" });
});
