import type { BackupCause, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import { table } from "./table.ts";

const LABELS: Record<BackupCause, string> = {
  operator: "On request",
  rollout: "Before a rollout",
  restore: "Before a restore",
};

export function backupLabel({ cause }: Pick<GenerationManifest, "cause">): string {
  return cause === undefined ? "Automatic" : LABELS[cause];
}

/** Returns the output of `backup list`. */
export function backupsText(backups: readonly GenerationManifest[]): string {
  if (backups.length === 0) return "No backups.";
  const cells = backups.map(({ id, createdAt, size, counts, cause }) => [
    id,
    createdAt,
    backupLabel({ cause }),
    String(size),
    String(counts.sessions),
    String(counts.messages),
  ]);
  return table(["Id", "Made", "Label", "Bytes", "Sessions", "Messages"], cells);
}

/** Returns the output of `backup create`. */
export function createdText({ id, size }: GenerationManifest): string {
  return `Backup ${id} was created, ${size} bytes.`;
}

/** Returns the output of `backup verify`. */
export function verifiedText(report: RestoreReport): string {
  return `Backup ${report.id} is complete.\n${reportText(report)}`;
}

export function reportText({ counts, configProblems }: RestoreReport): string {
  const held = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const problems = configProblems.map(
    ({ path, message }) => `Config problem: ${path || "(root)"}: ${message}`,
  );
  return [`It contains ${held.join(", ")}.`, ...problems].join("\n");
}
