import { expect, test } from "vitest";
import { agentBench, calls, question } from "../../support/agent.ts";
import { startHttpServer, STDIO_SERVER } from "../../support/mcp.ts";

const OURS = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/home/x",
  ANTHROPIC_API_KEY: "sk-secret",
  NOTES_KEY: "n",
};

test("a server's tools are offered under its name and run; its environment holds no secret of ours", async () => {
  const notes = { ...STDIO_SERVER, env: { KEY: { env: "NOTES_KEY" } } };
  const bench = await agentBench({ tools: { mcp: { notes } } }, OURS);
  const { answer } = bench.start();
  bench.next(
    calls(
      { id: "c1", name: "notes_echo", input: { text: "hi" } },
      { id: "c2", name: "notes_environment", input: {} },
      { id: "c3", name: "notes_fail", input: { text: "no" } },
    ),
  );
  await answer(question("Ev1"));
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({
    results: [
      { output: "hi", failed: false },
      { output: "HOME KEY PATH", failed: false },
      { output: "no", failed: true },
    ],
  });
});

test("a tool with an odd schema or name is offered as a provider takes it, or named as one that is not", async () => {
  const bench = await agentBench({ tools: { mcp: { notes: STDIO_SERVER } } }, OURS);
  const { answer, mcp } = bench.start();
  expect(mcp.health()).toEqual([{ name: "notes", state: "unknown", tools: 0, leftOut: [] }]);
  bench.next(calls({ id: "c1", name: "notes_odd", input: { _top: 3, id: "a" } }));
  await answer(question("Ev1"));
  const [first, second] = bench.asked;
  expect(first?.instructions).toContain("The tool unusable of the server notes cannot be used.");
  expect(bench.logged).toContainEqual({
    message: "a tool of an MCP server is left out",
    fields: { server: "notes", tool: "unusable", problem: "a name in its schema cannot be used" },
  });
  expect(bench.reported).toEqual(["tool notes: unusable: a name in its schema cannot be used"]);
  const leftOut = [{ name: "unusable", problem: "a name in its schema cannot be used" }];
  expect(mcp.health()).toMatchObject([{ name: "notes", state: "ready", leftOut }]);
  const names = first?.tools.map(({ name }) => name) ?? [];
  expect(new Set(names).size).toBe(names.length);
  const long = names.filter((name) => name.startsWith("notes_a-name"));
  expect(long).toHaveLength(2);
  for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
  expect(first?.tools.find(({ name }) => name === "notes_odd")?.inputSchema).toMatchObject({
    type: "object",
    properties: { _top: { type: "number" }, id: {} },
  });
  expect(second?.messages.at(-1)).toMatchObject({
    results: [{ output: JSON.stringify({ name: "odd", arguments: { $top: 3, id: "a" } }), failed: false }],
  });

  bench.next(calls({ id: "c2", name: long[1] ?? "", input: {} }));
  await answer(question("Ev2"));
  expect(bench.asked.at(-1)?.messages.at(-1)).toMatchObject({
    results: [{ output: expect.stringMatching(/use-it-2"/) }],
  });
});

test("a server over HTTP gets its headers", async () => {
  const { url, authorizations } = await startHttpServer();
  const web = { url, headers: { authorization: "Bearer abc" } };
  const bench = await agentBench({ tools: { mcp: { web } } }, OURS);
  const { answer } = bench.start();
  bench.next(calls({ id: "c1", name: "web_echo", input: { text: "over http" } }));
  await answer(question("Ev1"));
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({
    results: [{ output: "over http", failed: false }],
  });
  expect(new Set(authorizations)).toEqual(new Set(["Bearer abc"]));
});

test("a server that is not there or ends stops no answer, and is tried again later", async () => {
  const mcp = { gone: { command: "/no/such/program" }, notes: STDIO_SERVER };
  const bench = await agentBench({ tools: { mcp } }, OURS);
  const { answer } = bench.start();
  bench.next(calls({ id: "c1", name: "notes_end", input: {} }));

  expect((await answer(question("Ev1"))).text).toBe("done");
  expect(bench.asked[0]?.instructions).toContain("The tools of the server gone are not available now.");
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ results: [{ failed: true }] });
  expect(bench.logged.map(({ message }) => message)).toContain("an MCP server is not available");

  await answer(question("Ev2"));
  expect(bench.asked[2]?.instructions).toContain("The tools of the server notes are not available now.");
  bench.time.now += 6_000;
  bench.next(calls({ id: "c1", name: "notes_echo", input: { text: "back" } }));
  await answer(question("Ev3"));
  expect(bench.asked[4]?.messages.at(-1)).toMatchObject({ results: [{ output: "back", failed: false }] });
});

test("a program whose own child outlives it holds up neither the next question nor the end", async () => {
  // The child keeps the program's output open, as one of a package runner may.
  const [file = "", serve = ""] = STDIO_SERVER.args;
  const script = `sleep 30 & "$0" "$1" "$2"; exit`;
  const notes = { command: "sh", args: ["-c", script, STDIO_SERVER.command, file, serve] };
  const bench = await agentBench({ tools: { mcp: { notes } } }, OURS);
  const { answer, close } = bench.start();
  bench.next(calls({ id: "c1", name: "notes_end", input: {} }));
  await answer(question("Ev1"));
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ results: [{ failed: true }] });

  bench.time.now += 6_000;
  bench.next(calls({ id: "c1", name: "notes_echo", input: { text: "back" } }));
  await answer(question("Ev2"));
  expect(bench.asked[3]?.messages.at(-1)).toMatchObject({ results: [{ output: "back", failed: false }] });
  await close();
}, 20_000);
