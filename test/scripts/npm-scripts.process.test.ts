import { build } from "esbuild";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

/** The options of Node, and a program. */
const PROGRAM = /\bnode ((?:--import \S+ )*)(\S+\.ts)\b/g;

const programs = Object.entries(manifest.scripts).flatMap(([name, command]) =>
  [...command.matchAll(PROGRAM)].map(([, options = "", file = ""]) => ({ name, options, file })),
);

test("each npm script whose program reaches the pages has their JSX compiled", async () => {
  const reaching: string[] = [];
  const compiling: string[] = [];
  for (const { name, file, options } of programs) {
    const { metafile } = await build({
      entryPoints: [file],
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      metafile: true,
      write: false,
    });
    if (Object.keys(metafile.inputs).some((input) => input.endsWith(".tsx"))) reaching.push(name);
    if (options.includes("./scripts/jsx.ts")) compiling.push(name);
  }
  expect(compiling).toEqual(reaching);
  expect(reaching).toContain("dev");
});
