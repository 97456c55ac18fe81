/** What a measured process tells about itself when the benchmark asks. */
export interface Figures {
  readonly cpu: number; // µs of user and system time since the start
  readonly memory: number; // resident bytes
}

export interface Ready {
  readonly port: number;
  readonly key: string;
}

/** Reports where this process listens, then answers each message with its figures. */
export function answerQuestions(ready: Ready): void {
  process.on('message', (question) => {
    if (question === 'collect') globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() } satisfies Figures);
  });
  process.send?.(ready);
}
