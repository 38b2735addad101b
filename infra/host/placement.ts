import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { dockerEnvironment, imageId } from "../shell/docker.ts";
import { runProcess } from "../shell/process.ts";
import { containersOf, type InspectedContainer } from "./update/containers.ts";

export interface PlacementInputs {
  container: string;
  image: string;
  /**
   * Name of the volume that contains the data; empty if the data is in a host directory, or if a refresh did not find
   * the volume.
   */
  volume: string;
  settings: Settings;
  dockerHost?: string;
  /** Number of times that `check` found the image missing. */
  imageRound?: number;
  /** Number of times that `check` found the container missing or with unexpected settings. */
  containerRound?: number;
}

type Settings = Record<string, unknown>;

/** Docker's defaults for settings that can change without being noticed by the Docker provider. */
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

export const placementProvider: ResourceProvider<PlacementInputs, PlacementInputs> = {
  /**
   * Checks whether the Docker engine still has the stack's image, volume and unchanged container. If the volume is
   * missing, throws `volume_gone` unless the operator has accepted the loss with `pulumi up --refresh`.
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
      // Count a missing image only if its name is unchanged. For a new name, Pulumi creates the image anyway.
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
  // Docker reports null or -1 for a limit that was never set or has been removed.
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

export type PlacementArgs = Pick<PlacementInputs, "container" | "volume"> & {
  image: pulumi.Input<string>;
  /** Docker host address. Default: the `docker` command's. */
  dockerHost?: string | undefined;
};

/**
 * Resource that looks in every preview for a missing image, and for a missing or manually changed container. Increments
 * a counter to make Pulumi replace the image or container.
 */
export class Placement extends OwnResource {
  declare readonly imageRound: pulumi.Output<number>;
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
