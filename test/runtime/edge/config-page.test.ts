import { describe, expect, it } from "vitest";
import type { ConfigText } from "../../../runtime/contract/control.ts";
import { problemResponse, problem } from "../../../runtime/contract/problem.ts";
import { edgeFixture, manifestOf, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const SHA = "a".repeat(64);
const TEXT = '{\n  "agent": {\n    "maxSteps": 7\n  }\n}\n';
const CHANGED = TEXT.replace("7", "8");
const operator = signedIn();
const file = (text: string | null): ConfigText => ({ text, sha256: text === null ? null : SHA });
const READ = { "/config-file?as=file": () => Response.json(file(TEXT)) };
const review = `/config-file?expected=${SHA}&write=false`;
const save = `/config-file?expected=${SHA}&write=true`;

async function edge(options: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({ jwk, ...options, answers: { ...READ, ...options.answers } });
  const look = async (path: string) => (await fixture.app.request(`${HOST}${path}`, { headers })).text();
  const post = (path: string, fields: Record<string, string>) =>
    fixture.app.request(`${HOST}/_admin/config/${path}`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields),
    });
  return { ...fixture, look, post };
}

describe("the form", () => {
  it("holds the file's text, escaped, and what it was made from", async () => {
    const text = `\n${TEXT}</textarea><script>`;
    const { look } = await edge({ answers: { "/config-file?as=file": () => Response.json(file(text)) } });
    const page = await look("/_admin/config/edit");
    expect(page).toContain(
      `>\n\n${TEXT.replaceAll('"', "&quot;")}&lt;/textarea&gt;&lt;script&gt;</textarea>`,
    );
    expect(page).toContain(`name="expected" value="${SHA}"`);
  });

  it("begins with an empty object where there is no file, and wakes no stopped container", async () => {
    const none = await edge({ answers: { "/config-file?as=file": () => Response.json(file(null)) } });
    expect(await none.look("/_admin/config/edit")).toContain('name="expected" value="none"');
    const stopped = await edge({ state: "stopped" });
    for (const path of ["edit", "mend", "fresh"]) await stopped.look(`/_admin/config/${path}`);
    expect(await stopped.look("/_admin/config/edit")).toContain("The container is stopped");
    expect(stopped.requests).toEqual([]);
  });
});

describe("the review", () => {
  it("shows what changes by sign and word, and saves nothing", async () => {
    const { post, requests } = await edge({ answers: { [review]: () => Response.json(file(CHANGED)) } });
    const response = await post("review", { text: CHANGED.replaceAll("\n", "\r\n"), expected: SHA });
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(page).toContain('<del><i class="unseen">removed </i>-     &quot;maxSteps&quot;: 7</del>');
    expect(page).toContain('<ins><i class="unseen">added </i>+     &quot;maxSteps&quot;: 8</ins>');
    expect(page).toContain("1 line added, 1 line removed.");
    expect(page).toMatch(/action="\/_admin\/config\/save"[\s\S]*<button type="submit" class="primary">Save/);
    expect(requests[0]?.request).toEqual({ method: "PUT", path: review, body: CHANGED });
    expect(requests).toHaveLength(2);
  });

  it("shows every problem, gives the text back as the supervisor shows it, and offers no saving", async () => {
    const problems = [
      { path: "agent", message: 'Unrecognized key: "name"' },
      { path: "", message: "<b>" },
    ];
    const refused = { ...problem("config_invalid", undefined, 422), problems, text: "{}[redacted]" };
    const { post } = await edge({ answers: { [review]: () => Response.json(refused, { status: 422 }) } });
    const response = await post("review", { text: "typed-secret", expected: SHA });
    const page = await response.text();
    expect(response.status).toBe(422);
    expect(page).toMatch(/agent<\/code><\/dt>\s*<dd>Unrecognized key: &quot;name&quot;/);
    expect(page).toMatch(/\(root\)<\/code><\/dt>\s*<dd>&lt;b&gt;/);
    expect(page).toContain("{}[redacted]</textarea>");
    expect(page).not.toMatch(/typed-secret|config\/save/);
  });

  it("keeps the text where the container does not answer, and masks what looks like a secret", async () => {
    const { post } = await edge({ answers: { [review]: () => new Response(null, { status: 500 }) } });
    const response = await post("review", { text: `${TEXT}xoxb-0123456789abc`, expected: SHA });
    const page = await response.text();
    expect(response.status).toBe(503);
    expect(page).toContain("gateway_unavailable");
    expect(page).toContain("&quot;maxSteps&quot;: 7");
    expect(page).not.toContain("xoxb-0123");
  });

  it("tells where the file is another by now", async () => {
    const gone = () => problemResponse(problem("config_changed"));
    const { post } = await edge({ answers: { [review]: gone, [save]: gone } });
    for (const path of ["review", "save"]) {
      const response = await post(path, { text: CHANGED, expected: SHA });
      expect(response.status).toBe(409);
      const page = await response.text();
      expect(page).toContain("The file has changed");
      expect(page).not.toContain("<textarea");
    }
  });

  it("shows a change of everything, however large", async () => {
    const long = Array.from({ length: 3_000 }, (_, index) => `line ${index}\n`).join("");
    const answers = {
      "/config-file?as=file": () => Response.json(file(long)),
      [review]: () => Response.json(file(long.replaceAll("line", "row"))),
    };
    const page = await (await (await edge({ answers })).post("review", { text: "x", expected: SHA })).text();
    expect(page).toContain("3000 lines added, 3000 lines removed.");
  });
});

