import type { GenerationManifest, RestoreReport } from "./backup.ts";
import { table } from "./table.ts";

/** What `backup list` prints. */
export function backupsText(backups: readonly GenerationManifest[]): string {
  if (backups.length === 0) return "No backups.";
  const cells = backups.map(({ id, createdAt, size, counts }) => [
    id,
    createdAt,
    String(size),
    String(counts.sessions),
    String(counts.messages),
  ]);
  return table(["Id", "Made", "Bytes", "Sessions", "Messages"], cells);
}

/** What `backup create` prints. */
export function madeText({ id, size }: GenerationManifest): string {
  return `Backup ${id} was made, ${size} bytes.`;
}

/** What `backup verify` prints. */
export function wholeText(report: RestoreReport): string {
  return `Backup ${report.id} is whole.\n${reportText(report)}`;
}

/** What a backup holds, and what is wrong with its config. */
export function reportText({ counts, configProblems }: RestoreReport): string {
  const held = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const problems = configProblems.map(({ path, message }) => `Its config: ${path || "(root)"}: ${message}`);
  return [`It holds ${held.join(", ")}.`, ...problems].join("\n");
}
