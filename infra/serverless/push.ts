import { text } from "node:stream/consumers";
import { StewardError } from "../../runtime/contract/errors.ts";
import { buildBundle } from "../bundle/bundle.ts";
import { BuildFailure } from "../shell/failure.ts";
import { stewardImage } from "../bundle/image.ts";
import type { InstanceType } from "./container-api.ts";
import { pullImage, pushImage } from "./push-image.ts";
import { print, printError } from "../../runtime/shared/terminal.ts";

/**
 * Settings of this program, which pushes an image to PUSH_REGISTRY. The image is PUSH_SOURCE if set, otherwise a new
 * build, and must fit on the disk of PUSH_INSTANCE_TYPE. The API token comes from standard input, or else
 * CLOUDFLARE_API_TOKEN. The last output line is the image's name with its digest.
 */
const {
  PUSH_ACCOUNT = "",
  PUSH_REGISTRY = "",
  PUSH_INSTANCE_TYPE,
  PUSH_SOURCE,
  CLOUDFLARE_API_TOKEN = "",
  CLOUDFLARE_BASE_URL,
} = process.env;

try {
  const bundle = await buildBundle();
  const log = (line: string): void => printError(`${line}\n`);
  const image =
    PUSH_SOURCE === undefined ? (await stewardImage(bundle, log)).image : await pullImage(PUSH_SOURCE);
  const apiToken = (await text(process.stdin)).trim() || CLOUDFLARE_API_TOKEN;
  const access = { accountId: PUSH_ACCOUNT, apiToken, baseURL: CLOUDFLARE_BASE_URL };
  const reference = await pushImage(access, {
    image,
    tag: bundle.container.hash,
    registry: PUSH_REGISTRY,
    instanceType: PUSH_INSTANCE_TYPE as InstanceType,
  });
  print(`${reference}\n`);
} catch (error) {
  printError(`${formatError(error)}\n`);
  process.exitCode = 1;
}

function formatError(error: unknown): string {
  if (error instanceof StewardError) return `${error.message} (${error.code}).\n  fix: ${error.reason.fix}`;
  return error instanceof BuildFailure ? error.message : String(error);
}
