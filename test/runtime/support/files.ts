import { crc32, deflateSync } from "node:zlib";

/** A chunk of a PNG: https://www.w3.org/TR/png-3/#5Chunk-layout */
function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.byteLength);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Returns a gray PNG; with `pixels: false` one that says its size and has nothing in it. */
export function png(width: number, height: number, { pixels = true } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", pixels ? deflateSync(Buffer.alloc((width + 1) * height)) : Buffer.alloc(0)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns the frame of a WebP of 16 x 16 pixels (https://developers.google.com/speed/webp/docs/riff_container). */
export function webp(): Buffer {
  const file = Buffer.alloc(30);
  file.write("RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0", "latin1");
  file[24] = 15;
  file[27] = 15;
  return file;
}

/** Returns a GIF of one pixel (https://www.w3.org/Graphics/GIF/spec-gif89a.txt, appendix F). */
export function gif(): Buffer {
  return Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
}

/** Returns a JPEG's segments without a decodable picture (ITU-T T.81, annex B). `exif`: an orientation. */
export function jpeg(
  width: number,
  height: number,
  { exif, end = true }: { exif?: number; end?: boolean } = {},
): Buffer {
  const tiff = Buffer.from("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", "latin1");
  tiff.writeUInt16BE(exif ?? 1, 18);
  const frame = Buffer.alloc(17);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  frame[0] = 8;
  frame[5] = 3;
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...(exif === undefined ? [] : [segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), tiff]))]),
    segment(0xc0, frame.subarray(0, 15)),
    segment(0xda, Buffer.alloc(10)),
    Buffer.alloc(100),
    Buffer.from(end ? [0xff, 0xd9] : []),
  ]);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.byteLength + 2, 2);
  return Buffer.concat([head, data]);
}

/** Section 7.6 of ISO 32000-1, with check values that fit no password. */
const LOCK = ` /ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -1 /O (${"o".repeat(32)}) /U (${"u".repeat(32)}) >>`;

/** Returns a PDF with a page for each text (ISO 32000-1, chapter 7). `locked`: by a password that nobody has. */
export function pdf(pages: readonly string[], { locked = false } = {}): Buffer {
  const contents = pages.map((text) => (text === "" ? "" : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`));
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, page) => `${4 + page * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...contents.flatMap((content, page) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + page * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  return Buffer.from(
    `${file}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${locked ? LOCK : ""} >>\nstartxref\n${file.length}\n%%EOF\n`,
    "latin1",
  );
}
