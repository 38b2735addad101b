import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PhotonImage } from "@cf-wasm/photon/node";
import { expect, test } from "vitest";
import { MediaProcess } from "../../../runtime/gateway/media/media-process.ts";
import { imageFacts } from "../../../runtime/gateway/media/image.ts";
import { Media, mostPixels } from "../../../runtime/gateway/media/media.ts";
import { jpeg, png } from "../support/files.ts";
import { temporaryDirectory } from "../support/processes.ts";

const GB = 1_000_000_000;
const ATTACHMENT = { kind: "image", name: "photo.jpg", reference: "1" } as const;

/** Reads a picture as the gateway does. */
function read(
  data: Uint8Array,
  { memoryBytes = GB, apart = new MediaProcess(), signal = new AbortController().signal } = {},
) {
  return new Media({ apart, memoryBytes, takesPdf: true }).read(data, ATTACHMENT, signal);
}

/** A picture of the sensor's noise, which compresses badly: red in its upper half, blue below. */
function photo(width: number, height: number): PhotonImage {
  const pixels = new Uint8Array(width * height * 4);
  let state = 1;
  for (let at = 0; at < pixels.length; at += 4) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    const noise = (state >>> 16) & 63;
    pixels.set(
      at < pixels.length / 2 ? [190 + noise, noise, noise, 255] : [noise, noise, 190 + noise, 255],
      at,
    );
  }
  return new PhotonImage(pixels, width, height);
}

/** The color of a pixel, as `red`, `blue` or `white`. */
function colorAt(data: Uint8Array, [x, y]: readonly [number, number]): string {
  const image = PhotonImage.new_from_byteslice(data);
  const at = (y * image.get_width() + x) * 4;
  const [red = 0, , blue = 0] = image.get_raw_pixels().slice(at, at + 3);
  return red > 150 && blue > 150 ? "white" : red > blue ? "red" : "blue";
}

/** Puts a JPEG's orientation behind its start. */
function turned(data: Uint8Array, orientation: number): Buffer {
  const exif = jpeg(1, 1, { exif: orientation }).subarray(2, 38);
  return Buffer.concat([data.subarray(0, 2), exif, data.subarray(2)]);
}

test("a photo of 4.4 MiB, which is more than 5 MB in base64, is scaled down", async () => {
  const data = photo(3_000, 2_250).get_bytes_jpeg(97);
  expect(data.byteLength).toBeGreaterThan(4.2 * 1024 * 1024);
  const { image, facts } = await read(data);

  expect(facts).toEqual([]);
  expect(image?.data.byteLength).toBeLessThan(3_750_000);
  expect(imageFacts(image?.data ?? data)).toMatchObject({
    mediaType: "image/jpeg",
    width: 1_568,
    height: 1_176,
    whole: true,
  });
});

test("a picture of more than 8,000 pixels a side is scaled down, however small its file is", async () => {
  const { image } = await read(png(8_001, 20));
  expect(imageFacts(image?.data ?? Buffer.alloc(0))).toMatchObject({ width: 1_568, height: 4 });
});

test.each([
  [1, ["red", "blue"], "below"],
  [3, ["blue", "red"], "below"],
  [6, ["blue", "red"], "beside"],
  [8, ["red", "blue"], "beside"],
] as const)("a photo of orientation %i stands upright", async (orientation, colors, place) => {
  const data = turned(photo(8_100, 200).get_bytes_jpeg(60), orientation);
  const { image } = await read(data);
  const small = image?.data ?? data;
  const { width = 0, height = 0 } = imageFacts(small) ?? {};
  const ends = { below: [width >> 1, height - 3], beside: [width - 3, height >> 1] } as const;
  const starts = { below: [width >> 1, 2], beside: [2, height >> 1] } as const;

  expect([colorAt(small, starts[place]), colorAt(small, ends[place])]).toEqual(colors);
});

test("what is transparent becomes white", async () => {
  const clear = new PhotonImage(new Uint8Array(8_001 * 4 * 10), 8_001, 10).get_bytes();
  const { image } = await read(clear);
  expect(colorAt(image?.data ?? clear, [5, 1])).toBe("white");
});

test("a picture whose content breaks the decoder is one remark, and the next one is read", async () => {
  const apart = new MediaProcess();
  const broken = png(8_001, 2_000, { pixels: false });
  expect(await Promise.all([read(broken, { apart }), read(png(8_001, 20), { apart })])).toMatchObject([
    { facts: ["cannot be read"] },
    { facts: [] },
  ]);
});

test("a picture that takes too long is one remark", async () => {
  expect(await read(png(8_001, 20), { apart: new MediaProcess({ taskMs: 1 }) })).toEqual({
    facts: ["cannot be read"],
  });
});

test("the program has no key in its environment, and may neither write, start programs nor outgrow its heap", async () => {
  const folder = await temporaryDirectory();
  const program = join(folder, "main.ts");
  await writeFile(
    program,
    `const may = (name) => process.permission.has(name);
     const rights = ["fs.write", "child", "worker", "addon"].filter(may);
     const heapMb = process.getBuiltinModule("node:v8").getHeapStatistics().heap_size_limit / 1024 / 1024;
     const limits = process.getBuiltinModule("node:fs").readFileSync("/proc/self/limits", "utf8");
     const cpuSeconds = Number(/^Max cpu time +(\\d+)/m.exec(limits)[1]);
     process.stdout.write(JSON.stringify({ cpuSeconds, variables: Object.keys(process.env), rights, isBound: heapMb < 500 }));`,
  );
  const apart = new MediaProcess({ program });
  const seen: unknown = JSON.parse(
    String(await apart.run("image", Buffer.alloc(0), new AbortController().signal)),
  );

  expect(seen).toEqual({
    cpuSeconds: 60,
    variables: expect.arrayContaining(["NODE_OPTIONS"]),
    rights: [],
    isBound: true,
  });
  // The shell sets the others.
  expect(["NODE_OPTIONS", "OLDPWD", "PWD", "SHLVL", "_"]).toEqual(
    expect.arrayContaining((seen as { variables: string[] }).variables),
  );
});

test("on a small machine large pictures are not decoded", async () => {
  expect(mostPixels(GB)).toBe(63_000_000);
  expect(mostPixels(64 * GB)).toBe(100_000_000);
  expect(await read(png(8_001, 2_000), { memoryBytes: 256_000_000 })).toEqual({
    facts: ["8001 x 2000 pixels", "too large to be read"],
  });
});
