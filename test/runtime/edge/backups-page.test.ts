import { afterEach, describe, expect, it, vi } from "vitest";
import { reason, StewardError } from "../../../runtime/contract/errors.ts";
import { edgeFixture, manifestOf, NOW, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const OLD = manifestOf("00000001-00000001", { createdAt: new Date(NOW - 2 * 86_400_000).toISOString() });
const NEW = manifestOf("00000002-00000007", {
  counts: { files: 1, sessions: 7, messages: 71, schedules: 0, approvals: 4 },
  configValid: false,
});
const operator = signedIn();
const never = () => new Promise<never>(() => {});

async function edge(options: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const asked: unknown[][] = [];
  const REPORT = { id: OLD.id, counts: OLD.counts, configProblems: [] };
  const fixture = edgeFixture({
    jwk,
    ...options,
    backups: {
      list: async () => [NEW, OLD],
      create: async (...given) => (asked.push(["create", ...given]), NEW),
      verify: async (...given) => (asked.push(["verify", ...given]), REPORT),
      download: async (...given) => (asked.push(["download", ...given]), new Blob(["archive"]).stream()),
      restore: async (...given) => (asked.push(["restore", ...given]), REPORT),
      ...options.backups,
    },
  });
  const look = async (path = "") => fixture.app.request(`${HOST}/_admin/backups${path}`, { headers });
  const post = async (path: string, fields: Record<string, string>, origin = HOST) =>
    fixture.app.request(`${HOST}/_admin/backups/${path}`, {
      method: "POST",
      headers: { ...headers, origin, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields),
    });
  return { ...fixture, asked, look, post };
}

const RESTORE = { id: OLD.id, config: "generation", typed: "restore" };
const where = (response: Response) => [response.status, response.headers.get("location")];

afterEach(() => void vi.useRealTimers());

describe("the list", () => {
  it("shows the newest first with what each holds, and wakes nothing", async () => {
    const { look, requests, wakes } = await edge({ state: "stopped" });
    const page = await (await look()).text();
    expect(page.indexOf(NEW.id)).toBeLessThan(page.indexOf(OLD.id));
    for (const told of [
      "7 sessions, 71 messages, 0 schedules, 4 approvals, 1 file<",
      "2 days ago",
      "2026-11-16 11:06:40 UTC",
      "12.3 kB",
      "SHA-256 bbbb",
    ]) {
      expect(page).toContain(told);
    }
    expect(page).toMatch(/data-column="Config"><strong>not valid/);
    expect(page).toContain("starts the container");
    expect(page).not.toContain("even though it contains less");
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("tells why there is none, and where only then offers to take one that holds less", async () => {
    const problem = reason("backup_refused", "messages fell from <40> to 5");
    const { look } = await edge({ backups: { status: async () => ({ problem }), list: async () => [] } });
    const page = await (await look("?problem=backup_refused")).text();
    expect(page).toContain("Last backup: none yet");
    expect(page.split("backup_refused")).toHaveLength(2);
    expect(page).toContain("messages fell from &lt;40&gt; to 5");
    expect(page).toMatch(
      /value="yes"\/>\s*<button type="submit" class="danger">Back up even though it contains less/,
    );
  });

  it("does not wait for a bucket that hangs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { look } = await edge({ backups: { list: never, status: never } });
    const waiting = look();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { timeout: 20_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { timeout: 20_000 });
    await vi.advanceTimersByTimeAsync(10_000);
    const page = await (await waiting).text();
    expect(page).toContain("Last backup: unknown");
    expect(page).toContain("command_timed_out");
  });
});

describe("the buttons", () => {
  it("make one, also by force", async () => {
    const { post, asked, logged } = await edge();
    expect(where(await post("create", { force: "no" }))).toEqual([303, "/_admin/backups?done=backedUp"]);
    await post("create", { force: "yes" });
    expect(asked).toEqual([
      ["create", { force: false, cause: "operator" }],
      ["create", { force: true, cause: "operator" }],
    ]);
    expect(logged.join()).toMatch(/operator: backup.*operator@example\.com/);
  });

  it("check one and tell what was found", async () => {
    const configProblems = [{ path: "agent", message: "<b>" }];
    const verify = async () => ({ id: OLD.id, counts: OLD.counts, configProblems });
    const { post } = await edge({ backups: { verify } });
    const response = await post("verify", { id: OLD.id });
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(page).toContain("Complete");
    expect(page).toMatch(/agent<\/code><\/dt>\s*<dd>&lt;b&gt;/);
  });

  it("download one as it is stored, under a fixed name, which is recorded", async () => {
    const { post, logged } = await edge();
    const file = await post("download", { id: OLD.id });
    expect(file.headers.get("content-disposition")).toBe(
      'attachment; filename="steward-backup-00000001-00000001.tar.zst"',
    );
    expect(file.headers.get("content-type")).toBe("application/zstd");
    expect(await file.text()).toBe("archive");
    expect(logged.join()).toMatch(/operator: download.*operator@example\.com.*00000001-00000001/);
    const download = async () => {
      throw new StewardError("backup_unknown");
    };
    const gone = await edge({ backups: { download } });
    expect(where(await gone.post("download", { id: OLD.id }))).toEqual([
      303,
      "/_admin/backups?problem=backup_unknown",
    ]);
    expect(gone.logged.join()).not.toContain("operator: download");
  });

  it("tell what is not whole", async () => {
    const verify = async () => {
      throw new StewardError("backup_corrupt", "The archive is missing.");
    };
    const { post } = await edge({ backups: { verify } });
    const response = await post("verify", { id: OLD.id });
    expect(response.status).toBe(422);
    const page = await response.text();
    expect(page).toContain("The archive is missing.");
    expect(page).not.toContain("Complete");
  });

  it("restore one with the config that was chosen, or tell why not", async () => {
    const { post, asked, logged } = await edge();
    for (const config of ["generation", "current", "fresh"]) {
      const answer = await post("restore", { ...RESTORE, config });
      expect(where(answer)).toEqual([303, "/_admin/backups?done=restored"]);
      expect(asked.pop()).toEqual(["restore", OLD.id, config]);
    }
    expect(logged.join()).toMatch(/operator: restore.*operator@example\.com.*00000001-00000001/);
    const restore = async () => {
      throw new StewardError("disk_full");
    };
    const failing = await edge({ backups: { restore } });
    expect(where(await failing.post("restore", RESTORE))).toEqual([303, "/_admin/backups?problem=disk_full"]);
  });

  it.each([
    ["create", { force: "no" }, "?done=goesOn"],
    ["restore", RESTORE, "?done=goesOn"],
  ])("say that it continues in the background: %s", async (path, fields, query) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { post, look } = await edge({ backups: { create: never, restore: never } });
    const waiting = post(path, fields);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 20_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(where(await waiting)).toEqual([303, `/_admin/backups${query}`]);
    vi.useRealTimers();
    expect(await (await look(query)).text()).toContain("will continue in the background");
  });

  it.each<[string, Record<string, string>]>([
    ["create", {}],
    ["create", { force: "maybe" }],
    ["verify", { id: "../../etc" }],
    ["restore", { id: OLD.id }],
    ["download", { id: "../../etc" }],
    ["download", {}],
    ["restore", { ...RESTORE, config: "other" }],
    ["restore", { ...RESTORE, id: "1-1" }],
    ["restore", { ...RESTORE, force: "yes" }],
  ])("refuse a form that the page does not have: %s %o", async (path, fields) => {
    const { post, asked } = await edge();
    expect(await (await post(path, fields)).json()).toMatchObject({ status: 400, code: "form_invalid" });
    expect(asked).toEqual([]);
  });

  it("refuse another site's form", async () => {
    const { post, asked } = await edge();
    for (const [path, fields] of [
      ["create", { force: "no" }],
      ["restore", RESTORE],
      ["download", { id: OLD.id }],
    ] as const) {
      expect((await post(path, fields, "https://elsewhere.example")).status).toBe(403);
    }
    expect(asked).toEqual([]);
  });
});

describe("the page before a restore", () => {
  it("compares what is there now with what the backup holds, and changes nothing", async () => {
    const { look, asked } = await edge();
    const page = await (await look(`/restore?id=${OLD.id}`)).text();
    expect(page).toMatch(/Messages<\/th>\s*<td[^>]*>2<\/td>\s*<td[^>]*>40<\/td>\s*<td[^>]*>\+38<\/td>/);
    // The gateway does not report its files: the newest backup holds them.
    expect(page).toMatch(/Files<\/th>\s*<td[^>]*>1<\/td>\s*<td[^>]*>9<\/td>\s*<td[^>]*>\+8<\/td>/);
    expect(page).not.toContain("unknown");
    for (const told of [
      "not rolled back",
      "is backed up first",
      "</code> (automatic), made",
      "Conversations as of now, the rest as of the newest backup",
      "Config since then: unchanged",
    ])
      expect(page).toContain(told);
    expect(page).toMatch(/value="generation"\s+checked/);
    expect(asked).toEqual([]);
  });

  it("offers the config that is there now where the backup's is not valid", async () => {
    const { look } = await edge({ state: "crash-looping" });
    const page = await (await look(`/restore?id=${NEW.id}`)).text();
    expect(page).toMatch(/value="current"\s+checked/);
    expect(page).toMatch(
      /Messages<\/th>\s*<td[^>]*>71<\/td>\s*<td[^>]*>71<\/td>\s*<td[^>]*>none<\/td>\s*<\/tr>/,
    );
  });

  it("tells as of when the figures are while the container sleeps", async () => {
    const counts = { conversations: 3, messages: 55, answered: 1, active: 0 };
    const text = JSON.stringify({
      version: "0.1.0",
      since: NEW.createdAt,
      model: { id: "m" },
      models: [],
      channels: [],
      counts,
      schedules: { count: 0, missed: 0 },
      config: { loadedAt: NEW.createdAt },
      usage: [],
      limited: 0,
    });
    const at = new Date(NOW - 600_000).toISOString();
    const { look, wakes } = await edge({ state: "stopped", remembered: [["gateway", { at, text }]] });
    const page = await (await look(`/restore?id=${OLD.id}`)).text();
    expect(page).toMatch(/Messages<\/th>\s*<td[^>]*>55<\/td>\s*<td[^>]*>40<\/td>\s*<td[^>]*>−15<\/td>/);
    expect(page).toMatch(/Conversations as of <time datetime="2026-11-18T10:56:40/);
    expect(wakes).toEqual([]);
  });

  it("asks for the environment's name, and shows again what was typed instead", async () => {
    const { look, post, asked } = await edge({ environmentName: "staging" });
    expect(await (await look(`/restore?id=${OLD.id}`)).text()).toContain("type <strong>staging</strong>");
    const wrong = await post("restore", { ...RESTORE, config: "fresh", typed: 'prod"<b>' });
    expect(wrong.status).toBe(400);
    const page = await wrong.text();
    expect(page).toContain('value="prod&quot;&lt;b&gt;" aria-invalid="true" aria-describedby="typed-why"');
    expect(page).toContain("Nothing was restored: type staging to confirm.");
    expect(page).toMatch(/value="fresh"\s+checked/);
    expect(asked).toEqual([]);
    expect((await post("restore", { ...RESTORE, typed: " Staging " })).status).toBe(303);
    expect(asked).toEqual([["restore", OLD.id, "generation"]]);
  });

  it("goes back where the backup is gone, and refuses what is no id", async () => {
    const { look } = await edge();
    const gone = await look("/restore?id=00000009-00000009");
    expect(where(gone)).toEqual([303, "/_admin/backups?problem=backup_unknown"]);
    expect((await look("/restore?id=x")).status).toBe(400);
  });
});

it("the overview tells how old the last one is, and why there is no newer one", async () => {
  const { jwk, headers } = await operator;
  const overview = async (backups: object) =>
    (await edgeFixture({ jwk, backups }).app.request(`${HOST}/_admin/`, { headers })).text();
  expect(await overview({})).toMatch(/Last backup: <time[^>]*>1 hour ago/);
  const problem = reason("disk_full");
  expect(await overview({ status: async () => ({ problem }) })).toMatch(/disk_full[\s\S]*none yet/);
});

it("the overview tells when a backup was last verified, and verifies the newest one", async () => {
  const { look, post, asked } = await edge();
  const overview = async () => (await (await look("/../")).text()).replace(/\s+/g, " ");
  const before = await overview();
  expect(before).toContain("Not verified yet.");
  expect(before).toMatch(/action="\/_admin\/backups\/verify"[^>]*>.*?name="id" value="newest"/);
  expect((await post("verify", { id: "newest" })).status).toBe(200);
  expect(asked).toEqual([["verify", NEW.id]]);
  expect(await overview()).toMatch(/Last verified: <time[^>]*>just now<\/time\s*>, by operator@example\.com/);
});
