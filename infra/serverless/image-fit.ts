import { StewardError } from "../../runtime/contract/errors.ts";
import type { InstanceType } from "./container-api.ts";
import { INSTANCES } from "./prices.ts";

/** What decides whether an image can run. */
export interface ImageSize {
  /** Bytes of all layers, unpacked. */
  bytes: number;
  layers: number;
}

const MB = 1_000_000;
const LAYER_BYTES = 16 * 1024 * 1024;
const SPARE = 1.1;

/**
 * Refuses an image that the instance type's disk does not hold, by the rule of Cloudflare's own command line
 * (`ensureImageFitsLimits` in https://github.com/cloudflare/workers-sdk): a tenth more than its size, and 16 MiB a layer.
 *
 * @throws StewardError `image_too_large`, with the smallest type that holds it.
 */
export function requireFit(size: ImageSize, instanceType: InstanceType): void {
  const needed = Math.ceil(size.bytes * SPARE + size.layers * LAYER_BYTES);
  const disk = (type: InstanceType): number => INSTANCES[type].diskGB * 1_000 * MB;
  if (needed <= disk(instanceType)) return;
  const fitting = (Object.keys(INSTANCES) as InstanceType[]).find((type) => needed <= disk(type));
  const way = fitting === undefined ? "no type holds it" : `the smallest that holds it is ${fitting}`;
  throw new StewardError(
    "image_too_large",
    `The image needs ${Math.ceil(needed / MB)} MB of disk (${size.layers} layers), and ${instanceType} has ${disk(instanceType) / MB} MB; ${way}`,
  );
}
