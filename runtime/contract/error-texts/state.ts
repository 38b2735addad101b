import type { ErrorText } from "./error-text.ts";

/** Failures of what lies in the data directory and the bucket: config, stores, backups, schedules. */
export const STATE_ERRORS = {
  config_invalid: {
    status: 502,
    title: "Invalid config",
    cause: "The config file holds unknown, deprecated or wrong fields.",
    fix: "Correct or delete the config file (serverless: both cached bucket objects too), then restart or redeploy.",
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
    fix: "See `steward config get channels` for what is there.",
  },
  secret_in_plain: {
    status: 400,
    title: "A secret in plain text",
    cause: "The value is a secret and would stand in the config file in plain text.",
    fix: 'Put it into a variable and refer to it: `steward config set <path> --env NAME`, {"env": "NAME"} in the file.',
  },
  data_newer: {
    status: 502,
    title: "The data is of a newer version",
    cause: "A newer version of steward has written the data, which this one does not understand.",
    fix: "Deploy the newer version again, or restore a backup from before it: its data is left as it is until then.",
  },
  credentials_incomplete: {
    status: 500,
    title: "A channel's credentials are not complete",
    cause: "Some of the variables that switch a channel on are set, and others are not.",
    fix: "Set the missing variable beside the others and deploy again, or remove the others.",
  },
  rights_too_wide: {
    status: 500,
    title: "Others may read the data directory",
    cause: "Files of the data directory can be read by other users.",
    fix: "Run `steward doctor --fix`.",
  },
  store_corrupt: {
    status: 503,
    title: "A store is corrupt",
    cause: "A file of the data directory is not what was written into it.",
    fix: "Restart: it is set aside and a new one begun. Then restore a backup, or keep the set-aside file.",
  },
  disk_full: {
    status: 503,
    title: "The disk is full",
    cause: "The data directory's disk takes no more data.",
    fix: "Free space on the data directory's disk. Work goes on by itself then.",
  },
  schedule_invalid: {
    status: 400,
    title: "The schedule is not valid",
    cause: "A schedule's time, text or chat is missing, wrong or past.",
    fix: "Correct it: exactly one of at, every, cron and exactly one of text, prompt, to a chat.",
  },
  schedule_unknown: {
    status: 404,
    title: "No such schedule",
    cause: "No schedule has this id: it was removed, or was due once and has run.",
    fix: "See `steward schedules list` for the ids.",
  },
  config_changed: {
    status: 409,
    title: "The config file was changed meanwhile",
    cause: "The file is not the one that this change was made from.",
    fix: "Load the page again, look at what changed, and make the change once more.",
  },
  config_no_good: {
    status: 404,
    title: "No good config to go back to",
    cause: "There is no backup whose config file was valid.",
    fix: "Correct the config file by hand, or begin with a fresh one.",
  },
  backup_unknown: {
    status: 404,
    title: "No such backup",
    cause: "No backup has this name: it was removed, or never finished.",
    fix: "See `steward backup list` or the admin page for the names.",
  },
  backup_corrupt: {
    status: 422,
    title: "The backup is not whole",
    cause: "The archive is not what its manifest says, or holds what does not belong into one.",
    fix: "Take another backup; nothing was changed by this one.",
  },
  backup_failed: {
    status: 503,
    title: "The backup could not be made",
    cause: "The state could not be copied, or the copy not be stored.",
    fix: "Look at the detail and the logs. It is tried again by itself.",
  },
  backup_refused: {
    status: 409,
    title: "The backup was not published",
    cause: "It holds far less than the one before, which looks like a loss.",
    fix: "Look at both on the admin page; publish it from there if the loss was meant, or restore the one before.",
  },
  backup_stale: {
    status: 409,
    title: "Another deployment writes these backups",
    cause: "The bucket holds copies of a later start than this container's.",
    fix: "Give each stack a bucket of its own, or restart the container to take over.",
  },
  restore_failed: {
    status: 502,
    title: "The state could not be restored",
    cause:
      "The bucket or the container failed while the state was put back; the gateway does not start without it.",
    fix: "Wait, it is tried again by itself; if it stays, read the detail, or restore an older backup.",
  },
} as const satisfies Record<string, ErrorText>;
