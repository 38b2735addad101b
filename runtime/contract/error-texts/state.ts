import type { ErrorText } from "./error-text.ts";

export const STATE_ERRORS = {
  config_invalid: {
    status: 502,
    title: "Invalid config",
    cause: "The config file contains unknown, deprecated or invalid fields.",
    fix: "Correct or delete the config file (on serverless, also its two cached copies in the bucket), then restart or redeploy.",
  },
  config_refused: {
    status: 400,
    title: "The change is refused",
    cause: "The config would not be valid with this change.",
    fix: "Correct the value. Nothing was written; `steward config schema` lists all keys and the values they accept.",
  },
  config_missing: {
    status: 404,
    title: "There is no config file yet",
    cause: "The data directory holds no config file.",
    fix: "Start the gateway once: it writes the file from its environment.",
  },
  config_path_not_found: {
    status: 404,
    title: "Config path not found",
    cause: "The config has no value at this path.",
    fix: "Run `steward config get channels`, for example, to see which values exist.",
  },
  secret_in_plain: {
    status: 400,
    title: "A secret in plain text",
    cause: "The value is a secret and would be stored in the config file in plain text.",
    fix: 'Put it in a variable and refer to that: `steward config set <path> --env NAME`, {"env": "NAME"} in the file.',
  },
  data_newer: {
    status: 502,
    title: "The data was written by a newer version",
    cause: "A newer version of steward wrote the data in a format that this version cannot read.",
    fix: "Deploy the newer version again, or restore a backup made before it was deployed (backups do not contain the ledger). Until then the data stays untouched.",
  },
  data_older: {
    status: 502,
    title: "The data was written by a version that is too old",
    cause: "The data is in a format from before 0.1.0, which this version cannot read.",
    fix: "First deploy commit 449bf21 (before 0.1.0), which migrates the data; then deploy this version. Until then, the data stays untouched.",
  },
  credentials_incomplete: {
    status: 500,
    title: "A channel's credentials are not complete",
    cause: "A channel is only partly configured: some of its variables are missing.",
    fix: "Set the missing variables, or remove the others, and deploy again.",
  },
  rights_too_wide: {
    status: 500,
    title: "Other users can read the data directory",
    cause: "Other users can read files in the data directory.",
    fix: "Run `steward doctor --fix`.",
  },
  store_corrupt: {
    status: 503,
    title: "A store is corrupt",
    cause: "A file in the data directory is damaged.",
    fix: "Restart the service: steward sets the file aside and starts a new one. Then restore a backup.",
  },
  ledger_unavailable: {
    status: 503,
    title: "The ledger cannot be read or written",
    cause: "Another process has locked the database state.db, or its file was removed, replaced or damaged.",
    fix: "End the process that locks state.db. If the file was removed, replaced or damaged, restart the service, then restore a backup.",
  },
  disk_full: {
    status: 503,
    title: "The disk is full",
    cause: "The data directory's disk is full.",
    fix: "Free space on the data directory's disk. steward then resumes automatically.",
  },
  schedule_invalid: {
    status: 400,
    title: "The schedule is not valid",
    cause: "A schedule's time, text or chat is missing or invalid, or its time is in the past.",
    fix: "Correct the named fields. A schedule needs exactly one of at, every or cron, exactly one of text or prompt, and a chat.",
  },
  schedule_unknown: {
    status: 404,
    title: "No such schedule",
    cause: "No schedule has this id: it was removed, or it was a one-time schedule that has run.",
    fix: "See `steward schedules list` for the ids.",
  },
  config_changed: {
    status: 409,
    title: "The config file was changed in the meantime",
    cause: "The file has changed since this change was prepared.",
    fix: "Reload the page, review what changed, and repeat the change.",
  },
  config_no_good: {
    status: 404,
    title: "No valid config to restore",
    cause: "No backup has a valid config file.",
    fix: "Correct the config file by hand, or reset it to defaults.",
  },
  backup_unknown: {
    status: 404,
    title: "No such backup",
    cause: "No backup has this name: it was removed, or never finished.",
    fix: "See `steward backup list` or the admin page for the names.",
  },
  backup_corrupt: {
    status: 422,
    title: "The backup is not complete",
    cause: "The archive does not match its manifest, or contains files that do not belong in a backup.",
    fix: "Use another backup. Nothing was changed.",
  },
  backup_failed: {
    status: 503,
    title: "The backup could not be made",
    cause: "The state could not be copied or the copy could not be stored.",
    fix: "Read the error and the logs. steward retries automatically.",
  },
  backup_late: {
    status: 503,
    title: "The last backup is too old",
    cause: "No backup was made in time, and the state may have changed since the last one.",
    fix: "Look for the cause in the logs, then make a new backup on the Backups page. If that backup fails too, the page shows the reason.",
  },
  backup_refused: {
    status: 409,
    title: "The backup was not published",
    cause: "It holds far less than the previous one, which looks like data loss.",
    fix: "Compare the two backups on the admin page. If the loss was intended, publish the new backup there; otherwise restore the previous backup.",
  },
  backup_stale: {
    status: 409,
    title: "Another deployment writes these backups",
    cause: "The bucket holds backups from a container that started after this one.",
    fix: "Use one bucket per stack, or restart this container so that it takes over the bucket.",
  },
  restore_failed: {
    status: 502,
    title: "The state could not be restored",
    cause:
      "The bucket or the container failed during the restore; the gateway does not start without its state.",
    fix: "Wait: steward retries automatically. If the error persists, restore an older backup.",
  },
} as const satisfies Record<string, ErrorText>;
