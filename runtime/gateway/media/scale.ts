import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { programsFolder } from "../../process/programs.ts";
import { imageFacts } from "./image.ts";

/**
 * Longest edge in pixels that providers do not scale down (https://docs.claude.com/en/docs/build-with-claude/vision).
 */
const LONG_EDGE = 1_568;
const JPEG_QUALITY = 85;

/**
 * Returns an upright JPEG of at most 1,568 pixels per side, with a white background. Decodes the whole picture, so it
 * must run in a separate process.
 *
 * @throws if the picture cannot be decoded.
 */
export async function scaleDown(data: Uint8Array): Promise<Uint8Array> {
  const { orientation = 1 } = imageFacts(data) ?? {};
  const { initPhoton, PhotonImage, resize, SamplingFilter } = await import("@cf-wasm/photon/others");
  await initPhoton({ module_or_path: await readFile(codecFile()) });
  const whole = PhotonImage.new_from_byteslice(data);
  const [width, height] = [whole.get_width(), whole.get_height()];
  const factor = Math.min(1, LONG_EDGE / Math.max(width, height));
  const [newWidth, newHeight] = [width, height].map((side) => Math.max(1, Math.round(side * factor)));
  const small = resize(whole, newWidth ?? 1, newHeight ?? 1, SamplingFilter.Triangle);
  whole.free();
  const upright = turn(
    { pixels: small.get_raw_pixels(), width: small.get_width(), height: small.get_height() },
    orientation,
  );
  return new PhotonImage(upright.pixels, upright.width, upright.height).get_bytes_jpeg(JPEG_QUALITY);
}

/**
 * Returns the path of the decoder's WebAssembly file: in the bundle if the gateway is bundled, otherwise in the npm
 * package.
 */
function codecFile(): string {
  const bundled = join(programsFolder(), "gateway/media/photon.wasm");
  return existsSync(bundled)
    ? bundled
    : createRequire(import.meta.url).resolve("@cf-wasm/photon/photon.wasm");
}

/** Picture with four bytes per pixel: red, green, blue, opacity. */
interface Bitmap {
  pixels: Uint8Array;
  width: number;
  height: number;
}

/** Turns the picture upright according to its Exif orientation, and replaces transparency with white. */
function turn({ pixels, width, height }: Bitmap, orientation: number): Bitmap {
  const isSwapped = orientation >= 5;
  const isFromRight = [2, 3, 7, 8].includes(orientation);
  const isFromBelow = [3, 4, 6, 7].includes(orientation);
  const [newWidth, newHeight] = isSwapped ? [height, width] : [width, height];
  const turned = new Uint8Array(pixels.length);
  let to = 0;
  for (let y = 0; y < newHeight; y += 1) {
    for (let x = 0; x < newWidth; x += 1) {
      const [across, down] = isSwapped ? [y, x] : [x, y];
      const column = isFromRight ? width - 1 - across : across;
      const row = isFromBelow ? height - 1 - down : down;
      const from = (row * width + column) * 4;
      const opacity = pixels[from + 3] ?? 255;
      for (let color = 0; color < 3; color += 1) {
        turned[to + color] = ((pixels[from + color] ?? 0) * opacity + 255 * (255 - opacity)) / 255;
      }
      turned[to + 3] = 255;
      to += 4;
    }
  }
  return { pixels: turned, width: newWidth, height: newHeight };
}
