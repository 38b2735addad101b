import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { FAMILIES } from "./support/families.ts";
import { isPlainlyLinear } from "./support/patterns.ts";
import { READERS } from "./support/readers.ts";

// The list of readers is complete by these rules; readers.system.test.ts and `npm run bench` measure each of them.

/** Rooms that handle text from outside: each of their functions that takes a text is one of the readers. */
const ROOMS =
  /^(?:gateway\/(?:channels|inbox|models|prompt)\/|gateway\/sessions\/context\.ts$|gateway\/agent\/tools\/readable-text\.ts$|edge\/(?:admission|client)\/|shared\/)/;
const TEXT =
  /^(?:(?:readonly )?string(?:\[\])?|unknown|Untrusted|(?:Operator|Memory|Speaker|Tool|Model)Text|Record<string, unknown>|TelegramMessage|Request)\b/;

const SOURCES = globSync("runtime/**/*.ts").map((path) => ({
  file: path.slice("runtime/".length),
  source: ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true),
}));

/** The exported functions of a file that take a text. */
function textFunctions(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isFunctionDeclaration(statement) || statement.name === undefined) return [];
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    const takesText = statement.parameters.some(({ type }) => TEXT.test(type?.getText(source) ?? ""));
    return isExported && takesText ? [statement.name.text] : [];
  });
}

function patterns(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The sources of the patterns that run while the readers read a text of every family. */
async function patternsThatRun(): Promise<ReadonlySet<string>> {
  const run = new Set<string>();
  const { exec } = RegExp.prototype;
  const noting = {
    exec(this: RegExp, text: string) {
      run.add(this.source);
      return exec.call(this, text);
    },
  };
  Object.assign(RegExp.prototype, noting);
  try {
    for (const { make } of FAMILIES)
      for (const read of Object.values(READERS).flatMap((named) => Object.values(named)))
        await read(make(400));
  } finally {
    Object.assign(RegExp.prototype, { exec });
  }
  return run;
}

describe("the list of readers has", () => {
  test("every exported function that takes a text, in the rooms that handle others' text", () => {
    const missing = SOURCES.filter(({ file }) => ROOMS.test(file)).flatMap(({ file, source }) =>
      textFunctions(source)
        .filter((name) => READERS[file]?.[name] === undefined)
        .map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("only functions that are there", () => {
    const gone = Object.entries(READERS).flatMap(([file, named]) => {
      const text = SOURCES.find((one) => one.file === file)?.source.text ?? "";
      return Object.keys(named).filter(
        (name) => !new RegExp(`export (?:async )?function ${name}\\b`).test(text),
      );
    });
    expect(gone).toEqual([]);
  });

  test("readers that run each pattern of the runtime whose form alone does not make it linear", async () => {
    const run = await patternsThatRun();
    const unmeasured = SOURCES.flatMap(({ file, source }) =>
      patterns(source)
        .filter((text) => !isPlainlyLinear(text) && !run.has(text.slice(1, text.lastIndexOf("/"))))
        .map((text) => `${file}: ${text}`),
    );
    expect(unmeasured).toEqual([]);
  });

  test("no pattern in these rooms that is put together at run time", () => {
    const inside = SOURCES.filter(({ file }) => ROOMS.test(file) || file.startsWith("gateway/"));
    expect(
      inside.filter(({ source }) => source.text.includes("new RegExp(")).map(({ file }) => file),
    ).toEqual([]);
  });
});

test.each([
  ["/#+$/", false],
  ["/\\s+$/", false],
  ["/\\n+|x$/", true],
  ["/(?:a+)+b$/", false],
  ["/<(https?:[^|>]+)(?:\\|([^>]*))?>/g", false],
  ["/^(\\s*)[-*+][ \\t]+(.*)$/", false],
  ["/a.*b.*c/", false],
  ["/^[a-z]+:[a-z]*$/", true],
  ["/^\\d+(\\.\\d+)?$/", true],
  ['/"(\\w+)"/', true],
  ["/(?<!x)a+b/", false],
  ["/[*_~`]/g", true],
])("%s is plainly linear: %s", (pattern, linear) => {
  expect(isPlainlyLinear(pattern)).toBe(linear);
});

test("an answer of very many pieces fits the chat page's stack", () => {
  const render = READERS["edge/client/markdown.ts"]?.["render"];
  if (render === undefined) throw new Error("render is not among the readers");
  expect(() => render("`a` ".repeat(150_000))).not.toThrow();
  expect(() => render("a\n\n".repeat(150_000))).not.toThrow();
});
