import { dockerAvailable } from "../../infra/shell/docker.ts";

/** Without an engine, tests that need one are skipped, but CI fails. */
export const engine = await dockerAvailable();

if (!engine.ok && process.env["CI"])
  throw new Error(`CI skips nothing, and Docker is missing: ${engine.reason}`);
if (!engine.ok) process.stderr.write(`skipped: what needs a Docker engine (${engine.reason})\n`);
