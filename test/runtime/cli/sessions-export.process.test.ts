import { join } from "node:path";
import { expect, test } from "vitest";
import { Sessions } from "../../../runtime/gateway/sessions/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { stewardHere } from "../support/cli.ts";
import { temporaryDirectory } from "../support/processes.ts";

const NAME = "slack:T1:C1";

/** A data directory with a conversation of these messages, and another one. */
async function commandLine(texts: readonly string[]) {
  const home = await temporaryDirectory();
  using database = openStore(join(home, "state.db"));
  const sessions = new Sessions(database);
  for (const [index, text] of texts.entries())
    sessions.append({
      session: NAME,
      delivery: `E${index}`,
      role: index % 2 === 0 ? "user" : "assistant",
      ...(index % 2 === 0 && { sender: "U1" }),
      text,
      at: 1_000 + index,
    });
  const other = {
    session: "slack:T1:C2",
    delivery: "E9",
    role: "user",
    text: "another's",
    at: 1,
  } as const;
  sessions.append(other);
  return (...args: string[]) => stewardHere({ STEWARD_HOME: home }, "sessions", "export", ...args);
}

test("an export has all messages in full, oldest first, as JSON lines or as JSON", async () => {
  const long = "x".repeat(3_000);
  const run = await commandLine(["hello\nthere", long]);
  const { code, stdout, stderr } = await run(NAME);
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { at: "1970-01-01T00:00:01.000Z", role: "user", sender: "U1", text: "hello\nthere" },
    { at: "1970-01-01T00:00:01.001Z", role: "assistant", sender: null, text: long },
  ]);
  const { conversation, messages, next } = JSON.parse((await run(NAME, "--json")).stdout);
  expect([conversation, messages.length, next]).toEqual([NAME, 2, undefined]);
  expect(stdout).not.toContain("another's");
});

test("a long export comes in parts, each told how it continues, without a gap or a repetition", async () => {
  const texts = Array.from({ length: 60 }, (_, index) => `${index} ${"ä".repeat(4_000)}`);
  // Longer than a part, so it comes alone.
  texts.push(`60 ${"y".repeat(200_000)}`, "61 end");
  const run = await commandLine(texts);
  const read: string[] = [];
  let parts = 0;
  for (let after: string | undefined = "0"; after !== undefined; parts += 1) {
    const { stdout, stderr } = await run(NAME, "--after", after);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length === 1 || stdout.length <= 128 * 1024).toBe(true);
    read.push(...lines.map((line): string => JSON.parse(line).text.split(" ")[0]));
    after = /--after (\d+)/.exec(stderr)?.[1];
  }
  expect(read).toEqual(texts.map((text) => text.split(" ")[0]));
  expect(parts).toBeGreaterThan(3);
});

test("what is no place of a message is refused, and so is a conversation that is not there", async () => {
  const run = await commandLine(["hello"]);
  for (const after of ["-1", "x", "", "9".repeat(16)]) {
    const refused = await run(NAME, "--json", `--after=${after}`);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "usage_invalid" } });
  }
  const unknown = await run("slack:T1:C9", "--json");
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "session_unknown" } });
});
