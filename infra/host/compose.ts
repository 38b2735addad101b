import type { Platform } from "../../runtime/contract/delivery.ts";
import type { VariableName } from "../../runtime/contract/variables.ts";
import type { Shape } from "./shape.ts";

export interface ComposeArgs {
  shape: Shape;
  image: string;
  data: { volumeName: string } | { directory: string };
  variables: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

type Optional = readonly [about: string, names: readonly VariableName[]];

const CHANNELS: Readonly<Record<Platform, Optional>> = {
  telegram: ["Telegram: the token from @BotFather.", ["TELEGRAM_BOT_TOKEN"]],
  slack: ["Slack: both, from the app's pages.", ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]],
  discord: [
    "Discord: all three, from the developer portal.",
    ["DISCORD_BOT_TOKEN", "DISCORD_APPLICATION_ID", "DISCORD_PUBLIC_KEY"],
  ],
};
/** Variables that operators may fill in later. */
const OPTIONAL: readonly Optional[] = [
  ["Admin pages: a token of at least 16 characters. Without it they stay closed.", ["ADMIN_TOKEN"]],
  ...Object.values(CHANNELS),
  ["A second model provider that speaks OpenAI's chat completions.", ["OPENAI_API_KEY"]],
];

/**
 * Returns the content of a Docker Compose file with one service:
 * https://docs.docker.com/reference/compose-file/services/. Compose refuses to start if one of `secrets` is unset or
 * empty.
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
          ...Object.fromEntries(
            OPTIONAL.flatMap(([, names]) => names)
              .filter((name) => !secrets.includes(name) && !Object.hasOwn(variables, name))
              .map((name) => [name, `\${${name}:-}`]),
          ),
        },
        ports: [`${bracketed(port.address)}:${port.external}:${port.internal}`],
        volumes: [`${source}:${shape.dataDirectory}`],
        tmpfs: Object.entries(shape.tmpfs).map(([path, options]) => `${path}:${options}`),
        read_only: true,
        security_opt: shape.securityOptions,
        cap_drop: shape.droppedCapabilities,
        ...(shape.addedCapabilities && { cap_add: shape.addedCapabilities }),
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

/** Returns a template of the `.env` file. */
export function composeEnvironment({
  secrets,
  variables,
}: Pick<ComposeArgs, "secrets" | "variables">): string {
  const isOpen = (name: string): boolean => !secrets.includes(name) && !Object.hasOwn(variables, name);
  const optional = OPTIONAL.map(([about, names]) => {
    const lines = names.filter(isOpen).map((name) => `# ${name}=\n`);
    return lines.length === 0 ? "" : `\n# ${about}\n${lines.join("")}`;
  });
  const required = secrets.map((name) => `${name}=\n`).join("");
  return `# Copy to .env, fill it in, and keep it readable by you alone: chmod 600 .env\n\n# Required\n${required}${optional.join("")}`;
}

/** Doubles each dollar sign, because Compose treats a single one as a variable reference. */
function literal(variables: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(variables).map(([name, value]) => [name, value.replaceAll("$", "$$$$")]);
  return Object.fromEntries(entries);
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
