/** Facts about an image, read without decoding it. */
export interface ImageFacts {
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`, detected from the content. */
  mediaType: string;
  /** Stored pixels, before rotation. */
  width: number;
  height: number;
  /** False for a truncated file. */
  whole: boolean;
  /** Orientation as in Exif, 1 to 8; 1 is upright (section 4.6.5 of JEITA CP-3451E). */
  orientation: number;
}

type Frame = Pick<ImageFacts, "width" | "height" | "whole"> & { orientation?: number };

/** JPEG markers: start of scan and end of image (ITU-T T.81, table B.1). */
const SOS = 0xda;
const EOI = Buffer.from([0xff, 0xd9]);
/** Header of an Exif segment. */
const EXIF = "Exif\0\0";
/** Number of Exif's orientation tag. */
const ORIENTATION = 0x0112;

const READERS: Readonly<Record<string, (file: Buffer) => Frame | undefined>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/gif": gif,
  "image/webp": webp,
};

/** Detects an image's media type from its first bytes; `undefined` if they match no known type. */
export function imageType(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 16)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.startsWith("WEBP", 8) ? "image/webp" : undefined;
}

/**
 * Reads an image's facts from its headers and block structure, in linear time. Returns `undefined` if no size is
 * found.
 */
export function imageFacts(data: Uint8Array): ImageFacts | undefined {
  const mediaType = imageType(data) ?? "";
  const frame = READERS[mediaType]?.(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (frame === undefined || frame.width === 0 || frame.height === 0) return undefined;
  return { mediaType, orientation: 1, ...frame };
}

/** https://www.w3.org/TR/png-3/#5Chunk-layout */
function png(file: Buffer): Frame | undefined {
  if (file.length < 33 || file.toString("latin1", 12, 16) !== "IHDR") return undefined;
  let at = 8;
  let type = "";
  while (type !== "IEND" && at + 12 <= file.length) {
    type = file.toString("latin1", at + 4, at + 8);
    at += 12 + file.readUInt32BE(at);
  }
  const whole = type === "IEND" && at <= file.length;
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20), whole };
}

/**
 * Reads a JPEG's segments up to the image data (ITU-T T.81, annex B). The file is whole if an end marker follows,
 * because image data cannot contain this marker.
 */
function jpeg(file: Buffer): Frame | undefined {
  let size: Pick<Frame, "width" | "height"> | undefined;
  let orientation = 1;
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === SOS) return size && { ...size, orientation, whole: file.indexOf(EOI, at) !== -1 };
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (isFrameHeader(marker) && at + 9 <= file.length) {
      size = { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    }
    if (marker === 0xe1) orientation = exifOrientation(file.subarray(at + 4, end)) ?? orientation;
    at = end;
  }
  return size && { ...size, whole: false };
}

/** Returns true for the markers SOF0 to SOF15, except those that define tables. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Reads the orientation from the first directory of a TIFF block, with entries of 12 bytes (TIFF 6.0, section 2). */
function exifOrientation(segment: Buffer): number | undefined {
  if (segment.toString("latin1", 0, 6) !== EXIF || segment.length < 16) return undefined;
  const tiff = segment.subarray(6);
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number): number =>
    at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const count = short(start);
  for (let entry = start + 2; entry < start + 2 + count * 12; entry += 12) {
    if (entry + 12 > tiff.length) return undefined;
    if (short(entry) !== ORIENTATION) continue;
    const value = short(entry + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/**
 * Reads a GIF (https://www.w3.org/Graphics/GIF/spec-gif89a.txt). A file with one complete picture counts as whole,
 * because many files lack the trailer.
 */
function gif(file: Buffer): Frame | undefined {
  if (file.length < 13) return undefined;
  const size = { width: file.readUInt16LE(6), height: file.readUInt16LE(8) };
  const tableBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  let at = 13 + tableBytes(file[10]);
  while (at < file.length) {
    const isPicture = file[at] === 0x2c;
    if (!isPicture && file[at] !== 0x21) break;
    // Skip a picture's descriptor, color table and code size, or an extension's introducer and label.
    at += isPicture ? 11 + tableBytes(file[at + 9]) : 2;
    while (at < file.length && file[at] !== 0) at += 1 + (file[at] ?? 0);
    if (isPicture && at < file.length) return { ...size, whole: true };
    at += 1;
  }
  return { ...size, whole: false };
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function webp(file: Buffer): Frame | undefined {
  if (file.length < 30) return undefined;
  const whole = file.readUInt32LE(4) + 8 <= file.length;
  switch (file.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1, whole };
    case "VP8 ":
      return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff, whole };
    case "VP8L": {
      const bits = file.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, whole };
    }
    default:
      return undefined;
  }
}
