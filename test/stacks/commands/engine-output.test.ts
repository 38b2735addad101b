import { expect, test } from "vitest";
import { engineOutput } from "../../../stacks/commands/deployed/engine-output.ts";

const SAID = `Previewing update (dev):
 +  pulumi:pulumi:Stack steward-dev create error: there is none (bucket_gone)
Diagnostics:
  pulumi:pulumi:Stack (steward-dev):
    error: there is none (bucket_gone)
      fix: make it

  my:own:Resource (other):
    error: no
    warning: it is public
      and stays so

Resources:
    1 errored
Diagnostics:
  my:own:Resource (other):
    error: no

Resources:
    2 errored
`;

test("passes on the engine's lines without its errors, however they are cut", () => {
  const lines: string[] = [];
  const output = engineOutput((line) => lines.push(line));
  for (const piece of SAID.match(/[^]{1,7}/g) ?? []) output.onOutput(piece);
  output.end();
  expect(lines.join("\n")).toBe(`Previewing update (dev):
 +  pulumi:pulumi:Stack steward-dev create error
Diagnostics:
  my:own:Resource (other):
    warning: it is public
      and stays so

Resources:
    1 errored
Resources:
    2 errored`);
});
