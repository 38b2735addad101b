import * as z from "zod";
import type { MigrationRecord } from "./account/state.ts";

const names = z.array(z.string().min(1)).optional();

const step = z.strictObject({
  new_classes: names,
  new_sqlite_classes: names,
  deleted_classes: names,
  renamed_classes: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
});

// transferred_classes is omitted, because the emulation does not support it.
const migrations = z.strictObject({
  old_tag: z.string().optional(),
  new_tag: z.string().optional(),
  ...step.shape,
  steps: z.array(step).optional(),
});

/** VersionCreateParams of the official SDK. */
export const versionBody = z.looseObject({
  main_module: z.string().min(1),
  modules: z
    .array(
      z.object({
        name: z.string().min(1),
        content_type: z.string().min(1),
        content_base64: z.base64(),
      }),
    )
    .min(1),
  bindings: z.array(z.looseObject({ type: z.string(), name: z.string().min(1) })).default([]),
  containers: z.array(z.object({ class_name: z.string().min(1) })).default([]),
  compatibility_date: z.iso.date(),
  compatibility_flags: z.array(z.string()).default([]),
  migrations: migrations.optional(),
});

/** Converts migrations with or without `steps` to a list of steps. Omits empty tags. */
export function migrationOf(body: z.infer<typeof migrations>): MigrationRecord {
  const { old_tag: oldTag, new_tag: newTag, steps, ...single } = body;
  return {
    ...(oldTag && { old_tag: oldTag }),
    ...(newTag && { new_tag: newTag }),
    steps: steps ?? [single],
  };
}
