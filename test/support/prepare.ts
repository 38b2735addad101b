import { dockerAvailable } from "../../infra/shell/docker.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { typedByHand } from "../../rehearsal/engine/by-hand.ts";
import { ensureEngine } from "../../rehearsal/engine/index.ts";

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Makes once what takes minutes on a cold cache, before any test waits for it: the engine, and the base image. */
export default async function prepare({ name }: { name: string }): Promise<void> {
  await typedByHand(await ensureEngine({ docker: name === "system", log }), { log });
  if (name === "system" && (await dockerAvailable()).ok) await prepareBaseImage({ log });
}
