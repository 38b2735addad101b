import * as z from "zod/mini";
import { CONFIG_SOURCES } from "../contract/backup.ts";
import { backupsText, createdText, reportText, verifiedText } from "../shared/backup-texts.ts";
import {
  always,
  argument,
  EVERYWHERE,
  operation,
  option,
  TERMINAL,
  type OperationTools,
} from "./operation.ts";

/**
 * The tools that the operations `list`, `create` and `verify` need. These three operations also run at the edge,
 * where only these tools are available to them.
 */
type Tools = { backups: Pick<OperationTools["backups"], "list" | "create" | "verify"> };

const id = () => argument(z.string(), "as `list` shows it");

/** `steward backup`. Works whether the gateway is up or down. */
export const backup = {
  list: operation({
    name: "backup list",
    summary: "the backups of this data directory, newest first",
    rights: EVERYWHERE,
    run: async ({ backups }: Tools) => ({ backups: await backups.list() }),
    text: ({ backups }) => backupsText(backups),
  }),
  create: operation({
    name: "backup create",
    summary: "makes a backup now; the gateway may be running",
    rights: EVERYWHERE,
    changes: always,
    run: ({ backups }: Tools) => backups.create({ cause: "operator" }),
    text: createdText,
  }),
  verify: operation({
    name: "backup verify",
    summary: "unpacks a backup separately from the data and checks it; changes nothing",
    rights: EVERYWHERE,
    input: () => z.strictObject({ id: id() }),
    run: ({ backups }: Tools, { id }) => backups.verify(id),
    text: verifiedText,
  }),
  restore: operation({
    name: "backup restore",
    summary: "restores a backup at steward's next start, after backing up the data of that time",
    rights: TERMINAL,
    input: () =>
      z.strictObject({
        id: id(),
        config: option(
          z._default(z.enum(CONFIG_SOURCES), "generation"),
          "the config file: the backup's, a fresh one, or the current one",
          "source",
        ),
        yes: option(z._default(z.boolean(), false), "confirm; without this the backup is only checked"),
      }),
    changes: ({ yes }) => yes,
    async run({ backups }, { id, config, yes }) {
      const report = yes ? await backups.stageRestore(id, config) : await backups.verify(id);
      return { ...report, pending: yes };
    },
    text(report, { id }) {
      const what = report.pending
        ? `Backup ${id} will be restored at steward's next start. Restart steward now (docker restart steward).`
        : `Backup ${id} is complete. Nothing was changed. Add --yes to restore it at the next start.`;
      return `${what}\n${reportText(report)}`;
    },
  }),
};
