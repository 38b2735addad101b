import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { isPublicAddress } from "../../../../runtime/process/addresses.ts";
import { webFetchTool } from "../../../../runtime/gateway/agent/tools/web-fetch.ts";
import type { ToolContext } from "../../../../runtime/gateway/agent/tools/tool.ts";
import { Workspace } from "../../../../runtime/gateway/workspace/workspace.ts";
import { isResetDue } from "../../../../runtime/gateway/sessions/context.ts";
import { agentBench, calls, question } from "../../support/agent.ts";
import { temporaryDirectory } from "../../support/processes.ts";

test.each([
  ["93.184.216.34", true],
  ["2606:4700:4700::1111", true],
  ["127.0.0.1", false],
  ["127.1", false],
  ["2130706433", false],
  ["0177.0.0.1", false],
  ["0x7f.0.0.1", false],
  ["0.0.0.0", false],
  ["10.1.2.3", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["169.254.169.254", false],
  ["100.64.0.1", false],
  ["168.63.129.16", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["198.18.0.1", false],
  ["::", false],
  ["::1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:93.184.216.34", false],
  ["::ffff:7f00:1", false],
  ["64:ff9b::7f00:1", false],
  ["2002:7f00:1::", false],
  ["fe80::1", false],
  ["fe80::1%eth0", false],
  ["fc00::1", false],
  ["fd00:ec2::254", false],
  ["fec0::1", false],
  ["ff02::1", false],
  ["::127.0.0.1", false],
  ["::7f00:1", false],
  ["::a9fe:a9fe", false],
  ["4000::1", false],
  ["not an address", false],
  ["", false],
])("the address %s is public: %s", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

test("no path leaves the workspace, also for a file that is to be made", async () => {
  const home = await temporaryDirectory();
  const root = join(home, "workspace");
  mkdirSync(join(root, "in"), { recursive: true });
  writeFileSync(join(home, "secret"), "s");
  symlinkSync(home, join(root, "out"));
  symlinkSync(join(home, "secret"), join(root, "file"));
  symlinkSync(join(home, "nowhere"), join(root, "dangling"));
  symlinkSync(join(root, "in"), join(root, "inner"));
  const limits = { workspaceMiB: 64, groupMiB: 8 };
  const { shared } = new Workspace({ home, limits, clock: () => 0 });
  const hostile = [
    "../secret",
    "in/../../secret",
    "..",
    "/etc/passwd",
    "out/secret",
    "out/new/file",
    "file",
    "dangling",
    "in/./../../secret",
    "..\\secret",
    "C:\\x",
    "a\0b",
    "dangling/x",
  ];
  for (const name of hostile) {
    expect(() => shared.read(name), name).toThrow("stay in the workspace");
    expect(() => shared.write(name, "x", { by: "agent" }), name).toThrow("stay in the workspace");
  }
  shared.write("inner/deep/a.txt", "fine", { by: "agent" });
  expect(shared.read("in/deep/a.txt")).toBe("fine");
});

const context: ToolContext = {
  session: "slack:C1",
  delivery: "1",
  platform: "slack",
  target: { chat: "C1" },
  direct: true,
  may: () => true,
  roles: ["operator"],
  sendsTo: [],
  signal: new AbortController().signal,
};

/** A site that `site.test` leads to; every other name leads to this machine. */
async function site(listener: RequestListener, maxBytes = 2_000) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const port = (server.address() as { port: number }).port;
  // Stands for an address of the internet; the check of real ones is a test of its own.
  const tool = webFetchTool(
    { maxBytes, timeout: "20s" },
    {
      resolve: async (host) => [{ address: host === "site.test" ? "127.0.0.1" : "127.0.0.2", family: 4 }],
      isAllowed: (address) => address === "127.0.0.1" || isPublicAddress(address),
    },
  );
  return {
    url: `http://site.test:${port}/`,
    port,
    get: async (url: string) => String(await tool.run({ url }, context)),
  };
}

test("a page comes as its words", async () => {
  const { url, get } = await site((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      "<html><head><title>x</title></head><script>if (a<b) evil()</script><h1>Hi &amp; bye</h1><p>One<br>two<!-- no --></p><style>",
    );
  });
  expect(await get(url)).toBe(`${url} (200)\n\nHi & bye\nOne\ntwo`);
});

test("letters that are longer in lower case move no other words of the page", async () => {
  const { url, get } = await site((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      "<P>İstanbul, İzmir, İznik</P><SCRIPT>evil()</SCRIPT><p>Bir <B>iki</B> üç</p><!-- x --><p>Son</p>",
    );
  });
  expect(await get(url)).toBe(`${url} (200)\n\nİstanbul, İzmir, İznik\nBir iki üç\nSon`);
});

test("what is packed counts unpacked, and is cut", async () => {
  const { url, get } = await site((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
    response.end(gzipSync("a".repeat(50_000_000)));
  });
  const text = await get(url);
  expect(text.length).toBeLessThan(2_200);
  expect(text).toContain("(The rest is left out.)");
});

