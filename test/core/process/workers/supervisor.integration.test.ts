import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StopSignals } from '#core/process/stop-signals.ts';
import { sendOrder } from '#core/process/workers/control.ts';
import { supervise } from '#core/process/workers/supervisor.ts';
import { WorkerProcess } from '#core/process/workers/worker-process.ts';

/** What `stub-worker.mjs` does, by the number of the worker. */
interface Behaviour {
  /** Ends at once with this code. */
  readonly exit?: number;
  /** False if it never gets ready. */
  readonly serves?: boolean;
  /** Reports so many running requests, once. */
  readonly load?: number;
  readonly reloads?: boolean;
  /** Ends at this order to stop, and not before. */
  readonly lastsUntil?: 'hurry' | 'end';
  /** To the operator. */
  readonly answer?: object;
}

interface Noted {
  readonly pid: number;
  readonly kind: string;
  readonly [member: string]: unknown;
}

let folder: string;
let signals: StopSignals;
let log: string[];
let ended: ReturnType<typeof supervise>;
const { argv, execArgv } = process;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-supervisor-'));
  signals = new StopSignals({ source: { on: () => undefined }, isTerminal: false });
  log = [];
  // A supervisor starts its workers by its own command line.
  process.argv = [argv[0] ?? '', join(import.meta.dirname, 'stub-worker.mjs'), folder];
  process.execArgv = [];
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  signals.followOrder('SIGTERM');
  await ended;
  Object.assign(process, { argv, execArgv });
  await rm(folder, { recursive: true, force: true });
});

async function behave(...behaviours: readonly Behaviour[]): Promise<void> {
  const byNumber = Object.fromEntries(behaviours.map((behaviour, index) => [index + 1, behaviour]));
  await writeFile(join(folder, 'behaviours.json'), JSON.stringify(byNumber));
}

const note = (text: string) => void log.push(text);

/** Two workers that serve. */
async function start(...behaviours: readonly Behaviour[]): Promise<void> {
  await behave(...behaviours);
  ended = supervise(
    {
      count: 2,
      address: { host: '127.0.0.1', port: 0 },
      operator: { host: '127.0.0.1', port: 0 },
      dataFolder: folder,
    },
    signals,
    { info: note, warn: note, error: note },
  );
  await until(async () => expect(await notedBy(1, 'greet')).toHaveLength(1));
}

/** What a worker has noted of this kind, oldest first. */
async function notedBy(worker: number, kind: string): Promise<Noted[]> {
  const text = await readFile(join(folder, `${worker}.ndjson`), 'utf8').catch(() => '');
  const all = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Noted]));
  return all.filter((noted) => noted.kind === kind);
}

async function pidsOf(worker: number): Promise<number[]> {
  return (await notedBy(worker, 'began')).map(({ pid }) => pid);
}

const readDelays = () => log.flatMap((line) => /restarting it in (\d+) ms/.exec(line)?.[1] ?? []).map(Number);

const until = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 30_000, interval: 20 });

async function give(action: 'restart' | 'reload'): Promise<string[]> {
  const told: string[] = [];
  await sendOrder(folder, action, (line) => told.push(line));
  return told;
}

