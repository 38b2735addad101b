import { dockerAvailable } from "../../infra/shell/docker.ts";

/** This machine's Docker engine. Without one, tests that need it are skipped. */
export const engine = await dockerAvailable();

if (!engine.ok && process.env["CI"])
  throw new Error(`CI skips nothing, and Docker is missing: ${engine.reason}`);
if (!engine.ok) process.stderr.write(`skipped: what needs a Docker engine (${engine.reason})\n`);
