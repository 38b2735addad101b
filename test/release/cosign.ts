import { resolve } from "node:path";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { goProgram } from "../support/go-program.ts";

const COSIGN = {
  what: "cosign",
  codePrefix: "cosign",
  module: resolve(import.meta.dirname, "cosign"),
  command: "github.com/sigstore/cosign/v3/cmd/cosign",
  ldflags: "-s -w",
  place: "cosign/cosign",
};
const log = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Returns cosign's executable, built once from its pinned Go module into the cache, which takes about seven minutes; the
 * reason if Go is missing.
 */
export async function cosign(): Promise<{ executable: string } | { missing: string }> {
  try {
    return { executable: await goProgram(COSIGN, { log, env: process.env }) };
  } catch (error) {
    const isMissing = error instanceof BuildFailure && error.code === "cosign_go_missing";
    if (!isMissing || process.env["CI"]) throw error;
    return { missing: error.message };
  }
}
