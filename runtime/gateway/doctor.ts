import { chmodSync, existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { missingCredentials } from "../contract/config/credentials.ts";
import { formatConfigProblems } from "../contract/config/index.ts";
import { readConfigText, secretsOf } from "../contract/config/text.ts";
import type { GatewayStatus } from "../contract/control.ts";
import { type ErrorCode, reason } from "../contract/errors.ts";
import type { Redactor } from "../shared/redact.ts";
import type { Environment } from "../contract/variables.ts";
import { withScheduleChecks } from "../process/config-file.ts";
import { storeFailure } from "../process/database.ts";
import type { ProcessSettings } from "../process/settings.ts";
import { accessRisks } from "./access-risks.ts";
import { pairedFileSchema, pendingFileSchema } from "./devices.ts";
import { approvedSchema, operatorsSchema, requestsSchema } from "./pairing/store.ts";
import { readStore, setAsideFiles } from "./store-file.ts";

/** Folders of the data directory that only steward's user may access. */
const FOLDERS = ["", "credentials", "devices", "logs", "backups"];
const OTHERS = 0o077;
/** Permissions that other users must not have on the data directory itself. They may only traverse it. */
const READ_OR_WRITE = 0o066;

/** Schemas by file name ending. */
const JSON_STORES = {
  "-pairing.json": requestsSchema,
  "-allowFrom.json": approvedSchema,
  "-operators.json": operatorsSchema,
  "pending.json": pendingFileSchema,
  "paired.json": pairedFileSchema,
} as const;

const MEBIBYTE = 1024 * 1024;
const LITTLE = 256 * MEBIBYTE;
const NONE = 16 * MEBIBYTE;

export async function diagnose(options: DoctorOptions, running: RunningGateway): Promise<Finding[]> {
  return [
    ...(await checkConfigFile(options)),
    ...checkRights(options),
    ...checkStores(options),
    ...checkDisk(options),
    ...checkRunning(running),
  ];
}

async function checkConfigFile({ settings, environment, redact }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const path = settings.configPath;
  if (environment["TELEGRAM_DM_POLICY"]) findings.push(wrong("environment", "problem", "dm_policy_set"));
  if (!existsSync(path)) {
    const detail = `There is no config file at ${path}; the gateway's next start writes it.`;
    return [...findings, wrong("config", "warning", "config_missing", detail)];
  }
  const { value, result } = await withScheduleChecks(readConfigText(readFileSync(path, "utf8"), environment));
  if (result.ok) {
    findings.push(fine("config", `${path} is valid`));
    for (const { path: at, code, detail, fix } of accessRisks(result.config, settings.home)) {
      findings.push({ check: "access", state: "warning", code, detail: `${at}: ${detail}`, fix });
    }
    for (const [platform, missing] of Object.entries(missingCredentials(environment))) {
      const detail = `${platform} stays off: ${missing.join(" and ")} is not set.`;
      findings.push(wrong("credentials", "warning", "credentials_incomplete", detail));
    }
  } else {
    const report = redact(formatConfigProblems(path, result.problems));
    findings.push(wrong("config", "problem", "config_invalid", report));
  }
  const plain = secretsOf(value).filter(({ secret }) => typeof secret === "string");
  for (const { path: at } of plain) {
    findings.push(
      wrong("secrets", "warning", "secret_in_plain", `${at} is in the config file in plain text.`),
    );
  }
  return findings;
}

function checkDisk({ settings }: DoctorOptions): Finding[] {
  if (!existsSync(settings.home)) return [];
  const { bavail, bsize } = statfsSync(settings.home);
  const free = bavail * bsize;
  const detail = `${Math.floor(free / MEBIBYTE)} MiB are free at ${settings.home}.`;
  if (free >= LITTLE) return [fine("disk", detail)];
  return [wrong("disk", free < NONE ? "problem" : "warning", "disk_full", detail)];
}

interface RunningGateway {
  url: string;
  ready: boolean;
  details?: GatewayStatus;
}

function checkRunning({ url, ready, details }: RunningGateway): Finding[] {
  if (!ready) return [wrong("gateway", "warning", "gateway_unavailable", `No answer at ${url}.`)];
  const findings = [fine("gateway", `Ready at ${url}`)];
  if (details === undefined) return findings;
  const { config, channels, models, model } = details;
  const told = [
    { check: "config", reason: config.problem },
    ...channels.map(({ platform, reason }) => ({ check: `channel ${platform}`, reason })),
    ...(models.length > 0 ? models : [model]).map(({ id, reason }) => ({ check: `model ${id}`, reason })),
  ];
  for (const { check, reason } of told) {
    if (reason !== undefined) findings.push({ check, state: "problem", ...reason });
  }
  return findings;
}

function checkStores({ settings }: DoctorOptions): Finding[] {
  const { home } = settings;
  const aside = setAsideFiles(home).map((path) =>
    wrong(
      "stores",
      "warning",
      "store_corrupt",
      `${path} could not be read and was set aside; delete it when you no longer need it.`,
    ),
  );
  const stores = ["credentials", "devices"].flatMap((name) => checkJson(join(home, name)));
  return [checkDatabase(join(home, "state.db")), ...stores, ...aside];
}

function checkDatabase(path: string): Finding {
  if (!existsSync(path)) return fine("state.db", "Does not exist yet; the gateway creates it");
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const said = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (said === "ok") return fine("state.db", `${path} is intact`);
  } catch (error) {
    const failure = storeFailure(error, path);
    if (failure === undefined) throw error;
    return wrong("state.db", "problem", failure.code, failure.message);
  }
  return wrong("state.db", "problem", "store_corrupt", `${path} is corrupt.`);
}