describe("saving", () => {
  it("goes back to the page, and is logged without the text", async () => {
    const { post, logged, look } = await edge({ answers: { [save]: () => Response.json(file(CHANGED)) } });
    const response = await post("save", { text: CHANGED, expected: SHA });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/_admin/config?done=saved"]);
    expect(logged.join()).toMatch(/operator: config.*operator@example\.com/);
    expect(logged.join()).not.toContain("maxSteps");
    expect(await look("/_admin/config?done=saved")).toContain("Saved.");
  });

  it("records what changed, as the container shows it: without a secret", async () => {
    const typed = CHANGED.replace("{", '{ "botToken": "a-typed-secret",');
    const answers = {
      "/config-file?as=file": () => Response.json(file(TEXT)),
      [save]: () => Response.json(file(CHANGED)),
    };
    const { post, look } = await edge({ answers });
    await post("save", { text: typed, expected: SHA });
    const activity = await look("/_admin/activity");
    expect(activity).toMatch(/Changed the configuration[\s\S]*Show the change[\s\S]*<ins>\+[^<]*maxSteps/);
    expect(activity).not.toContain("a-typed-secret");
  });

  it("leads back to the page of this site that asked for the change, and to no other", async () => {
    const answers = {
      [review]: () => Response.json(file(CHANGED)),
      [save]: () => Response.json(file(CHANGED)),
    };
    const { post } = await edge({ answers });
    const asked = async (from: string) => {
      const query = `?from=${encodeURIComponent(from)}`;
      const shown = await (await post(`review${query}`, { text: CHANGED, expected: SHA })).text();
      const action = /action="([^"]*config\/save[^"]*)"/.exec(shown)?.[1]?.split("/config/")[1] ?? "";
      return (await post(action, { text: CHANGED, expected: SHA })).headers.get("location");
    };
    expect(await asked("/_admin/ledger?q=a:b")).toBe("/_admin/ledger?q=a:b&done=saved");
    for (const other of ["//evil.example/_admin/ledger", "https://evil.example", "/chat", "/_admin/../x", ""])
      expect([other, await asked(other)]).toEqual([other, "/_admin/config?done=saved"]);
  });

  it("wants both fields, once, and nothing else", async () => {
    const { post, requests } = await edge();
    const wrong: Record<string, string>[] = [
      { text: TEXT },
      { expected: SHA },
      { text: TEXT, expected: `${SHA}&unchecked=true` },
      { text: TEXT, expected: SHA, unchecked: "true" },
      { expected: "none", x: "1" },
    ];
    for (const path of ["save", "review", "edit"])
      for (const fields of wrong) expect([path, (await post(path, fields)).status]).toEqual([path, 400]);
    expect(requests).toEqual([]);
  });

  it("is refused from another site's page", async () => {
    const { jwk, headers } = await operator;
    const { app, requests } = edgeFixture({ jwk });
    for (const path of ["edit", "review", "save", "fresh"]) {
      const init = { method: "POST", headers: { ...headers, origin: "https://evil.example" }, body: "" };
      expect((await app.request(`${HOST}/_admin/config/${path}`, init)).status).toBe(403);
    }
    expect(requests).toEqual([]);
  });
});