describe('a supervisor', () => {
  it('starts one worker alone and the others after it serves, then tells all which ones there are', async () => {
    await start();
    const begun = (await Promise.all([1, 2].map((number) => notedBy(number, 'began')))).flat();
    expect(begun.map(({ isAlone }) => isAlone)).toEqual([true, false]);
    await until(async () => {
      const two = (await notedBy(2, 'workers'))[0];
      expect(two?.['workers']).toMatchObject([
        { worker: 1, state: 'ready', process: begun[0]?.pid, crashes: 0 },
        { worker: 2, state: 'ready', process: begun[1]?.pid, crashes: 0 },
      ]);
    });
    expect(await notedBy(2, 'greet')).toEqual([]);
  });

  it('starts a worker again that was killed, and tells the others how it ended', async () => {
    await start();
    const [first = 0] = await pidsOf(1);
    process.kill(first, 'SIGKILL');
    await until(() => expect(log.join('\n')).toContain('worker 1 is serving again'));
    expect(log.join('\n')).toMatch(
      new RegExp(`worker 1 \\(process ${first}\\) was killed by SIGKILL; restarting it in 1?\\d\\d ms`),
    );
    const pids = await pidsOf(1);
    expect(pids).toHaveLength(2);
    await until(async () => {
      const [, afterCrash, afterStart] = await notedBy(2, 'workers');
      expect(afterCrash).toMatchObject({
        workers: [{ worker: 1, state: 'ended', crashes: 1 }, { worker: 2 }],
        crash: { worker: 1, how: 'was killed by SIGKILL', ageMs: expect.any(Number) },
      });
      expect(afterStart?.['workers']).toMatchObject([
        { state: 'ready', process: pids[1], crashes: 1 },
        { state: 'ready' },
      ]);
    });
  });

  it('waits longer before it starts a worker that crashes again, although the clock was set ahead meanwhile', async () => {
    await start();
    process.kill((await pidsOf(1))[0] ?? 0, 'SIGKILL');
    await until(() => expect(log.join('\n')).toContain('worker 1 is serving again'));
    const startedAt = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(startedAt + 3_600_000);
    process.kill((await pidsOf(1))[1] ?? 0, 'SIGKILL');
    await until(() => expect(readDelays()).toHaveLength(2));
    expect(readDelays()[1]).toBeGreaterThan(200);
  });

  it('kills a worker that has not reported for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await start();
    const [first = 0] = await pidsOf(2);
    vi.advanceTimersByTime(50_000);
    expect(log.join('\n')).not.toContain('has not responded');
    vi.advanceTimersByTime(10_000);
    expect(log.join('\n')).toContain('worker 2 has not responded for 60 s; killing it');
    await until(async () => expect(await pidsOf(2)).toEqual([first, expect.any(Number) as number]));
    await until(() => expect(log.join('\n')).toContain('worker 2 is serving again'));
  });

  it('lets a worker with more requests than the others send clients away', async () => {
    await start({ load: 0 }, { load: 20 });
    await until(async () => expect((await notedBy(2, 'shed')).map(({ connections }) => connections)).toEqual([10]));
    expect(await notedBy(1, 'shed')).toEqual([]);
  });

  it('passes on hurry to workers that finish requests, and has ended cleanly with them', async () => {
    await start({ lastsUntil: 'hurry' }, { lastsUntil: 'hurry' });
    signals.followOrder('SIGTERM');
    await until(async () => {
      for (const number of [1, 2])
        expect((await notedBy(number, 'stop')).map((noted) => noted['order'])).toEqual(['SIGTERM']);
    });
    signals.followOrder('hurry');
    expect(await ended).toEqual(['SIGTERM', true]);
  });

  it('has not ended cleanly when a worker is killed while it finishes requests', async () => {
    await start({ lastsUntil: 'end' });
    signals.followOrder('SIGTERM');
    await until(async () => expect(await notedBy(1, 'stop')).toHaveLength(1));
    process.kill((await pidsOf(1))[0] ?? 0, 'SIGKILL');
    expect(await ended).toEqual(['SIGTERM', false]);
  });

  it('tells workers to end at the third signal', async () => {
    await start({ lastsUntil: 'end' }, { lastsUntil: 'end' });
    signals.followOrder('SIGTERM');
    signals.followOrder('end');
    expect(await ended).toEqual(['SIGTERM', true]);
    expect((await notedBy(2, 'stop')).map((noted) => noted['order'])).toEqual(['SIGTERM', 'end']);
  });
});

