import { setTimeout as sleep } from "node:timers/promises";
import { BACKUPS_DIRECTORY, DATA_DIRECTORY } from "../../runtime/contract/names.ts";
import { containerReport } from "../readiness/container.ts";
import { dockerEnvironment } from "../shell/docker.ts";
import { BuildFailure } from "../shell/failure.ts";
import { tail } from "../shell/process.ts";
import { containersOf } from "./update/containers.ts";
import { answers, backUp, isReady } from "./update/previous.ts";

const READY_MS = 60_000;
const RETRY_MS = 500;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Mount point of the trial's volume in the helper container. */
const COPY = "/trial";
const COPY_BACKUP = `
const fs = require("node:fs");
const [from, to] = ["${DATA_DIRECTORY}/${BACKUPS_DIRECTORY}", "${COPY}/${BACKUPS_DIRECTORY}"];
fs.mkdirSync(to, { recursive: true, mode: 0o700 });
for (const name of fs.readdirSync(from).filter((file) => file.startsWith(process.argv[1])))
  fs.copyFileSync(from + "/" + name, to + "/" + name);
`;

interface TrialOptions {
  /** Docker host address. Default: the `docker` command's. */
  dockerHost?: string | undefined;
  /** Command-line arguments that select the version. Error messages repeat these arguments in suggested commands. */
  words?: readonly string[];
  /** Milliseconds until the image must be ready. Default: 60 seconds. */
  readyMs?: number;
}

/**
 * Starts `image` without a network on a temporary copy of `container`'s data, made from a new backup, and waits until
 * the new gateway is ready.
 *
 * @returns false, without a test, if the gateway in `container` is not ready
 * @throws BuildFailure `upgrade_trial_failed` or StewardError `backup_failed`
 */
export async function tryOnCopy(
  container: string,
  image: string,
  { dockerHost, words = [], readyMs = READY_MS }: TrialOptions = {},
): Promise<boolean> {
  const containers = containersOf(dockerHost);
  const running = await containers.inspect(container);
  if (running?.State.Running !== true || !(await isReady(containers, container))) return false;
  const trial = `${container}-trial`;
  const helper = `${trial}-copy`;
  const remove = async (): Promise<void> => {
    for (const name of [helper, trial]) await containers.docker(["rm", "--force", "--volumes", name]);
    await containers.docker(["volume", "rm", "--force", trial]);
  };
  await remove();
  return removingAfter(remove, async (requireGoing) => {
    const docker = async (...words: string[]): Promise<void> => {
      requireGoing();
      const finished = await containers.docker(words);
      if (finished.code !== 0) throw new Error(`docker ${words[0]} failed: ${tail(finished)}`);
    };
    const runHelper = (program: string, ...words: string[]): Promise<void> =>
      docker("run", "--rm", `--name=${helper}`, "--network=none", `--entrypoint=${program}`, ...words);
    const backup = await backUp(containers, container);
    // Docker gives the new volume the permissions of the image's directory.
    await containers.copy(running, trial, { image, network: "none", volume: trial });
    const volumes = [`--volumes-from=${container}:ro`, `--volume=${trial}:${COPY}`];
    await runHelper("node", ...volumes, running.Image, "--eval", COPY_BACKUP, backup);
    const place = `--volume=${trial}:${DATA_DIRECTORY}`;
    await runHelper("steward", place, running.Image, "backup", "restore", backup, "--yes");
    await docker("start", trial);
    for (const end = Date.now() + readyMs; Date.now() < end; await sleep(RETRY_MS)) {
      requireGoing();
      if (await answers(containers, trial)) return true;
      if ((await containers.inspect(trial))?.State.Running !== true) break;
    }
    const report = await containerReport(trial, dockerEnvironment(dockerHost));
    throw new BuildFailure(
      "upgrade_trial_failed",
      [`${image} does not become ready on a copy of the data, so nothing was changed.`, ...report].join("\n"),
      ({ script }) =>
        `Wait for another version, or deploy it without the trial: \`${script("upgrade", ...words, "--without-trial")}\``,
    );
  });
}

/** Runs `remove` after the work, even after an error or a signal. */
async function removingAfter<T>(
  remove: () => Promise<void>,
  work: (requireGoing: () => void) => Promise<T>,
): Promise<T> {
  let ending: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals): void => void (ending = signal);
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work(() => {
      if (ending !== undefined) throw new Error(`ended by ${ending}`);
    });
  } finally {
    await remove();
    for (const signal of SIGNALS) process.off(signal, end);
    if (ending !== undefined) process.kill(process.pid, ending);
  }
}
