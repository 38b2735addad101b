import { describe, expect, it } from "vitest";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const NAME = "slack:T1:<C1>";
const operator = signedIn();
const at = new Date(NOW).toISOString();

/** The edge over a container that knows one conversation. */
async function edge(answers: Record<string, unknown> = {}) {
  const { jwk, headers } = await operator;
  const known: Record<string, unknown> = {
    show: {
      conversation: NAME,
      messages: 12,
      inUse: 3,
      firstAt: at,
      lastAt: at,
      model: "anthropic/x",
      summarised: true,
    },
    messages: { messages: [{ at, from: "Ann", text: "<b>hello</b>" }] },
    reset: {},
    delete: {},
    ...answers,
  };
  const inside = operationAnswers((_, name, input) => {
    const answer = known[name.split(" ")[1] ?? ""];
    return typeof answer === "function" ? answer(input) : answer;
  });
  const { app, ...fixture } = edgeFixture({ jwk, answers: inside.answers });
  const look = async (path: string) => (await app.request(`${HOST}${path}`, { headers })).text();
  const press = (path: string, fields: Record<string, string>) =>
    app.request(`${HOST}${path}`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
  const detail = `/_admin/sessions/detail?${new URLSearchParams({ conversation: NAME })}`;
  return { ...fixture, ...inside, look, press, detail };
}

describe("the page of a conversation", () => {
  it("tells its size, age and model, links to its events, and nothing that was said", async () => {
    const { look, lines, detail } = await edge();
    const page = await look(detail);
    expect(page).toMatch(/Messages stored<\/dt>\s*<dd>12[\s\S]*<dd>3, since[\s\S]*anthropic\/x/);
    expect(page).toContain("slack:T1:&lt;C1&gt;");
    expect(page).toContain("/_admin/ledger?q=%3CC1%3E");
    expect(lines).toEqual([`sessions show ${NAME}`]);
    for (const wrong of ["", "?conversation=", "?conversation=--json", "?conversation=a&x=1"])
      expect(await look(`/_admin/sessions/detail${wrong}`)).toContain("query_invalid");
    expect(lines).toHaveLength(1);
  });

  it("shows the messages on request alone, as text, and records who read them", async () => {
    const { look, press, lines } = await edge();
    const page = await (await press("/_admin/sessions/messages", { conversation: NAME })).text();
    expect(page).toMatch(/<strong>Ann<\/strong>[\s\S]*&lt;b&gt;hello&lt;\/b&gt;/);
    expect(lines[0]).toBe(`sessions messages ${NAME}`);
    expect(await look("/_admin/activity")).toMatch(/Read a conversation[\s\S]*slack:T1:&lt;C1&gt;/);
  });

  it("exports all messages as a file, part by part, and records who read them", async () => {
    const part = (input: Record<string, unknown>) =>
      input["after"] === undefined
        ? { conversation: NAME, messages: [{ seq: 1, text: "a\n" }], next: 1 }
        : { conversation: NAME, messages: [{ seq: 2, text: "b" }] };
    const { look, press, asked } = await edge({ export: part });
    expect(await look(`/_admin/sessions/detail?${new URLSearchParams({ conversation: NAME })}`)).toContain(
      'action="/_admin/sessions/export"',
    );
    const file = await press("/_admin/sessions/export", { conversation: NAME });
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="conversation.jsonl"');
    expect(file.headers.get("content-type")).toBe("application/jsonl");
    expect(await file.text()).toBe('{"seq":1,"text":"a\\n"}\n{"seq":2,"text":"b"}\n');
    expect(asked.filter(([name]) => name === "sessions export")).toEqual([
      ["sessions export", { conversation: NAME }],
      ["sessions export", { conversation: NAME, after: "1" }],
    ]);
    expect(await look("/_admin/activity")).toMatch(/Read a conversation[\s\S]*slack:T1:&lt;C1&gt;/);
    const gone = { error: { code: "session_unknown", message: "There is no such conversation." } };
    const failed = await (
      await edge({ export: gone })
    ).press("/_admin/sessions/export", { conversation: NAME });
    expect([failed.status, await failed.text()]).toEqual([404, expect.stringContaining("session_unknown")]);
    const endless = await edge({ export: () => ({ messages: [], next: 1 }) });
    const late = await endless.press("/_admin/sessions/export", { conversation: NAME });
    expect([late.status, await late.text()]).toEqual([
      504,
      expect.stringContaining("too long to export here"),
    ]);
  });

  it("deletes it once a short word was typed, and records it", async () => {
    const { look, press, lines } = await edge();
    const wrong = await press("/_admin/sessions/delete", { conversation: NAME, typed: "slack" });
    expect(wrong.status).toBe(400);
    const again = await wrong.text();
    expect(again).toContain("Nothing was deleted: type delete to confirm.");
    expect(again).toMatch(/value="slack"[^>]*aria-invalid="true"/);
    expect(lines).toEqual([`sessions show ${NAME}`]);

    const done = await press("/_admin/sessions/delete", { conversation: NAME, typed: " Delete " });
    expect(done.headers.get("location")).toBe("/_admin/sessions?done=forgotten");
    expect(lines.at(-1)).toBe(`sessions delete ${NAME}`);
    expect(await look("/_admin/activity")).toMatch(/Deleted a conversation[\s\S]*slack:T1/);
    expect(await look("/_admin/sessions?done=forgotten")).toContain("Deleted. Existing backups");
  });

  it("names a conversation that is not there, and records nothing that did not happen", async () => {
    const gone = { error: { code: "session_unknown", message: "There is no such conversation." } };
    const { look, press, detail } = await edge({ show: gone, delete: gone });
    expect(await look(detail)).toContain("session_unknown");
    const answer = await press("/_admin/sessions/delete", { conversation: NAME, typed: "delete" });
    expect(answer.headers.get("location")).toBe("/_admin/sessions?problem=session_unknown");
    expect(await look("/_admin/activity")).not.toContain("Deleted a conversation");
  });
});