function checkJson(directory: string): Finding[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const [, schema] = Object.entries(JSON_STORES).find(([end]) => name.endsWith(end)) ?? [];
    if (schema === undefined) return [];
    const path = join(directory, name);
    const reading = readStore<unknown>(path, schema);
    if (reading.ok) return [fine("stores", `${path} is readable`)];
    return [
      wrong("stores", "problem", "store_corrupt", `${path} is not a valid store (${reading.problem}).`),
    ];
  });
}

export interface Finding {
  check: string;
  state: "ok" | "warning" | "problem";
  detail: string;
  code?: ErrorCode;
  fix?: string;
}

export interface DoctorOptions {
  environment: Environment;
  settings: ProcessSettings;
  redact: Redactor;
}

function fine(check: string, detail: string): Finding {
  return { check, state: "ok", detail };
}

function wrong(check: string, state: "warning" | "problem", code: ErrorCode, detail?: string): Finding {
  return { check, state, ...reason(code, detail) };
}

function checkRights({ settings }: DoctorOptions): Finding[] {
  const wide = tooWide(settings.home);
  if (wide.length === 0) return [fine("rights", "Only this user can access the data directory")];
  const paths = wide.map(({ path }) => path).join(", ");
  return [wrong("rights", "problem", "rights_too_wide", `Other users can access ${paths}.`)];
}

/** Removes other users' permissions on the data directory. Returns one line per change. */
export function fixPermissions({ settings }: DoctorOptions): string[] {
  return tooWide(settings.home).map(({ path, mode }) => {
    chmodSync(path, mode & ~OTHERS);
    return `permissions of ${path}: ${mode.toString(8)} to ${(mode & ~OTHERS).toString(8)}`;
  });
}

function tooWide(home: string): { path: string; mode: number }[] {
  return FOLDERS.flatMap((folder) => {
    const directory = join(home, folder);
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
    const files = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(directory, name));
    return [directory, ...files]
      .map((path) => ({ path, mode: statSync(path).mode & 0o777 }))
      .filter(({ path, mode }) => (mode & (path === home ? READ_OR_WRITE : OTHERS)) !== 0);
  });
}