describe('a restart', () => {
  it('replaces one worker after the other, each after its successor serves', async () => {
    await start();
    const former = [(await pidsOf(1))[0], (await pidsOf(2))[0]];
    const told = await give('restart');
    const successors = [(await pidsOf(1))[1], (await pidsOf(2))[1]];
    expect(told).toEqual(
      [1, 2].flatMap((number) => [
        `worker ${number}: process ${successors[number - 1]} serves`,
        `worker ${number}: process ${former[number - 1]}, which it has replaced, exited with code 0`,
      ]),
    );
    expect((await notedBy(1, 'stop')).map((noted) => noted['order'])).toEqual(['replaced']);
  });

  it('whose first successor does not serve leaves all workers as they are', async () => {
    await start();
    const before = [await pidsOf(1), await pidsOf(2)];
    await behave({ exit: 3 });
    await expect(give('restart')).rejects.toThrow(
      'the successor of worker 1 exited with code 3 before it served; the log says why, and the others keep serving',
    );
    expect((await pidsOf(1)).slice(0, 1)).toEqual(before[0]);
    expect(await pidsOf(2)).toEqual(before[1]);
    expect([...(await notedBy(1, 'stop')), ...(await notedBy(2, 'stop'))]).toEqual([]);
  });

  it('starts a worker once more that crashes while its timed-out successor ends', async () => {
    await start();
    const [former = 0] = await pidsOf(1);
    await behave({ serves: false });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const kill = vi.spyOn(WorkerProcess.prototype, 'kill').mockImplementation(() => undefined);
    const refusal = expect(give('restart')).rejects.toThrow('the successor of worker 1 was killed by SIGKILL before');
    await until(async () => expect(await pidsOf(1)).toHaveLength(2));
    vi.advanceTimersByTime(600_000);
    await until(() => expect(kill).toHaveBeenCalledOnce());
    await behave();
    process.kill(former, 'SIGKILL');
    await until(() => expect(log.join('\n')).toContain(`(process ${former}) was killed by SIGKILL; restarting it`));
    await until(() => expect(log.join('\n')).toContain('worker 1 is serving again'));
    process.kill((await pidsOf(1))[1] ?? 0, 'SIGKILL');
    await refusal;
    vi.advanceTimersByTime(60_000);
    await expect(give('restart')).resolves.toHaveLength(4);
    expect(await pidsOf(1)).toHaveLength(4);
  });

  it('that the end of the gateway cuts off starts no worker again', async () => {
    await start({}, { lastsUntil: 'hurry' });
    const [former = 0] = await pidsOf(1);
    await behave({ serves: false });
    const refusal = expect(give('restart')).rejects.toThrow('the successor of worker 1 exited with code 0 before');
    await until(async () => expect(await pidsOf(1)).toHaveLength(2));
    process.kill(former, 'SIGKILL');
    await until(() => expect(log.join('\n')).toContain('its successor is already starting'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    signals.followOrder('SIGTERM');
    await refusal;
    log.length = 0;
    vi.advanceTimersByTime(60_000);
    signals.followOrder('hurry');
    expect(await ended).toEqual(['SIGTERM', true]);
    expect(log).toEqual([]);
    expect(await pidsOf(1)).toHaveLength(2);
  });

  it('is refused while another one runs, and once the gateway stops', async () => {
    await start({ lastsUntil: 'hurry' }, { lastsUntil: 'hurry' });
    const first = give('restart');
    await until(async () => expect(await notedBy(1, 'stop')).toHaveLength(1));
    await expect(give('restart')).rejects.toThrow('the workers are already being replaced');
    signals.followOrder('SIGTERM');
    await until(async () => expect(await notedBy(2, 'stop')).toHaveLength(1));
    await expect(give('restart')).rejects.toThrow('the gateway is stopping');
    signals.followOrder('hurry');
    await Promise.allSettled([first]);
  });
});

describe('a reload', () => {
  it('is done when every worker has reloaded', async () => {
    await start();
    expect(await give('reload')).toEqual([]);
    for (const number of [1, 2]) expect(await notedBy(number, 'reload')).toHaveLength(1);
  });

  it('is not done when one worker refuses gateway.yaml', async () => {
    await start({}, { reloads: false });
    await expect(give('reload')).rejects.toThrow('gateway.yaml was not reloaded by every worker');
  });
});

const health = (status: string, checks: object[]) => ({
  status: status === 'unavailable' ? 503 : 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ status, checks }),
});
const get = async (path: string, init?: RequestInit) => {
  const [greeting] = await notedBy(1, 'greet');
  const response = await fetch(`${String(greeting?.['operatorUrl'])}${path}`, init);
  return { status: response.status, text: await response.text() };
};

describe('the operator’s listener of several workers', () => {
  it('names the worker whose check fails, and is degraded although another one is well', async () => {
    const failing = { name: 'disk', ok: false, reason: 'It is full.' };
    await start(
      {
        answer: health('ok', [
          { name: 'disk', ok: true },
          { name: 'clock', ok: true },
        ]),
      },
      { answer: health('unavailable', [failing]) },
    );
    const { status, text } = await get('/readyz?verbose');
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        status: 'degraded',
        checks: [
          { ...failing, reason: 'Worker 2: It is full.' },
          { name: 'clock', ok: true },
        ],
        workers: [expect.objectContaining({ worker: 1 }), expect.objectContaining({ worker: 2, state: 'ready' })],
      },
    ]);
  });

  it('says which worker has not answered for the metrics', async () => {
    await start({ answer: { status: 200, headers: {}, body: 'daypass_one 1\n' } });
    const { text } = await get('/metrics');
    expect(text).toContain('daypass_one{worker="1"} 1\n');
    expect(text).toContain('daypass_worker_up{worker="1"} 1\ndaypass_worker_up{worker="2"} 0\n');
    expect(text).toContain('daypass_worker_crashes_total{worker="2"} 0\n');
  });

  it('passes a refusal on, answers /livez itself, and takes only GET', async () => {
    await start(
      { answer: { status: 401, headers: {}, body: 'no' } },
      { answer: { status: 401, headers: {}, body: 'no' } },
    );
    expect(await get('/metrics')).toEqual({ status: 401, text: 'no' });
    expect(await get('/livez')).toEqual({ status: 200, text: '{"status":"ok"}' });
    expect(await get('/livez', { method: 'POST' })).toEqual({ status: 405, text: 'Use GET.\n' });
  });

  it('is unavailable while no worker serves', async () => {
    await start({ lastsUntil: 'end' }, { lastsUntil: 'end' });
    signals.followOrder('SIGTERM');
    await until(async () => expect(await notedBy(2, 'stop')).toHaveLength(1));
    const { status, text } = await get('/readyz');
    expect([status, JSON.parse(text)]).toMatchObject([503, { status: 'unavailable', workers: [{ worker: 1 }, {}] }]);
    signals.followOrder('end');
  });
});
