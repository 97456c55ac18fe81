import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { StopSignals } from '#core/process/stop-signals.ts';

/** A gateway that has begun, the signals that it gets, and what it makes of them. */
function begin({ isTerminal = false } = {}) {
  const source = new EventEmitter();
  const clock = { now: 0 };
  const seen: string[] = [];
  const signals = new StopSignals({ source, now: () => clock.now, isTerminal, exit: () => seen.push('exit') });
  signals.first.then((cause) => seen.push(`stop by ${String(cause)}`), String);
  signals.third.then(() => seen.push('end at once'), String);
  signals.hurry.addEventListener('abort', () => seen.push('hurry'));
  const send = async (name: string, after = 0) => {
    clock.now += after;
    source.emit(name, name);
    await new Promise((resolve) => process.nextTick(resolve));
    return seen;
  };
  return { signals, send, seen };
}

describe('the signals of a gateway', () => {
  it('ask it to stop, then to hurry, then to end at once', async () => {
    const { signals, send } = begin();
    signals.startHandling();
    expect(await send('SIGTERM')).toEqual(['stop by SIGTERM']);
    expect(await send('SIGTERM', 2_000)).toEqual(['stop by SIGTERM', 'hurry']);
    expect(await send('SIGTERM', 2_000)).toEqual(['stop by SIGTERM', 'hurry', 'end at once']);
  });

  it('count as one within two seconds, whatever their names', async () => {
    const { signals, send } = begin();
    signals.startHandling();
    await send('SIGTERM');
    await send('SIGINT', 1_000);
    expect(await send('SIGTERM', 999)).toEqual(['stop by SIGTERM']);
  });

  it('ask it to hurry at the first Ctrl-C on a terminal', async () => {
    const { signals, send } = begin({ isTerminal: true });
    signals.startHandling();
    expect(new Set(await send('SIGINT'))).toEqual(new Set(['stop by SIGINT', 'hurry']));
  });

  it('keep the notice period at an interrupt that no person has sent', async () => {
    const { signals, send } = begin();
    signals.startHandling();
    expect(await send('SIGINT')).toEqual(['stop by SIGINT']);
  });

  it('end it at once while its code is being loaded', async () => {
    const { send } = begin();
    expect(await send('SIGTERM')).toEqual(['exit']);
  });

  it('reload once it has started, when SIGHUP came before', async () => {
    const { signals, send, seen } = begin();
    await send('SIGHUP');
    await send('SIGHUP');
    signals.onReload(() => seen.push('reload'));
    expect(seen).toEqual(['reload']);
    expect(await send('SIGHUP')).toEqual(['reload', 'reload']);
  });

  it.each(['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGIO', 'SIGSTKFLT', 'SIGXFSZ'])(
    '%s neither ends the process nor opens the inspector',
    async (name) => {
      const { signals, send } = begin();
      signals.startHandling();
      expect(await send(name)).toEqual([]);
    },
  );
});
