import type { GatewayProcess } from '../support/gateway-home.ts';

const pollInterval = 10; // ms
const timeout = 60_000; // ms

/** Polls a condition. @throws when it is false for a minute */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + timeout;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** Waits until a gateway has printed a text so many times. */
export async function untilPrinted(gateway: GatewayProcess, text: string, times = 1): Promise<void> {
  await until(() => gateway.output().split(text).length > times, `"${text}" ${times} times in:\n${gateway.output()}`);
}