describe("adding an ignored message's group", () => {
  const path = (platform: string, group: string) =>
    `/_admin/config/allow-group?platform=${platform}&group=${group}`;

  it.each([
    ["telegram", "-1009", "groups"],
    ["slack", "C0LD", "channels"],
    ["discord", "123456789", "guilds"],
  ])("shows the change for %s, one click before it is saved", async (platform, group, key) => {
    const { look, requests } = await edge({ answers: { [review]: () => Response.json(file(CHANGED)) } });
    const page = await look(path(platform, group));
    expect(page).toMatch(/action="\/_admin\/config\/save"[\s\S]*<button type="submit" class="primary">Save/);
    const { body = "" } = requests.at(-1)?.request ?? {};
    expect(JSON.parse(body)).toEqual({
      agent: { maxSteps: 7 },
      channels: { [platform]: { [key]: { [group]: {} } } },
    });
  });

  it("leaves a group that is listed, a file that is not valid and a query that makes no sense alone", async () => {
    const listed = '{"channels":{"telegram":{"groups":{"-1009":{"requireMention":false}}}}}';
    const known = await edge({ answers: { "/config-file?as=file": () => Response.json(file(listed)) } });
    expect(await known.look(path("telegram", "-1009"))).toContain("is already in the file");
    for (const text of ['{"channels":[]}', "{", "null"]) {
      const broken = await edge({ answers: { "/config-file?as=file": () => Response.json(file(text)) } });
      await broken.look(path("telegram", "-1009"));
      expect(broken.requests).toHaveLength(1);
    }
    const { look, requests } = await edge();
    for (const query of [
      "signal&group=1",
      "telegram&group=",
      "telegram&group=__proto__%00",
      "slack&group=<b>",
    ])
      expect(await look(path(...(query.split("&group=") as [string, string])))).toContain("query_invalid");
    expect(requests).toEqual([]);
  });
});

describe("the check while one types", () => {
  it("answers with the problems, and wakes and writes nothing", async () => {
    const problems = [{ path: "agent", message: "Use `x`", line: 3 }];
    const refused = { ...problem("config_invalid", undefined, 422), problems, text: "{}" };
    const { post, requests } = await edge({
      answers: { [review]: () => Response.json(refused, { status: 422 }) },
    });
    const response = await post("check", { text: TEXT, expected: SHA });
    expect([response.status, await response.json()]).toEqual([200, { problems }]);
    const page = await (await post("review", { text: TEXT, expected: SHA })).text();
    expect(page).toMatch(/Line 3: [\s\S]*Use <code>x<\/code>/);
    const asked = requests.length;
    const stopped = await edge({ state: "stopped" });
    expect((await stopped.post("check", { text: TEXT, expected: SHA })).status).toBe(503);
    expect([stopped.requests, requests.length]).toEqual([[], asked]);
  });
});

describe("a file with secrets", () => {
  const SHOWN = '{"gateway":{"token":"[redacted]"}}';
  const secret = { ...file(SHOWN), secrets: ["gateway.token"] };

  it("is shown, with the way to mend it, and has no form", async () => {
    const { look, app } = await edge({ answers: { "/config-file?as=file": () => Response.json(secret) } });
    const page = await look("/_admin/config/edit");
    expect(page).toMatch(/gateway\.token[\s\S]*<code>steward config set &lt;path&gt; --env NAME<\/code>/);
    expect(page).not.toContain("<textarea");
    const { headers } = await operator;
    const allow = await app.request(`${HOST}/_admin/config/allow-group?platform=slack&group=C1`, { headers });
    expect(allow.headers.get("location")).toBe("/_admin/config?problem=secret_in_plain");
  });

  it("is repaired where it is: its text passes through no form", async () => {
    const mended = { ...secret, text: '{"gateway":{}}', problems: [] };
    const { look, post, requests } = await edge({
      answers: {
        "/config-file?as=file": () => Response.json(secret),
        "/config-file?as=mended": () => Response.json(mended),
      },
    });
    const page = await look("/_admin/config/mend");
    expect(page).toMatch(/action="\/_admin\/config\/mend"[\s\S]*Repair/);
    expect(page).not.toContain('name="text"');
    await post("mend", { expected: SHA });
    expect(requests.at(-1)?.request.body).toBe('{"operation":"doctor","input":{"fix":true}}');
    const asked = requests.length;
    await post("mend", { expected: "b".repeat(64) });
    expect(requests.slice(asked).map(({ request }) => request.method)).toEqual(["GET"]);
  });
});

