/**
 * `npm run honest -- [ANSWERS] [SEED]`: plays answers to clients of all formats and compares the digests on record with each other and with
 * what a client computes. The answers are the recordings of the repository with other words, cut elsewhere, some broken off.
 */
import { spawn } from 'node:child_process';
import { recordings } from '../plugins/format/replays/recordings.ts';
import { textFormats } from '../support/formats.ts';
import { type Answer, isWholeAtVendor, play, type Way, ways } from './answers.ts';
import { chop, type Draw, drawFrom, vary } from './vary.ts';

const [count = 100_000, seed = 1] = process.argv.slice(2).map(Number);
const mostShown = 10;
/** Answers that the program of the documentation gets at once. */
const batchSize = 2_000;

interface Case {
  readonly seed: number;
  readonly name: string;
  readonly answer: Answer;
}

const tally = new Map<string, number>();
let failures = 0;
let batch: Case[] = [];
let played = 0;

for (let number = 0; played < count; number++) {
  const one = await playOne(seed * 1_000_003 + number);
  if (one === undefined) continue;
  played++;
  check(one);
  batch.push(one);
  if (batch.length >= batchSize) await checkBatch();
}
await checkBatch();
for (const [what, times] of [...tally].toSorted()) console.log(`${String(times).padStart(8)}  ${what}`);
console.log(`${played} answers, ${failures} wrong`);
process.exitCode = failures === 0 ? 0 : 1;

async function playOne(own: number): Promise<Case | undefined> {
  const draw = drawFrom(own);
  const recording = recordings[draw(recordings.length)];
  const client = textFormats[draw(textFormats.length)];
  const way = ways[draw(ways.length)] as Way;
  if (recording === undefined || client === undefined) return undefined;
  // Vertex AI writes arguments in pieces of its own kind, which the program does not read.
  if (client === 'gemini' && recording.name === 'gemini/vertex-streamed-arguments') return undefined;
  const given = isWholeAtVendor(way) ? recording.whole : recording.stream;
  if (given === undefined) return undefined;
  const answer = await play(client, recording, way, piecesOf(given, way, draw));
  return answer && { seed: own, name: `${recording.name} ${way} to ${client}`, answer };
}

function piecesOf(given: Buffer, way: Way, draw: Draw): Buffer[] {
  const body = vary(given, draw);
  if (isWholeAtVendor(way)) return [body];
  const pieces = chop(body, draw);
  // One of ten breaks off.
  return way === 'streamed' && draw(10) === 0 ? pieces.slice(0, 1 + draw(pieces.length)) : pieces;
}

function check({ seed: own, name, answer }: Case): void {
  const { received, sent, changes = [] } = answer.digests;
  const isEqual = received === sent;
  note(isEqual ? 'equal' : `differ: ${changes.join(', ')}`);
  if (!isEqual && changes.length === 0) fail(own, `${name}: the digests differ, and nothing says why`);
  if (answer.recomputed !== sent) fail(own, `${name}: the client computes ${answer.recomputed}, on record is ${sent}`);
}

/** The same by the program of the documentation, where there is a Python. */
async function checkBatch(): Promise<void> {
  const cases = batch;
  batch = [];
  const computed = await byPython(cases.map(({ answer }) => answer.body));
  if (computed === undefined) return;
  for (const [index, { seed: own, name, answer }] of cases.entries())
    if ((computed[index] ?? undefined) !== answer.digests.sent)
      fail(own, `${name}: the program computes ${computed[index]}, on record is ${answer.digests.sent}`);
}

async function byPython(answers: readonly string[]): Promise<(string | null)[] | undefined> {
  const driver = `import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('answer_digest', 'docs/examples/answer-digest.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps([module.digest(answer) for answer in json.load(sys.stdin)]))`;
  const child = spawn('python3', ['-c', driver], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.once('error', () => resolve('')).once('close', () => resolve(text));
  child.stdin.on('error', () => undefined).end(JSON.stringify(answers));
  const printed = await promise;
  return printed === '' ? undefined : (JSON.parse(printed) as (string | null)[]);
}

function note(what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

function fail(own: number, text: string): void {
  failures++;
  if (failures <= mostShown) console.error(`seed ${own}: ${text}`);
}
