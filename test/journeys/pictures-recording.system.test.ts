import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser } from "../support/browser.ts";
import { PICTURES } from "../support/pictures.ts";
import { drawRecording, type RecordedLine } from "../support/recording.ts";
import { rehearse, startRehearsal } from "../support/rehearse.ts";

/** The answer comes with the last lines; nobody waits longer for it. */
const SECONDS = 6;
/** `npm run pictures` writes it; a usual run only shows that it can. */
const KEEPS = process.env["PICTURES"] === "1";
const TITLE = "npm start: the stack is deployed on this machine, and a message comes back";

test.skipIf(browserIsMissing)(
  "the README's recording is of a rehearsal, and ends with the reply",
  async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-recording-"));
    onTestFinished(async () => {
      await rehearse("--destroy", "--dir", dir);
      await rm(dir, { recursive: true, force: true });
    });
    const begun = performance.now();
    const lines: RecordedLine[] = [{ at: 0, text: "$ npm start -- --once" }];
    const { child, ended } = startRehearsal("--once", "--sandbox", "process", "--dir", dir);
    for (const stream of [child.stdout, child.stderr]) {
      let rest = "";
      stream.on("data", (chunk: Buffer) => {
        const [...whole] = `${rest}${chunk.toString()}`.split("\n");
        rest = whole.pop() ?? "";
        const at = performance.now() - begun;
        lines.push(
          ...whole.filter((text) => !text.startsWith("@ ")).map((text) => ({ at, text: text.trimEnd() })),
        );
      });
    }
    expect((await ended).code).toBe(0);
    const svg = drawRecording(TITLE, withoutGaps(lines), SECONDS);
    expect(svg).not.toContain(dir);
    const [, answeredAt] = /animation-delay:([\d.]+)s">Reply:/.exec(svg) ?? [];
    expect(Number(answeredAt)).toBeLessThan(SECONDS);

    const page = await openBrowser({ reducedMotion: "reduce", viewport: { width: 900, height: 520 } });
    await page.setContent(`<body style="margin:0">${svg}</body>`);
    const reply = page.getByText(/^Reply:/);
    expect(await reply.isVisible()).toBe(true);
    const box = await reply.boundingBox();
    expect(box?.y).toBeLessThan(520);
    await page.screenshot({ path: ".steward/artefacts/screenshots/recording.png" });
    if (KEEPS) await writeFile(path.join(PICTURES, "rehearsal.svg"), svg);
  },
  300_000,
);

/** Leaves out empty lines that follow one another. */
function withoutGaps(lines: readonly RecordedLine[]): RecordedLine[] {
  return lines.filter(({ text }, index) => text !== "" || lines[index - 1]?.text !== "");
}
