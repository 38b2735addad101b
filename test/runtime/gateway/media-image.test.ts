import { expect, test } from "vitest";
import { imageFacts } from "../../../runtime/gateway/media/image.ts";
import { gif, jpeg, png, webp } from "../support/files.ts";

const files = { png: png(640, 480), jpeg: jpeg(640, 480), gif: gif(), webp: webp() };

test.each([
  ["png", "image/png", 640, 480],
  ["jpeg", "image/jpeg", 640, 480],
  ["gif", "image/gif", 1, 1],
  ["webp", "image/webp", 16, 16],
] as const)("a %s tells its type and size, and that it is whole", (name, mediaType, width, height) => {
  expect(imageFacts(files[name])).toEqual({ mediaType, width, height, whole: true, orientation: 1 });
});

test.each(Object.entries(files))("a %s that ends too early is never whole", (_, file) => {
  const wrong = Array.from({ length: file.byteLength - 2 }, (_end, length) => length).filter(
    (length) => imageFacts(file.subarray(0, length))?.whole === true,
  );
  expect(wrong).toEqual([]);
});

test("a JPEG tells how it is turned", () => {
  expect(imageFacts(jpeg(4, 3, { exif: 6 }))?.orientation).toBe(6);
  expect(imageFacts(jpeg(4, 3, { exif: 99 }))?.orientation).toBe(1);
});

test("the end of a thumbnail inside of a JPEG is not its own", () => {
  const cut = jpeg(4, 3, { end: false });
  const thumbnail = Buffer.concat([
    cut.subarray(0, 2),
    Buffer.from("ffe20006ffd9ffd9", "hex"),
    cut.subarray(2),
  ]);
  expect(imageFacts(thumbnail)).toMatchObject({ width: 4, whole: false });
});

test("what is no picture, or has no size, is none", () => {
  for (const data of [
    Buffer.alloc(0),
    Buffer.from("%PDF-1.7"),
    png(0, 5),
    Buffer.from("\xff\xd8\xff", "latin1"),
  ]) {
    expect(imageFacts(data)).toBeUndefined();
  }
});
