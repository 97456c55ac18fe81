/**
 * `npm run bench:parts`: what share of a call's CPU time is spent in some files, according to V8's sampling profiler in the serving
 * process. Both figures come from the same samples, so the machine's other load affects them alike: a share of one percent shows up where
 * pairs of whole calls differ by five. If no files are named: those that create and compare digests, sessions and model names.
 *
 *     npm run bench:parts -- [--rounds 5] [FILE…]       parts of paths in the checkout
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Load, loads, sendLoad } from './load.ts';
import type { Ready } from './process-figures.ts';
import { median } from './statistics.ts';

const interval = 100; // µs between two samples
const usual = [
  'plugins/format/content/',
  'plugins/upstream/routing/sessions.ts',
  'plugins/upstream/routing/session-moves.ts',
  'plugins/upstream/routing/same-model.ts',
  'core/gateway/model-call/key-closures.ts',
];
const idle = '(idle)'; // in no function: the loop is waiting, or nothing is known

const { values: options, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const files = positionals.length > 0 ? positionals : usual;
/** More than one route, so that a session is derived. */
const measured = loads
  .filter(({ name }) => name === 'small chat call' || name === 'stream of 200 events')
  .map((load) => ({ ...load, body: load.body.replace('"bench"', '"bench-choice"') }));

const upstream = await start('upstream.ts', []);
const gateway = await start('gateway.ts', [`http://127.0.0.1:${upstream.port}`]);
const profiler = await attach(gateway.inspectorUrl);
try {
  for (const load of measured) await measure(load, Number(options.rounds));
} finally {
  profiler.close();
  for (const { child } of [gateway, upstream]) await stop(child);
}

async function measure(load: Load, rounds: number): Promise<void> {
  const { requests } = load;
  await sendLoad(gateway.port, gateway.key, load, requests);
  const shares: number[] = [];
  const costs: number[] = [];
  const byFile = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    await profiler.send('Profiler.start');
    await sendLoad(gateway.port, gateway.key, load, requests);
    const { profile } = await profiler.send<{ readonly profile: Profile }>('Profiler.stop');
    const { busy, inFiles } = readProfile(profile);
    const all = inFiles.values().reduce((sum, time) => sum + time, 0);
    shares.push(all / busy);
    costs.push(busy / requests / load.unitsPerRequest);
    for (const [file, time] of inFiles)
      byFile.set(file, (byFile.get(file) ?? 0) + time / requests / load.unitsPerRequest);
  }
  const unit = load.unitsPerRequest === 1 ? 'request' : 'event';
  const share = median(shares);
  console.log(
    `${load.name}: ${(share * 100).toFixed(2)} % (${(Math.min(...shares) * 100).toFixed(2)} to ${(Math.max(...shares) * 100).toFixed(2)}) of ${median(costs).toFixed(1)} µs a ${unit}, 1 / (1 − share) = ${(1 / (1 - share)).toFixed(4)}; ${rounds} rounds of ${requests}`,
  );
  for (const [file, time] of byFile) console.log(`  ${file.padEnd(48)} ${(time / rounds).toFixed(2)} µs`);
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[]; // µs
}

/** Times are µs, and include what the files call. If several of the files are on the stack, the outermost counts. */
function readProfile({ nodes, samples, timeDeltas }: Profile): { busy: number; inFiles: Map<string, number> } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const fileOf = new Map<number, string | undefined>();
  const walk = (id: number, within: string | undefined) => {
    const { callFrame, children = [] } = byId.get(id) as Profile['nodes'][number];
    const file = within ?? files.find((one) => callFrame.url.includes(`/${one}`));
    fileOf.set(id, file);
    for (const child of children) walk(child, file);
  };
  walk((nodes[0] as Profile['nodes'][number]).id, undefined);
  const inFiles = new Map<string, number>(files.map((file) => [file, 0]));
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    // A sample stands for the time until the next one, except for time in which other processes ran: a thread that waits for a core is not
    // sampled.
    const time = Math.min(timeDeltas[index + 1] ?? 0, 2 * interval);
    if (byId.get(id)?.callFrame.functionName === idle) continue;
    busy += time;
    const file = fileOf.get(id);
    if (file !== undefined) inFiles.set(file, (inFiles.get(file) ?? 0) + time);
  }
  return { busy, inFiles };
}

interface Answer {
  readonly id?: number; // missing in events
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Profiler {
  send<T>(method: string, parameters?: object): Promise<T>;
  close(): void;
}

async function attach(inspector: string): Promise<Profiler> {
  const socket = new WebSocket(inspector);
  const answers = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    answers.get(answer.id ?? 0)?.(answer);
  });
  await once(socket, 'open', { signal: AbortSignal.timeout(10_000) });
  let last = 0;
  const send: Profiler['send'] = async <T>(method: string, parameters: object = {}) => {
    const id = ++last;
    const { promise, resolve: answered } = Promise.withResolvers<Answer>();
    answers.set(id, answered);
    socket.send(JSON.stringify({ id, method, params: parameters }));
    const { result, error } = await promise;
    answers.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as T;
  };
  await send('Profiler.enable');
  await send('Profiler.setSamplingInterval', { interval });
  return { send, close: () => socket.close() };
}

interface Started extends Ready {
  readonly child: ChildProcess;
  readonly inspectorUrl: string;
}

async function start(file: string, parameters: string[]): Promise<Started> {
  const execArgv = ['--inspect=127.0.0.1:0', '--expose-gc'];
  const child = fork(resolve(import.meta.dirname, file), parameters, { silent: true, execArgv });
  let inspector = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    const [, url = inspector] = /Debugger listening on (ws:\S+)/.exec(chunk.toString()) ?? [];
    inspector = url;
  });
  // The inspector's URL is printed long before the process is ready.
  const [ready] = (await once(child, 'message', { signal: AbortSignal.timeout(60_000) })) as [Ready];
  return { ...ready, child, inspectorUrl: inspector };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
