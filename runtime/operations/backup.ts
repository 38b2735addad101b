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

/** At the edge the operations reach the backups of the deployment, and nothing else. */
type Tools = { backups: Pick<OperationTools["backups"], "list" | "create" | "verify"> };

const id = () => argument(z.string(), "as `list` shows it");

/** `steward backup`. It works with the gateway up and down. */
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
    summary: "makes a backup now, beside a gateway that may run",
    rights: EVERYWHERE,
    changes: always,
    run: ({ backups }: Tools) => backups.create({ cause: "operator" }),
    text: createdText,
  }),
  verify: operation({
    name: "backup verify",
    summary: "unpacks a backup beside the data and checks it; changes nothing",
    rights: EVERYWHERE,
    input: () => z.strictObject({ id: id() }),
    run: ({ backups }: Tools, { id }) => backups.verify(id),
    text: verifiedText,
  }),
  restore: operation({
    name: "backup restore",
    summary: "puts a backup in place at steward's next start, after a copy of what is there then",
    rights: TERMINAL,
    input: () =>
      z.strictObject({
        id: id(),
        config: option(
          z._default(z.enum(CONFIG_SOURCES), "generation"),
          "the config file: the backup's, a fresh one, or the current one",
          "source",
        ),
        yes: option(z._default(z.boolean(), false), "do it; without it the backup is only checked"),
      }),
    changes: ({ yes }) => yes,
    async run({ backups }, { id, config, yes }) {
      const report = yes ? await backups.stageRestore(id, config) : await backups.verify(id);
      return { ...report, pending: yes };
    },
    text(report, { id }) {
      const what = report.pending
        ? `Backup ${id} is put in place when steward starts next. Restart it now (docker restart steward).`
        : `Backup ${id} is whole. Nothing was changed; with --yes it is put in place at the next start.`;
      return `${what}\n${reportText(report)}`;
    },
  }),
};
