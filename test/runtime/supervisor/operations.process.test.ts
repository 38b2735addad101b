import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOperations } from "../../../runtime/supervisor/operations.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { temporaryDirectory } from "../support/processes.ts";

/** A command line whose lists end once the file `over` exists. */
const CLI = `
  import { existsSync } from "node:fs";
  import { text } from "node:stream/consumers";
  const { operation } = JSON.parse(await text(process.stdin));
  while (operation.endsWith(" list") && !existsSync(process.env.OVER))
    await new Promise((resolve) => setTimeout(resolve, 20));
  console.log(JSON.stringify({ ok: true, value: {} }));
`;

test("while as many lists run as may, a change still runs", async () => {
  const home = await temporaryDirectory();
  const [program, over] = [join(home, "cli.mjs"), join(home, "over")];
  await writeFile(program, CLI);
  const operate = createOperations({
    cli: [process.execPath, program],
    environment: { OVER: over },
    configPath: join(home, "steward.json"),
    timers: systemTimers,
  });
  const list = () => operate({ operation: "devices list", input: {} });
  const running = Array.from({ length: 4 }, list);
  await expect(list()).rejects.toMatchObject({ code: "commands_busy" });
  const approval = { channel: "slack", code: "ABCDEFGH" };
  expect(await operate({ operation: "pairing approve", input: approval })).toMatchObject({ ok: true });
  await writeFile(over, "");
  expect((await Promise.all(running)).map(({ ok }) => ok)).toEqual([true, true, true, true]);
});
