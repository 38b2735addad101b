import * as pulumi from "@pulumi/pulumi";
import { ATTESTATION_KEY_VARIABLE } from "../../runtime/contract/attestation.ts";
import type { ErrorCode } from "../../runtime/contract/errors.ts";
import { AGENT, type HostNames } from "../../runtime/contract/names.ts";
import { operatorStack } from "../shell/resource.ts";
import { commandsFor } from "../shell/package.ts";
import { dockerEnvironment } from "../shell/docker.ts";
import { explanationText } from "../shell/explain.ts";
import { runProcess } from "../shell/process.ts";
import { containersOf, type InspectedContainer } from "./update/containers.ts";
import { freeName } from "./update/previous.ts";

/** Label on the stack's volume, with {@link stackOwner} as its value. */
export const OWNER_LABEL = `${AGENT}.stack`;

/** Returns `<project>/<stack>` of the current deployment. */
export function stackOwner(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}

/** Hooks that reject the names of existing Docker containers and volumes. */
export interface NameHooks {
  container: pulumi.ResourceHook[];
  volume: pulumi.ResourceHook[];
  registered: Promise<unknown>;
}

/**
 * Returns lists of hooks that reject names already in use. The lists are filled after this function returns; the
 * returned promise `registered` resolves when the lists are complete.
 */
export function nameHooks({ container, volume }: HostNames, dockerHost: string | undefined): NameHooks {
  const hooks = [containerNameHook(container, dockerHost), volumeNameHook(volume, dockerHost)];
  const lists = hooks.map((): pulumi.ResourceHook[] => []);
  const filled = hooks.map((hook, index) => {
    const { __registered } = hook as unknown as { __registered: Promise<void> };
    return __registered.then(
      () => void lists[index]?.push(hook),
      () => undefined,
    );
  });
  const [containerHooks = [], volumeHooks = []] = lists;
  return { container: containerHooks, volume: volumeHooks, registered: Promise.all(filled) };
}

/**
 * Returns a transformation that runs `hooks` before each resource's creation. Unlike the array in the resource option
 * `hooks`, this array may be extended after the transformation is registered.
 */
export function runBeforeCreate(hooks: pulumi.ResourceHook[] = []): pulumi.ResourceTransformation {
  return ({ props, opts }) => ({ props, opts: { ...opts, hooks: { beforeCreate: hooks } } });
}

/**
 * Returns a hook that runs before a container is created, also in previews. It rejects a name that another container
 * uses, unless an interrupted update of this stack left that container behind.
 */
function containerNameHook(name: string, dockerHost: string | undefined): pulumi.ResourceHook {
  const isPreview = pulumi.runtime.isDryRun();
  return new pulumi.ResourceHook(
    `container-name-${name}`,
    async ({ newInputs }) => {
      const containers = containersOf(dockerHost);
      const found = await containers.inspect(name);
      if (found === undefined) return;
      if (!(await isOwn(found, newInputs))) {
        throw nameTakenError(
          `container ${name}`,
          `docker rename ${name} ${name}-other`,
          `docker rm --force ${name}, if nobody needs it`,
        );
      }
      if (!isPreview) await freeName(containers, name);
    },
    { onDryRun: true },
  );
}

/** Returns true if the existing container has the stack's secret attestation key. */
async function isOwn({ Config }: InspectedContainer, inputs: unknown): Promise<boolean> {
  const { envs } = inputs as { envs?: unknown };
  // In a first preview, the variables are unknown. `apply` would not call its callback, but this promise resolves to
  // `undefined`.
  const output = pulumi.output(envs) as unknown as { promise(): Promise<string[] | undefined> };
  const pairs = (await output.promise()) ?? [];
  const key = pairs.find((pair) => pair.startsWith(`${ATTESTATION_KEY_VARIABLE}=`));
  return key !== undefined && (Config.Env ?? []).includes(key);
}

/**
 * Returns a hook that runs before a volume is created, also in previews. It rejects an existing volume that this
 * stack did not create, because Docker would silently reuse it.
 */
function volumeNameHook(name: string, dockerHost: string | undefined): pulumi.ResourceHook {
  // Read the owner here, because Pulumi no longer knows the stack inside the callback.
  const own = stackOwner();
  const { configSet } = commandsFor(operatorStack());
  return new pulumi.ResourceHook(
    `volume-name-${name}`,
    async () => {
      const env = dockerEnvironment(dockerHost);
      const { code, stdout } = await runProcess("docker", ["volume", "inspect", name], { env });
      if (code !== 0) return;
      const [found] = JSON.parse(stdout) as { Labels: Record<string, string> | null; Mountpoint: string }[];
      if (found === undefined || found.Labels?.[OWNER_LABEL] === own) return;
      throw nameTakenError(
        `volume ${name}`,
        `${configSet("steward:hostDataDirectory", found.Mountpoint)}, to use its data`,
        `docker volume rm ${name}, if nobody needs it`,
      );
    },
    { onDryRun: true },
  );
}

/**
 * Returns the error for a name in use. The message includes the error code and fixes, because Pulumi shows nothing
 * else.
 */
function nameTakenError(what: string, ...fixes: string[]): Error {
  const code: ErrorCode = "host_name_taken";
  const cause = `The engine already has a ${what}, which this stack did not create.`;
  return new Error(explanationText({ code, cause, fix: fixes.join("; or: ") }));
}
