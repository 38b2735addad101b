import * as z from "zod";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { BUILD } from "../../../infra/gateway/args.ts";
import { tryOnCopy } from "../../../infra/host/trial.ts";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { runProcess, tail } from "../../../infra/shell/process.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { type DeployedStack, type DeployedState, findResource, deployedTarget } from "../deployed/stack.ts";
import { type AsideInstallation, type Project, type ProjectRun, programIn } from "./project.ts";

const ANSWER_MS = 5_000;

/**
 * Returns the version that the service reports. If the service reports none, returns the installed version if its
 * build is deployed, and `undefined` otherwise.
 */
export async function deployedVersion(
  state: DeployedState,
  { installed }: Project,
): Promise<string | undefined> {
  if (state.resources.length === 0) throw new StewardError("stack_not_deployed");
  const url = state.output("url");
  const answered = await fetch(`${url}${ROUTES.home.path}`, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(ANSWER_MS),
  })
    .then((response) => response.json())
    .catch(() => undefined);
  const said = z.object({ name: z.literal("steward"), version: z.string() }).safeParse(answered);
  if (said.success) return said.data.version;
  const { hash } = await buildBundle();
  return state.output("bundleHash") === hash ? installed : undefined;
}

/**
 * Starts the new version on a copy of a host's data, after a backup by the running version.
 *
 * @param words Arguments of `upgrade` that select the version.
 * @returns A sentence about the trial, or the reason why there is none.
 * @throws BuildFailure `upgrade_trial_failed`
 */
export async function tryVersion(
  stack: DeployedStack,
  aside: AsideInstallation,
  given: ProjectRun,
  words: readonly string[],
): Promise<string> {
  if ((await deployedTarget(stack)) !== "host") {
    return "The data of a serverless stack cannot be copied for a trial. To try the new version on past events, set steward:replayEvents.";
  }
  const { values } = await stack.config();
  const { "steward:image": image, "steward:docker": dockerHost } = values;
  if (image !== undefined && image !== BUILD)
    return "steward:image pins the image, so the upgrade has no new image to try.";
  const container = findResource(await stack.state(), "docker:index/container:Container", "service");
  const name = container?.inputs?.["name"];
  if (typeof name !== "string")
    return "The stack has no container yet, so there is no data to try the new version on.";
  // Use the kind of image that the update will use: a build of the package, or the published image.
  const how = image === BUILD ? [] : ["--published"];
  const found = await imageOf(aside, how, dockerHost, given, words);
  return (await tryOnCopy(name, found, { dockerHost, words }))
    ? "The new version started on a copy of the data and became ready."
    : `The container ${name} does not answer, so the new version was not tried on its data.`;
}

/**
 * Loads the new version's image into the Docker engine and returns its name.
 *
 * @param how Options of the package's `image` command.
 * @throws BuildFailure `upgrade_image`
 */
async function imageOf(
  { folder }: AsideInstallation,
  how: readonly string[],
  dockerHost: string | undefined,
  { env, log }: ProjectRun,
  words: readonly string[],
): Promise<string> {
  const command = [programIn(folder), "image", ...how];
  const options = { cwd: folder, env: { ...env, ...(dockerHost && { DOCKER_HOST: dockerHost }) } };
  const built = await runProcess(process.execPath, command, { ...options, onLine: log });
  const name = built.stdout.trim().split("\n").at(-1) ?? "";
  if (built.code === 0 && name !== "") return name;
  throw new BuildFailure(
    "upgrade_image",
    `there is no image of the new version: ${tail(built, 5)}`,
    ({ script }) =>
      `Fix the cause above, or deploy without a trial: \`${script("upgrade", ...words, "--without-trial")}\``,
  );
}
