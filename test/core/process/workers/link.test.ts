import { afterEach, expect, it, vi } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { StopSignals } from '#core/process/stop-signals.ts';
import { SupervisorLink } from '#core/process/workers/link.ts';
import { silentLog } from '../../../support/database.ts';

afterEach(() => void vi.restoreAllMocks());

it('a worker is unhealthy for ten minutes after the crash of another one, although the clock is set back', () => {
  const listeners = new Map<string | symbol, (order: unknown) => void>();
  const listen = ((name: string | symbol, listener: (order: unknown) => void) => {
    listeners.set(name, listener);
    return process;
  }) as typeof process.on;
  vi.spyOn(process, 'on').mockImplementation(listen);
  vi.spyOn(process, 'once').mockImplementation(listen);
  const signals = new StopSignals({ source: { on: () => undefined }, isTerminal: false });
  const link = new SupervisorLink(signals, silentLog);
  const at = Date.now();
  const check = (passedMs: number) =>
    link.healthCheck.check({
      now: () => at - 86_400_000 + passedMs,
      monotonic: () => performance.now() + passedMs,
    } as Host);
  listeners.get('message')?.({
    kind: 'workers',
    workers: [],
    crash: { worker: 2, how: 'was killed by SIGKILL', at, ageMs: 60_000 },
  });
  expect(check(530_000)).toMatchObject({ ok: false, since: at });
  expect(check(550_000)).toEqual({ ok: true });
});
