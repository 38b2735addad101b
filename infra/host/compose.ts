import type { Shape } from "./shape.ts";

/** Dependencies of a Compose file. */
export interface ComposeArgs {
  shape: Shape;
  image: string;
  /** Store of the data: a volume, or a directory of the host. */
  data: { volumeName: string } | { directory: string };
  variables: Readonly<Record<string, string>>;
  /** Names of the variables whose values nobody may read. */
  secrets: readonly string[];
}

/**
 * The container as a service of Docker Compose (https://docs.docker.com/reference/compose-file/services/). A secret
 * is a reference that Compose resolves, and refuses to start without.
 */
export function composeFile({ shape, image, data, variables, secrets }: ComposeArgs): object {
  const { health, logs, port } = shape;
  const source = "directory" in data ? data.directory : "data";
  return {
    services: {
      steward: {
        image,
        container_name: shape.name,
        user: shape.user,
        command: shape.command,
        environment: {
          ...literal(variables),
          ...Object.fromEntries(secrets.map((name) => [name, `\${${name}:?}`])),
        },
        ports: [`${bracketed(port.address)}:${port.external}:${port.internal}`],
        volumes: [`${source}:${shape.dataDirectory}`],
        tmpfs: Object.entries(shape.tmpfs).map(([path, options]) => `${path}:${options}`),
        read_only: true,
        security_opt: shape.securityOptions,
        cap_drop: shape.droppedCapabilities,
        mem_limit: `${shape.memoryMiB}m`,
        memswap_limit: `${shape.memoryMiB}m`,
        cpus: shape.cpus,
        ulimits: { nproc: { soft: shape.maxProcesses, hard: shape.maxProcesses } },
        restart: shape.restart,
        logging: { driver: logs.driver, options: logs.options },
        healthcheck: {
          test: health.test,
          interval: health.interval,
          timeout: health.timeout,
          start_period: health.startPeriod,
          retries: health.retries,
        },
        stop_grace_period: `${shape.stopSeconds}s`,
      },
    },
    ...("volumeName" in data && { volumes: { data: { name: data.volumeName } } }),
  };
}

/** The names that the file refers to, to be filled in: it holds no value. */
export function composeEnvironment(secrets: readonly string[]): string {
  return secrets.map((name) => `${name}=\n`).join("");
}

/** A dollar sign begins a reference in Compose. */
function literal(variables: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(variables).map(([name, value]) => [name, value.replaceAll("$", "$$$$")]);
  return Object.fromEntries(entries);
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
