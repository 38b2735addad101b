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

/** Label of the volume that a stack creates. Its value is {@link stackOwner}. */
export const OWNER_LABEL = `${AGENT}.stack`;

/** Returns the project and the name of the stack that is being deployed. */
export function stackOwner(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}

/** Hooks that refuse names which somebody else has. */
export interface NameHooks {
  container: pulumi.ResourceHook[];
  volume: pulumi.ResourceHook[];
  registered: Promise<unknown>;
}

/**
 * Registers the hooks. A Pulumi language host from before hooks existed does not register them, so names are not
 * checked there: the lists are filled with what was registered once `registered` is fulfilled. Pulumi reads them when all
 * inputs of a resource are known; see {@link runBeforeCreate}.
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
 * Returns a transformation that makes a resource run hooks before it is created. The option `hooks` would copy the list
 * before it is filled.
 */
export function runBeforeCreate(hooks: pulumi.ResourceHook[] = []): pulumi.ResourceTransformation {
  return ({ props, opts }) => ({ props, opts: { ...opts, hooks: { beforeCreate: hooks } } });
}

/**
 * Creates the hook that runs before a container is created, in a preview too. It refuses a name that another container
 * has, unless it is one of this stack, which an interrupted update left behind.
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
        throw taken(
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

/** Returns true if the container has the attestation key of the one that is to be created, a secret of its stack. */
async function isOwn({ Config }: InspectedContainer, inputs: unknown): Promise<boolean> {
  const { envs } = inputs as { envs?: unknown };
  // Without `apply`, which never runs for the unknown values of a first preview: `undefined` there.
  const output = pulumi.output(envs) as unknown as { promise(): Promise<string[] | undefined> };
  const pairs = (await output.promise()) ?? [];
  const key = pairs.find((pair) => pair.startsWith(`${ATTESTATION_KEY_VARIABLE}=`));
  return key !== undefined && (Config.Env ?? []).includes(key);
}

/**
 * Creates the hook that runs before a volume is created, in a preview too. Docker would silently hand over a volume that
 * already exists. The hook refuses it unless this stack made it, and kept it at its last destroy.
 */
function volumeNameHook(name: string, dockerHost: string | undefined): pulumi.ResourceHook {
  // Inside the callback Pulumi no longer knows the stack.
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
      throw taken(
        `volume ${name}`,
        `${configSet("steward:hostDataDirectory", found.Mountpoint)}, to use its data`,
        `docker volume rm ${name}, if nobody needs it`,
      );
    },
    { onDryRun: true },
  );
}

/**
 * Returns the error for a name that is taken. Its message has the code, the cause and the fixes, because the engine
 * shows only the message of an error in a hook.
 */
function taken(what: string, ...fixes: string[]): Error {
  const code: ErrorCode = "host_name_taken";
  const cause = `The engine already has a ${what}, which this stack did not make.`;
  return new Error(explanationText({ code, cause, fix: fixes.join("; or: ") }));
}
