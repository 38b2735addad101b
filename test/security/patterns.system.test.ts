import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

// Not in a fast tier: six hundred kilobytes, some three thousand times, take a quarter of a minute.

/** Longer texts by steps, so that a pattern in quadratic time is found before it takes minutes. */
const SIZES = [20_000, 100_000, 600_000];
/** So many times what it takes to look at each character once; linear patterns take some tens. */
const MOST_SCANS = 400;
/** Below this a pattern is fast enough. */
const NOTICEABLE_MS = 60;
const ATTEMPTS = 4;
/** A quadratic pattern on a short text: about half of NOTICEABLE_MS on an idle machine of today, longer on a slow or busy one. */
const REFERENCE = { pattern: "#+$", text: `${"#".repeat(6_000)}!` };

/**
 * Files whose texts are cut to so many characters before: a message of the web chat (CHAT_MESSAGE_BYTES), a reply to the
 * parts that a platform takes, an error's words.
 */
const CUT: Readonly<Record<string, number>> = {
  "edge/client/markdown.ts": 32 * 1024,
  "gateway/channels/slack/mrkdwn.ts": 4_000,
  "gateway/models/provider-errors.ts": 4_000,
};

const ROOT = path.resolve("runtime");
const FILES = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const PATTERNS = FILES.flatMap((file) =>
  patternsOf(file).map((text) => ({ file, text, name: `${file} ${text}` })),
);

/** The regular expressions that stand in a file. */
function patternsOf(file: string): string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(path.join(ROOT, file), "utf8"),
    ts.ScriptTarget.Latest,
  );
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(found)];
}

function compile(text: string): RegExp {
  const end = text.lastIndexOf("/");
  return new RegExp(text.slice(1, end), text.slice(end + 1));
}

/** What, repeated, makes a pattern begin again and again: its own characters and words, and some of every kind. */
function piecesOf(text: string): string[] {
  const source = text.slice(1, text.lastIndexOf("/")).replaceAll(/\\[dwsDWSbB]/g, " ");
  const words = source.match(/[\w:"'<>/=@&.-]{2,}/g) ?? [];
  const characters = [...new Set(source.replaceAll("\\", ""))];
  return [...new Set([...characters, ...words, "a", "1", " ", "\n", "a ", "*a"])];
}

function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
  return sum;
}

/** Milliseconds of this thread's processor time: other work of the machine does not count. */
function timeOf(work: () => unknown): number {
  const started = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}

/** The least of several times: what is compared with must not have been interrupted, or it hides a slow pattern. */
function fastest(work: () => unknown): number {
  return Math.min(...Array.from({ length: ATTEMPTS }, () => timeOf(work)));
}

/** Returns NOTICEABLE_MS, or what it is on a machine as slow or as busy as this one is now. */
function noticeableMs(): number {
  const pattern = new RegExp(REFERENCE.pattern);
  return Math.max(NOTICEABLE_MS, 2 * fastest(() => pattern.test(REFERENCE.text)));
}

/** Returns the piece with which a pattern takes more than linear time, and how long the text was. */
function slowPiece(text: string, mostCharacters = Infinity): string | undefined {
  for (const size of SIZES) {
    const length = Math.min(size, mostCharacters);
    for (const piece of piecesOf(text)) {
      const input = `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}!\0`;
      const plain = (): number => fastest(() => scan(input));
      const pattern = compile(text);
      const isSlow = (taken: number): boolean =>
        taken > NOTICEABLE_MS && taken > MOST_SCANS * plain() && taken > noticeableMs();
      const match = (): number =>
        timeOf(() => (pattern.global ? input.replace(pattern, "") : pattern.test(input)));
      let taken = match();
      // Other work of the machine may have interrupted it.
      for (let attempt = 1; attempt < ATTEMPTS && isSlow(taken); attempt += 1) taken = match();
      if (isSlow(taken)) {
        return `${JSON.stringify(piece)} to ${length} characters: ${taken.toFixed(0)} ms, a plain scan ${plain().toFixed(2)} ms`;
      }
    }
    if (length < size) break;
  }
  return undefined;
}

describe("each regular expression of the runtime takes linear time", () => {
  test.each(PATTERNS)("$name", { timeout: 120_000 }, ({ file, text }) => {
    expect(slowPiece(text, CUT[file])).toBeUndefined();
  });

  test("one that does not is found", () => {
    expect(slowPiece("/#+$/")).toContain("#");
    expect(slowPiece("/(?:a+)+b$/", 26)).toContain('"a" to 26 characters');
  });

  test("the patterns are found, and so are the files whose texts are cut", () => {
    expect(Object.keys(CUT).filter((name) => !FILES.includes(name))).toEqual([]);
    expect(PATTERNS.length).toBeGreaterThan(150);
  });
});
