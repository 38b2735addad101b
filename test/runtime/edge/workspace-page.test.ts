import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../runtime/contract/digest.ts";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const at = new Date(NOW - 60_000).toISOString();
const TEXT = "\n- be kind\n<b>";

/** The edge over a container with one file. */
async function edge(answers: Record<string, object> = {}) {
  const { jwk, headers } = await operator;
  const sum = await sha256Hex(TEXT);
  const known: Record<string, object> = {
    list: { files: [{ name: "AGENTS.md", size: 9, changedAt: at }] },
    show: { text: TEXT, expected: sum, sha256: sum, versions: [{ id: "1700000000000", at }] },
    ...answers,
  };
  const { asked, answers: inside } = operationAnswers((_, name) => known[name.split(" ")[1] ?? ""] ?? {});
  const { app } = edgeFixture({ jwk, answers: inside });
  const look = async (path = "") =>
    (await app.request(`${HOST}/_admin/workspace${path}`, { headers })).text();
  const press = (path: string, fields: Record<string, string>) =>
    app.request(`${HOST}/_admin/workspace/${path}`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
  const activity = async () => (await app.request(`${HOST}/_admin/activity`, { headers })).text();
  return { look, press, asked, activity, sum };
}

describe("the workspace", () => {
  it("lists the files, and those with a meaning that are not there yet", async () => {
    const page = await (await edge()).look();
    expect(page).toMatch(
      /file\?name=SOUL\.md[\s\S]*not written yet[\s\S]*file\?name=AGENTS\.md[\s\S]*1 minute ago/,
    );
  });

  it("lists the chats' files apart, and every root page by page", async () => {
    const chats = [{ root: "chats/slack-C1", entries: 520, bytes: 9 }];
    const files = [{ name: "skills/mail/SKILL.md", size: 9, changedAt: at }];
    const { look, asked } = await edge({ list: { files, next: "skills/mail/SKILL.md", chats } });
    const page = await look();
    expect(page).toContain("/_admin/workspace?after=skills%2Fmail%2FSKILL.md");
    expect(page).toMatch(/workspace\?root=chats%2Fslack-C1">chats\/slack-C1<[\s\S]*520/);
    expect(await look("?root=chats/slack-C1&after=-x")).toContain("only this chat reads");
    expect(asked.at(-1)).toEqual(["workspace list", { root: "chats/slack-C1", after: "-x" }]);
    await look("?after=skills/mail/SKILL.md");
    expect(asked.at(-1)).toEqual(["workspace list", { root: ".", after: "skills/mail/SKILL.md" }]);
    expect(await look("?root=../x")).toContain("query_invalid");
  });

  it("shows a file of an older version whose name no new one may have", async () => {
    const { look } = await edge();
    expect(await look("/file?name=a.1.tmp")).toContain("Remove the file");
    const unknown = { error: { code: "workspace_file_unknown", message: "There is none." } };
    const page = await (await edge({ show: unknown })).look("/file?name=a.1.tmp");
    expect(page).toMatch(/aria-invalid="true"[\s\S]*files that are being written/);
  });

  it("shows a file to change with its versions, every character of it", async () => {
    const { look, sum } = await edge();
    const page = await look("/file?name=AGENTS.md");
    expect(page).toContain(`>\n\n- be kind\n&lt;b&gt;</textarea>`);
    expect(page).toContain(`name="expected" value="${sum}"`);
    expect(page).toContain("file?name=AGENTS.md&amp;version=1700000000000");
    expect(page).toContain("Remove the file");
    const former = await look("/file?name=AGENTS.md&version=1700000000000");
    expect(former).toContain("Nothing changes.");
    expect(former).toContain("Saving restores it.");
    expect(former).not.toContain("Remove the file");
    expect(await look("/file?name=a&version=x")).toContain("query_invalid");
    for (const wrong of ["", "?name=", "?name=--json", "?name=a%00"])
      expect(await look(`/file${wrong}`)).toMatch(/aria-invalid="true"[\s\S]*class="mark"/);
  });

  it("saves it, whatever it begins with, and records it", async () => {
    const { press, asked, activity, sum } = await edge();
    const saved = await press("save", { name: "AGENTS.md", expected: sum, text: "--json\r\n- b" });
    expect(saved.headers.get("location")).toBe("/_admin/workspace?done=written");
    expect(asked.at(-1)).toEqual([
      "workspace write",
      { file: "AGENTS.md", expected: sum, text: "--json\n- b" },
    ]);
    const shown = await activity();
    expect(shown).toMatch(/Changed the workspace[\s\S]*AGENTS\.md/);
    expect(shown).toMatch(/Show the change[\s\S]*<del>- &lt;b&gt;<\/del><ins>\+ --json<\/ins>/);
    const removed = await press("remove", { name: "AGENTS.md", expected: sum });
    expect(removed.headers.get("location")).toBe("/_admin/workspace?done=fileRemoved");
    for (const wrong of [{ name: "--x" }, { expected: "x" }, { extra: "1" }])
      expect((await press("save", { name: "A", expected: sum, text: "", ...wrong })).status).toBe(400);
  });

  it("keeps what was written where it cannot be saved, and says why", async () => {
    const changed = { error: { code: "workspace_changed", message: "The file is another." } };
    const { press, activity, sum } = await edge({ write: changed });
    const answer = await press("save", { name: "AGENTS.md", expected: sum, text: "my <text>" });
    expect(answer.status).toBe(409);
    expect(await answer.text()).toMatch(
      /role="alert"[\s\S]*workspace_changed[\s\S]*my &lt;text&gt;<\/textarea>/,
    );
    expect(await activity()).not.toContain("Changed the workspace");
  });

  it("begins a new file empty, and offers no form for one whose secret was masked", async () => {
    const unknown = { error: { code: "workspace_file_unknown", message: "There is none." } };
    const fresh = await (await edge({ show: unknown })).look("/file?name=SOUL.md");
    expect(fresh).toContain('name="expected" value="none"');
    const masked = { text: "token: ***", expected: "a".repeat(64), sha256: "a".repeat(64), versions: [] };
    const page = await (await edge({ show: masked })).look("/file?name=AGENTS.md");
    expect(page).toContain("looks like a secret");
    expect(page).not.toContain("<textarea");
  });
});
