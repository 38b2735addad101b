export const TOURS = {
  tour: "a pairing, a crash, a broken config, a rollback, and a restore",
  rollout: "a rollout, and one that is rolled back",
  drift: "a change made by hand, found and reverted",
  restore: "a backup, a loss, and a restore",
} as const;

export type TourName = keyof typeof TOURS;
