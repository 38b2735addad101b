const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Resolves when this process is asked to end. From the call on nobody else listens to these signals:
 * a library that ends the process at once would leave behind what the rehearsal has started.
 */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    const listener = (): void => resolve();
    for (const signal of SIGNALS) {
      process.removeAllListeners(signal);
      process.on(signal, listener);
    }
    process.on("newListener", (event, added: () => void) => {
      if (SIGNALS.some((signal) => signal === event)) queueMicrotask(() => process.off(event, added));
    });
  });
}
