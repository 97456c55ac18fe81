/** The figures that a measured process reports to the benchmark. */
export interface Figures {
  readonly cpu: number; // µs of user and system time since the start
  readonly memory: number; // resident bytes
}

export interface Ready {
  readonly port: number;
  readonly key: string;
  /** Accounts that are signed in; of the gateway only. */
  readonly visitors?: readonly { readonly key: string; readonly cookie: string }[];
}

/** Reports the port and key of this process, then answers each message with its figures. */
export function reportFigures(ready: Ready): void {
  process.on('message', (question) => {
    if (question === 'collect') globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() } satisfies Figures);
  });
  process.send?.(ready);
}