describe("repairs", () => {
  const mended = { "/config-file?as=mended": () => Response.json(file(CHANGED)) };

  it("shows what doctor would change, with what remains for a person", async () => {
    const problems = [{ path: "agent", message: "left" }];
    const refused = { ...problem("config_invalid", undefined, 422), problems, text: CHANGED };
    const partly = await edge({
      answers: { ...mended, [review]: () => Response.json(refused, { status: 422 }) },
    });
    const page = await partly.look("/_admin/config/mend");
    expect(page).toMatch(/<dd>left/);
    expect(page).not.toContain("config/save");
    const whole = await edge({ answers: { ...mended, [review]: () => Response.json(file(CHANGED)) } });
    expect(await whole.look("/_admin/config/mend")).toContain("config/save");
  });

  it("says that there is nothing to do", async () => {
    const { look } = await edge({ answers: { "/config-file?as=mended": () => Response.json(file(TEXT)) } });
    expect(await look("/_admin/config/mend")).toContain("Nothing can be repaired automatically");
  });

  it("asks for a fresh file and tells what became of it", async () => {
    const path = `/config-file/fresh?expected=${SHA}`;
    const answers = {
      "/config-file?as=fresh": () => Response.json(file("{}\n")),
      [path]: () => Response.json({}, { status: 202 }),
    };
    const { look, post, requests } = await edge({ answers });
    expect(await look("/_admin/config/fresh")).toContain("1 line added, 5 lines removed.");
    expect(requests.map(({ request }) => request.method)).toEqual(["GET", "GET"]);
    const response = await post("fresh", { expected: SHA });
    expect(response.headers.get("location")).toBe("/_admin/config?done=fresh");
    expect(requests.at(-1)?.request).toEqual({ method: "POST", path });
  });

  it("goes back to the config of the newest backup in which it was valid, by the same review", async () => {
    const bad = manifestOf("00000003-00000001", { configValid: false });
    const good = manifestOf("00000002-00000001");
    const asked: string[] = [];
    const backups = {
      list: async () => [bad, good, manifestOf("00000001-00000001")],
      configOf: async (id: string) => {
        asked.push(id);
        return file(CHANGED);
      },
    };
    const { look } = await edge({ backups, answers: { [review]: () => Response.json(file(CHANGED)) } });
    const page = await look("/_admin/config/last-good");
    expect(asked).toEqual([good.id]);
    expect(page).toContain(`Restores only the config from backup ${good.id}`);
    expect(page).toContain("1 line added, 1 line removed.");
    expect(page).toContain("config/save");

    const same = await edge({ backups: { ...backups, configOf: async () => file(TEXT) } });
    expect(await same.look("/_admin/config/last-good")).toContain(
      `already identical to the one in backup ${good.id}`,
    );
  });

  it("says where no backup has a good config, and wakes no stopped container for it", async () => {
    const none = await edge({ backups: { list: async () => [] } });
    const { app, requests } = none;
    const { headers } = await operator;
    const response = await app.request(`${HOST}/_admin/config/last-good`, { headers });
    expect(response.headers.get("location")).toBe("/_admin/config?problem=config_no_good");
    expect(requests).toEqual([]);
    const stopped = await edge({ state: "stopped" });
    await stopped.look("/_admin/config/last-good");
    expect(stopped.requests).toEqual([]);
  });

  it("are linked where the config stops the gateway, and only there", async () => {
    const { reason } = await import("../../../runtime/contract/errors.ts");
    const link = 'href="/_admin/config#repairs"';
    const broken = { state: "crash-looping", status: { reason: reason("config_invalid") } } as const;
    const { look, app } = await edge(broken);
    const wait = await app.request(`${HOST}/`, { headers: { accept: "text/html" } });
    expect(await wait.text()).toContain(link);
    for (const path of ["", "channels"]) expect(await look(`/_admin/${path}`)).toContain(link);
    const other = await edge({ ...broken, status: { reason: reason("port_in_use") } });
    expect(await other.look("/_admin/")).not.toContain(link);
  });
});
