import { ACCESS_CASES } from "./access.ts";
import type { Case } from "./case.ts";
import { HOST_CASES } from "./host.ts";
import { MIGRATION_CASES } from "./migrations.ts";
import { SECRET_CASES } from "./secrets.ts";
import { STATE_CASES } from "./state.ts";

/** What every rule refuses and passes, by one change of the stack that all of them pass. */
export const CASES: readonly Case[] = [
  ...MIGRATION_CASES,
  ...SECRET_CASES,
  ...ACCESS_CASES,
  ...STATE_CASES,
  ...HOST_CASES,
];
