import { PhotonImage } from "@cf-wasm/photon/node";
import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { telegramHost } from "../../support/telegram.ts";
import { pdf } from "../support/files.ts";

/** A photo of 4.2 MiB, for which the model's stand-in has a refusal. */
function photo(): Uint8Array {
  const pixels = new Uint8Array(3_000 * 2_250 * 4);
  let state = 1;
  for (let at = 0; at < pixels.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    pixels[at] = at % 4 === 3 ? 255 : 100 + ((state >>> 16) & 63);
  }
  return new PhotonImage(pixels, 3_000, 2_250).get_bytes_jpeg(85);
}

test("files that come by Telegram are read by the bundled programs, and what cannot be read costs the words nothing", async () => {
  const { telegram, start } = await telegramHost();
  const { ready } = await start();
  await ready();
  const picture = photo();
  const files: Record<string, [name: string, type: string, data: Uint8Array]> = {
    photo: ["photo.jpg", "image/jpeg", picture],
    cut: ["cut.jpg", "image/jpeg", picture.subarray(0, 50_000)],
    report: [
      "report.docx",
      "application/zip",
      zipSync({ "word/document.xml": strToU8("<w:t>Q3 was good</w:t>") }),
    ],
    bill: ["bill.pdf", "application/pdf", pdf(["Total 12 EUR"])],
    archive: ["evil.pdf", "application/pdf", zipSync({ a: strToU8("b") })],
  };
  const answers: string[] = [];
  for (const [id, [name, type, data]] of Object.entries(files)) {
    telegram.addFile(id, data);
    const document = { file_id: id, file_name: name, mime_type: type, file_size: data.byteLength };
    telegram.say("", { text: undefined, caption: `about ${id}`, document });
    const answer = await telegram.waitFor(
      ({ text }) => text.includes(`about ${id}\n`) && text.endsWith("”"),
      50_000,
    );
    answers.push(answer.text.replace(/^.*characters: “\s*/, "“"));
  }

  expect(answers).toEqual([
    "“about photo\n[image: photo.jpg]”",
    "“about cut\n[image: cut.jpg, cannot be read]”",
    "“about report\n[file: report.docx]\n    Q3 was good”",
    "“about bill\n[file: bill.pdf, 1 page]”",
    "“about archive\n[file: evil.pdf, an archive, not read]”",
  ]);
}, 180_000);
