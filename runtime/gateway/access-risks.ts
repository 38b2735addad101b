import { join } from "node:path";
import type { Config } from "../contract/config/index.ts";
import { platformSchema } from "../contract/delivery.ts";
import { type ErrorCode, reason, type Reason } from "../contract/errors.ts";
import { grantedTo, isUsable } from "../shared/devices.ts";
import { pairedFileSchema } from "./devices.ts";
import { approvedSchema, operatorsSchema } from "./pairing/store.ts";
import { readStore } from "./store-file.ts";

/** A security risk that the config key at `path` causes. */
export interface AccessRisk extends Reason {
  path: string;
}

export function accessRisks(config: Config, home: string): AccessRisk[] {
  return [...openChannels(config), ...missingOperator(config, home)];
}

function openChannels({ channels, agent }: Config): AccessRisk[] {
  const may = Object.entries(agent.may).flatMap(([name, roles]) => (roles.includes("guest") ? name : []));
  return platformSchema.options.flatMap((platform) => {
    const rules = channels[platform];
    if (!rules?.enabled || rules.dmPolicy === "disabled" || !rules.allowFrom.includes("*")) return [];
    const detail = `Everyone who finds the bot on ${platform} may write to it and use the model. As a guest they may: ${may.join(", ")}.`;
    return [risk("everyone_let_in", `channels.${platform}.allowFrom`, detail)];
  });
}

function missingOperator({ agent }: Config, home: string): AccessRisk[] {
  const { approved, operators } = approvals(home);
  if (agent.operators.length > 0 || operators > 0) return [];
  const people = approved === 1 ? "1 approval grants" : `${approved} approvals grant`;
  const detail = `Nobody has an operator's rights in a chat. ${approved === 0 ? "Nobody has been approved yet." : `${people} a person's rights.`}`;
  return [risk("operator_missing", "agent.operators", detail)];
}

/** Counts approved people and browsers, and those with an operator's rights. */
function approvals(home: string): { approved: number; operators: number } {
  const total = { approved: 0, operators: 0 };
  for (const platform of platformSchema.options) {
    const approved =
      read(join(home, "credentials", `${platform}-allowFrom.json`), approvedSchema)?.allowFrom ?? [];
    const operators =
      read(join(home, "credentials", `${platform}-operators.json`), operatorsSchema)?.operators ?? [];
    total.approved += approved.length;
    total.operators += approved.filter((id) => operators.includes(id)).length;
  }
  const devices = Object.values(read(join(home, "devices", "paired.json"), pairedFileSchema) ?? {}).filter(
    isUsable,
  );
  total.approved += devices.length;
  total.operators += devices.filter((device) => grantedTo(device) === "operator").length;
  return total;
}

function read<T>(path: string, schema: Parameters<typeof readStore<T>>[1]): T | undefined {
  const reading = readStore(path, schema);
  return reading.ok ? reading.value : undefined;
}

function risk(code: ErrorCode, path: string, detail: string): AccessRisk {
  return { ...reason(code, detail), path };
}
