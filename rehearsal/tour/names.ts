/** What can be toured, each with its summary. */
export const TOURS = {
  tour: "a pairing, a crash, a broken config, a rollout that goes back, and a restore",
  rollout: "a rollout, and one that goes back",
  drift: "a change that somebody makes by hand, found and put back",
  restore: "a backup, a loss, and a restore",
} as const;

/** See {@link TOURS}. */
export type TourName = keyof typeof TOURS;
