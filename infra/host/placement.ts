import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { dockerEnvironment, imageId } from "../shell/docker.ts";
import { runProcess } from "../shell/process.ts";
import { containersOf, type InspectedContainer } from "./update/containers.ts";

/** Inputs and outputs of {@link Placement}'s provider. */
export interface PlacementInputs {
  container: string;
  image: string;
  /** The named volume; empty if a directory of the host holds the data, and after a refresh that did not find it. */
  volume: string;
  /** See {@link DEFAULTS}. */
  settings: Settings;
  dockerHost?: string;
  /** Number of times that the image was found missing. Set by `check`, so that a preview knows it. */
  imageRound?: number;
  /** Number of times that the container was found missing, or with other settings. Set by `check` too. */
  containerRound?: number;
}

type Settings = Record<string, unknown>;

/**
 * Settings that `docker update` and `docker network` can change, with the values that the engine reports for a
 * container that was created without them. The Docker provider does not read these settings, or does not restore them.
 */
const DEFAULTS = {
  BlkioWeight: 0,
  CpuPeriod: 0,
  CpuQuota: 0,
  CpuRealtimePeriod: 0,
  CpuRealtimeRuntime: 0,
  CpuShares: 0,
  CpusetCpus: "",
  CpusetMems: "",
  KernelMemory: 0,
  MemoryReservation: 0,
  PidsLimit: 0,
  networks: ["bridge"],
};

/** Provider of {@link Placement}. */
export const placementProvider: ResourceProvider<PlacementInputs, PlacementInputs> = {
  /**
   * Compares the engine with the stack in every preview. Fails if the stack's volume is missing, because the service
   * would start with an empty one, unless a refresh has recorded that the volume is gone.
   */
  async check(olds, news) {
    const { imageRound, containerRound } = olds;
    if (imageRound === undefined || containerRound === undefined) {
      return { ...news, imageRound: 0, containerRound: 0 };
    }
    const { imageMissing, containerWrong } = await compare(news);
    const isKept = olds.volume === "" || olds.volume !== news.volume || (await volumeExists(news));
    if (!isKept) throw new StewardError("volume_gone", `The engine has no volume ${news.volume}.`);
    return {
      ...news,
      // An image with a new name is built in any case.
      imageRound: imageRound + Number(imageMissing && olds.image === news.image),
      containerRound: containerRound + Number(containerWrong),
    };
  },

  async diff(_id, olds, news) {
    const keys = ["container", "volume", "settings", "dockerHost", "imageRound", "containerRound"] as const;
    return { changes: keys.some((key) => !isDeepStrictEqual(olds[key], news[key])) };
  },

  async create(inputs) {
    return { id: inputs.container, outs: inputs };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },

  async read(id, props) {
    const found = await containersOf(props.dockerHost).inspect(props.container);
    const volume = (await volumeExists(props)) ? props.volume : "";
    const settings = found === undefined ? DEFAULTS : settingsOf(found);
    const now = { ...props, volume, settings };
    return { id, inputs: now, props: now };
  },
};

async function compare({ container, image, settings, dockerHost }: PlacementInputs) {
  const [found, id] = await Promise.all([
    containersOf(dockerHost).inspect(container),
    imageId(image, dockerEnvironment(dockerHost)),
  ]);
  const containerWrong = found === undefined || !isDeepStrictEqual(settingsOf(found), settings);
  return { imageMissing: id === undefined, containerWrong };
}

function settingsOf({ HostConfig, NetworkSettings }: InspectedContainer): Settings {
  // The engine reports null or -1 for a limit that was never set or has been removed.
  const unset = (value: unknown): boolean => value === undefined || value === null || value === -1;
  const entries = Object.entries(DEFAULTS).map(([name, byDefault]) => {
    return [name, unset(HostConfig[name]) ? byDefault : HostConfig[name]];
  });
  return { ...Object.fromEntries(entries), networks: Object.keys(NetworkSettings.Networks).sort() };
}

async function volumeExists({ volume, dockerHost }: PlacementInputs): Promise<boolean> {
  if (volume === "") return true;
  const asked = await runProcess("docker", ["volume", "inspect", volume], {
    env: dockerEnvironment(dockerHost),
  });
  return asked.code === 0 || !/no such volume/i.test(asked.stderr);
}

/** Arguments of {@link Placement}. */
export type PlacementArgs = Pick<PlacementInputs, "container" | "volume"> & {
  image: pulumi.Input<string>;
  /** The engine's address. Default: the one that the `docker` command uses. */
  dockerHost?: string | undefined;
};

/**
 * Records whether the engine still has what the stack created. The Docker provider reads the engine only in a refresh;
 * this resource reads it in every preview, and its numbers make Pulumi replace an image or a container that is gone,
 * and a container that was changed by hand.
 */
export class Placement extends OwnResource {
  /** A replacement trigger of the image. */
  declare readonly imageRound: pulumi.Output<number>;
  /** A replacement trigger of the container. */
  declare readonly containerRound: pulumi.Output<number>;

  constructor(name: string, { dockerHost, ...args }: PlacementArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = {
      ...args,
      settings: DEFAULTS,
      ...(dockerHost !== undefined && { dockerHost }),
      imageRound: undefined,
      containerRound: undefined,
    };
    super("host:Placement", name, inputs, opts);
  }
}
