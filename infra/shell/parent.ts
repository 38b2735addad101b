const LOOK_MS = 1_000;

/**
 * Ends this process when the one that started it has ended. An engine that is killed cannot end its program and its
 * providers, which would wait for it for ever.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, LOOK_MS).unref();
}