test("redirects are followed to public addresses only, and not for ever", async () => {
  const { url, port, get } = await site((request, response) => {
    const to: Record<string, string> = {
      "/metadata": "http://169.254.169.254/latest",
      "/name": `http://internal.test:${port}/ok`,
      "/file": "file:///etc/passwd",
      "/once": "/ok",
      "/loop": "/loop",
    };
    const location = to[request.url ?? ""];
    if (location === undefined) response.writeHead(200, { "content-type": "text/plain" }).end("fine");
    else response.writeHead(302, { location }).end();
  });
  expect(await get(`${url}once`)).toContain("fine");
  await expect(get(`${url}metadata`)).rejects.toThrow("public internet");
  await expect(get(`${url}name`)).rejects.toThrow("public internet");
  await expect(get(`${url}file`)).rejects.toThrow("Only http");
  await expect(get(`${url}loop`)).rejects.toThrow("More than 5");
});

test("what is no text, and addresses with a password, are refused", async () => {
  const { url, get } = await site((_request, response) => {
    response.writeHead(200, { "content-type": "image/png" }).end("x");
  });
  await expect(get(url)).rejects.toThrow("Not a text: image/png");
  await expect(get("http://a:b@site.test/")).rejects.toThrow("password");
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0177.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://localhost/",
])("%s is not fetched", async (url) => {
  const tool = webFetchTool({ maxBytes: 2_000, timeout: "20s" });
  await expect(tool.run({ url }, context)).rejects.toThrow("public internet");
});

test("a message goes to the question's own chat and to those that the config names, and to no others", async () => {
  const bench = await agentBench({ tools: { sendMessage: { to: [{ platform: "slack", chat: "C2" }] } } });
  const { answer, sessions } = bench.start();
  sessions.append({ session: "slack:C3", delivery: "x", role: "user", text: "hi", at: 1 });
  const send = (id: string, chat: string) => ({
    id,
    name: "send_message",
    input: { platform: "slack", chat, text: `to ${chat}` },
  });
  bench.next(calls(send("c1", "C1"), send("c2", "C2"), send("c3", "C3")));
  await answer(question("Ev1"));
  expect(bench.sent).toEqual([
    { chat: "C1", text: "to C1" },
    { chat: "C2", text: "to C2" },
  ]);
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ results: [{}, {}, { failed: true }] });
});

test("schedules are made for the question's own chat", async () => {
  const bench = await agentBench();
  const added: object[] = [];
  const { answer } = bench.start({
    add: async (spec) => {
      added.push(spec);
      return { id: "chat:1", nextAt: "2026-11-22T08:00:00Z" };
    },
    list: () => [],
    remove: () => {},
  });
  const input = { action: "add", cron: "0 8 * * *", timezone: "Europe/Berlin", text: "Good morning" };
  bench.next(
    calls(
      { id: "c1", name: "schedule", input },
      { id: "c2", name: "schedule", input: { action: "add", text: "x" } },
    ),
  );
  await answer(question("Ev1"));
  expect(added).toMatchObject([{ cron: "0 8 * * *", to: { platform: "slack", chat: "C1" }, enabled: true }]);
  expect(bench.asked[1]?.messages.at(-1)).toMatchObject({ results: [{ failed: false }, { failed: true }] });
});

test("the workspace's files stand before the conversation, within their limit", async () => {
  const bench = await agentBench({ agent: { workspaceMaxChars: 100 } });
  const { answer } = bench.start();
  mkdirSync(join(bench.home, "workspace/skills/tea"), { recursive: true });
  writeFileSync(join(bench.home, "workspace/AGENTS.md"), `Agents${"a".repeat(200)}`);
  writeFileSync(join(bench.home, "workspace/MEMORY.md"), `old${"m".repeat(200)}new`);
  writeFileSync(
    join(bench.home, "workspace/skills/tea/SKILL.md"),
    "---\nname: tea\ndescription: Makes tea\n---\n",
  );
  await answer(question("Ev1"));
  const text = bench.asked[0]?.instructions ?? "";
  expect(text).toMatch(/# AGENTS.md\nAgentsa+\n\(AGENTS.md is cut here.\)/);
  expect(text).toMatch(/# MEMORY.md\n\(The beginning of MEMORY.md is cut.\)\n    m+new/);
  expect(text).toContain("- tea: Makes tea (skills/tea/SKILL.md)");
  // The clock is behind all that stays the same, where a provider's cache can keep it.
  expect(text).not.toContain("2026");
  expect(bench.asked[0]?.circumstances).toMatch(/21 November 2026 at \d\d:\d\d \(UTC\)\.$/);
});

test.each([
  // Berlin: summer time ends on 25 October 2026 at 03:00, and begins on 28 March 2027 at 02:00.
  ["2026-10-24T22:30:00Z", "2026-10-25T02:59:00Z", false],
  ["2026-10-24T22:30:00Z", "2026-10-25T03:00:00Z", true],
  ["2027-03-28T00:30:00Z", "2027-03-28T01:59:00Z", false],
  ["2027-03-28T00:30:00Z", "2027-03-28T02:00:00Z", true],
  ["2026-11-21T03:00:00Z", "2026-11-22T02:59:00Z", false],
  ["2026-11-21T02:59:00Z", "2026-11-21T03:00:00Z", true],
])("a session of %s begins anew at %s: %s (daily at 04:00 in Berlin)", (last, now, due) => {
  const rules = { dailyAt: "04:00", timezone: "Europe/Berlin" };
  expect(isResetDue(rules, Date.parse(last), Date.parse(now))).toBe(due);
});
