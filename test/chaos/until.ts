import type { GatewayProcess } from '../support/gateway-home.ts';

const pollInterval = 10; // ms
const patience = 60_000; // ms

/** Waits for a condition. @throws when it does not come for a minute */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + patience;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** Waits until a gateway has printed a text so many times. */
export async function untilPrinted(gateway: GatewayProcess, text: string, times = 1): Promise<void> {
  await until(() => gateway.output().split(text).length > times, `"${text}" ${times} times in:\n${gateway.output()}`);
}
