import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkConfig } from "../../runtime/contract/config/index.ts";
import { createRedactor, redactValue } from "../../runtime/shared/redact.ts";
import { instructions } from "../../runtime/gateway/agent/instructions.ts";
import { Workspace } from "../../runtime/gateway/workspace/workspace.ts";
import { SECRET_PIECES } from "./support/families.ts";

const SIZE = 600_000;
/** Quadratic time took minutes; linear time takes a fiftieth of this on a slow machine. */
const BOUND_MS = 5_000;

describe("what strangers write takes linear time", () => {
  test.each(SECRET_PIECES)("to redact: %j again and again", (piece) => {
    const text = piece.repeat(Math.ceil(SIZE / piece.length));
    const redact = createRedactor({ SLACK_BOT_TOKEN: "xoxb-a-token-of-this-test" });
    const started = performance.now();
    redact(text);
    redactValue({ url: `https://${text}`, args: [text, text] }, redact);
    expect(performance.now() - started).toBeLessThan(BOUND_MS);
  });

  test("to read fifty skills that never end their front matter", () => {
    const home = mkdtempSync(path.join(tmpdir(), "steward-linear-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    for (let count = 0; count < 50; count += 1) {
      const skill = path.join(home, "workspace", "skills", `s${count}`);
      mkdirSync(skill, { recursive: true });
      const text = `${"---\n".repeat(200)}description:${" ".repeat(3_100)}x`;
      writeFileSync(path.join(skill, "SKILL.md"), text);
    }
    const checked = checkConfig({});
    if (!checked.ok) throw new Error("not a config");
    const started = performance.now();
    instructions({
      config: checked.config,
      workspace: new Workspace({ home, limits: { workspaceMiB: 64, groupMiB: 8 }, clock: () => 0 }),
      place: { platform: "slack", target: { chat: "D1" }, direct: true, may: () => true },
      notes: [],
      now: 0,
    });
    expect(performance.now() - started).toBeLessThan(BOUND_MS);
  });
});

describe("a JWT is masked wherever it stands", () => {
  const JWT = `eyJhbGciOiJIUzI1NiJ9.${"eyJzdWIiOiIxMjM0In0"}.c2lnbmF0dXJl`;
  const redact = createRedactor({});

  test.each([
    [JWT, "[redacted]"],
    [`token ${JWT}, and more`, "token [redacted], and more"],
    [`jwt-${JWT}`, "jwt-[redacted]"],
    [`a-service-name.production.${JWT}`, "a-service-name.production.[redacted]"],
    [`a-service-name.${JWT}`, "a-service-name.[redacted]"],
    [`${JWT} ${JWT}`, "[redacted] [redacted]"],
    [`"${JWT}"`, '"[redacted]"'],
    [`https://x.example/?t=${JWT}&a=1`, "https://x.example/?t=[redacted]&a=1"],
    ["keyJournalEntry.something.else", "keyJournalEntry.something.else"],
    ["eyJ.short.one", "eyJ.short.one"],
  ])("%s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});
