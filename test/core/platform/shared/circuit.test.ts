import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Circuit } from '#core/platform/shared/circuit.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../../support/database.ts';

const warn = vi.fn<(message: string) => void>();
const info = vi.fn<(message: string) => void>();
const onClose = vi.fn<() => void>();
const replaceConnection = vi.fn<() => void>();
const probe = vi.fn<() => Promise<unknown>>();
const never = () => new Promise<string>(() => undefined);
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const open = () => new Circuit({ probe, replaceConnection, onClose, log: { ...silentLog, warn, info } });
let circuit: Circuit;

/** A Redis that takes so long for each reply. */
const takes = (milliseconds: number) => () =>
  new Promise<string>((resolve) => setTimeout(() => resolve('reply'), milliseconds));

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  vi.clearAllMocks();
  probe.mockReset().mockResolvedValue('alive');
  circuit = open();
  await circuit.start(1_000);
  vi.clearAllMocks();
});
afterEach(() => {
  circuit[Symbol.dispose]();
  vi.useRealTimers();
});

/** Silence, noticed by one command. */
async function fallSilent(): Promise<void> {
  probe.mockImplementation(never);
  const failed = expect(circuit.run(never)).rejects.toBeInstanceOf(SharedUnavailable);
  await pass(400);
  await failed;
}

describe('an open circuit', () => {
  it('fails commands without sending them', async () => {
    await fallSilent();
    const command = vi.fn<() => Promise<void>>();
    await expect(circuit.run(command)).rejects.toThrow('Redis did not respond: no response in time');
    expect(command).not.toHaveBeenCalled();
  });

  it('is closed by timely probes, before any other command is sent, with a log line', async () => {
    await fallSilent();
    expect(warn.mock.calls).toEqual([['Redis is down: no response in time']]);
    probe.mockResolvedValue('alive');
    await pass(2_200);
    expect(circuit.isOpen).toBe(false);
    expect(onClose).toHaveBeenCalledTimes(1);
    expect(info.mock.calls).toEqual([['Redis has recovered']]);
  });

  it('stays open while probes are late, one at a time', async () => {
    await fallSilent();
    let underWay = 0;
    probe.mockImplementation(async () => {
      expect(++underWay).toBe(1);
      await takes(200)();
      underWay--;
    });
    await pass(5_000);
    expect(circuit.isOpen).toBe(true);
    expect(replaceConnection).toHaveBeenCalledTimes(1);
    probe.mockResolvedValue('alive');
    await pass(400);
    expect(circuit.isOpen).toBe(false);
  });

  it('replaces a connection that does not respond', async () => {
    await fallSilent();
    await pass(2_000);
    expect(replaceConnection).toHaveBeenCalledTimes(1);
  });

  it('stays open while probes fail', async () => {
    circuit.open(new Error('Connection is closed.'));
    probe.mockRejectedValue(new Error('READONLY You cannot write against a read only replica.'));
    await pass(1_000);
    expect(circuit.isOpen).toBe(true);
  });
});

describe('a start', () => {
  it('needs three probes in time', async () => {
    using started = open();
    await started.start(1_000);
    expect([started.isOpen, probe.mock.calls.length]).toEqual([false, 3]);
  });

  it('waits for probes in time, not for the first that is late', async () => {
    using started = open();
    probe.mockImplementationOnce(takes(100));
    const starting = started.start(1_000);
    await pass(400);
    await starting;
    expect(started.isOpen).toBe(false);
  });

  it('continues without Redis after its timeout', async () => {
    using started = open();
    probe.mockRejectedValue(new Error('Connection is closed.'));
    const starting = started.start(1_000);
    await pass(1_000);
    await starting;
    expect([started.isOpen, warn.mock.calls.length]).toEqual([true, 1]);
  });
});

describe('a closed circuit', () => {
  it('opens at once when the connection is lost, also for those that wait', async () => {
    const waiting = expect(circuit.run(never)).rejects.toBeInstanceOf(SharedUnavailable);
    circuit.open(new Error('Connection is closed.'));
    await waiting;
    expect(circuit.isOpen).toBe(true);
  });

  it('opens when replies come, but late, and probes confirm it', async () => {
    probe.mockImplementation(takes(200));
    const running = circuit.run(takes(200), () => 'own');
    await pass(60);
    expect(await running).toBe('own');
    expect(circuit.isOpen).toBe(false);
    await pass(800);
    expect(circuit.isOpen).toBe(true);
  });

  it('sends commands after a late reply without waiting for them, until a probe is in time', async () => {
    probe.mockImplementation(takes(100));
    await expect(Promise.all([circuit.run(takes(100), () => 'own'), pass(60)])).resolves.toContain('own');
    const command = vi.fn(takes(100));
    expect([await circuit.run(command, () => 'own'), command.mock.calls.length]).toEqual(['own', 1]);
    probe.mockResolvedValue('alive');
    await pass(1_000);
    const fallback = vi.fn(() => 'own');
    expect([await circuit.run(async () => 'reply', fallback), fallback.mock.calls.length]).toEqual(['reply', 0]);
  });

  it('still waits after a late reply for callers that cannot decide without one', async () => {
    probe.mockImplementation(takes(100));
    await Promise.all([circuit.run(takes(100), () => 'own'), pass(60)]);
    const waiting = circuit.run(takes(100), () => undefined);
    await pass(110);
    expect(await waiting).toBe('reply');
  });

  it('stays closed after a late reply when a probe is in time', async () => {
    const running = circuit.run(takes(100), () => 'own');
    await pass(1_000);
    expect(await running).toBe('own');
    expect([circuit.isOpen, warn.mock.calls.length]).toEqual([false, 0]);
  });

  it('stays closed when Redis replies with an error', async () => {
    await expect(circuit.run(() => Promise.reject(new Error('OOM command not allowed')))).rejects.toThrow(
      'its memory is full',
    );
    expect(circuit.isOpen).toBe(false);
  });
});
