import { homedir } from 'node:os';
import { join } from 'node:path';
import type { RecordedRequest } from '../../support/faulty-upstream.ts';
import { openGatewayHome } from '../../support/gateway-home.ts';
import { createLoopingUpstream, loop } from '../../support/looping-upstream.ts';
import { type ForeignClient, foreignClients } from './clients.ts';
import { installForeign, lastLine, runForeign } from './run-foreign.ts';
import { ownClients } from './typescript.ts';

/** Upstreams by name: one of each format, and a Messages vendor that keeps message threads. */
const models = ['chat', 'responses', 'messages', 'gemini', 'threads'];
const cache = join(homedir(), '.cache', 'daypass-conformance');
/** In base64, bytes whose standard and url-safe forms differ. */
const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xfb, 0xff, 0xfe, 0xfb, 0xef, 0xbe]).toString('base64');
const pdf = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x2d, 0xfb, 0xff, 0xfe, 0xff, 0xbf]).toString('base64');

export interface LoopCell {
  readonly client: string;
  readonly upstream: string;
  readonly feature: 'tool loop';
}

export interface LoopResults {
  /** One of each client. */
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

interface Place {
  readonly url: string;
  readonly key: string;
  readonly models: readonly string[];
}

interface Played {
  readonly model: string;
  readonly stream: boolean;
  readonly answer: string;
}

interface Loops {
  readonly played: readonly Played[];
  readonly faults: readonly string[];
}

export function allLoops(): LoopCell[] {
  const clients = [...Object.keys(ownClients), ...foreignClients.map(({ id }) => id)];
  return clients.flatMap((client) => models.map((upstream) => ({ client, upstream, feature: 'tool loop' as const })));
}

/**
 * Plays tool loops of three turns with whole SDKs, streamed and not. Installs those of other languages when they are
 * missing.
 *
 * @param databaseUrl a migrated, empty database of a PostgreSQL
 */
export async function playLoops(databaseUrl: string, cells: readonly LoopCell[]): Promise<LoopResults> {
  await using upstream = await createLoopingUpstream();
  await using home = await openGatewayHome(databaseUrl, yamlFor(upstream.url));
  await using gateway = await home.start();
  const [lines, failures]: [string[], string[]] = [[], []];
  for (const client of new Set(cells.map((cell) => cell.client))) {
    const chosen = cells.filter((cell) => cell.client === client).map((cell) => cell.upstream);
    const foreign = foreignClients.find(({ id }) => id === client);
    const name = foreign ? `${client} ${foreign.version}` : client;
    const place = { url: gateway.url, key: home.key, models: chosen };
    const count = upstream.requests.length;
    const loops = foreign ? await playForeign(foreign, place) : await playOwn(client, place);
    if (typeof loops === 'string') {
      lines.push(`${name}: skipped, ${loops}`);
      continue;
    }
    const requests = upstream.requests.slice(count);
    const altered = foreign?.hasFiles === true ? findAltered(requests) : [];
    const faults = [...describeWrong(loops), ...findUnsigned(requests), ...altered];
    lines.push(`${name}: ${chosen.map((model) => countPasses(model, loops)).join(', ')}`);
    failures.push(...faults.map((fault) => `${name}: ${fault}`));
  }
  return { lines, failures };
}

function countPasses(model: string, { played }: Loops): string {
  const own = played.filter((one) => one.model === model);
  return `${model} ${own.filter(({ answer }) => answer === loop.answer).length}/${own.length}`;
}

function describeWrong({ played, faults }: Loops): string[] {
  const wrong = played.filter(({ answer }) => answer !== loop.answer);
  return [...faults, ...wrong.map((one) => `on ${one.model}, ${one.stream ? 'streamed' : 'whole'}: ${one.answer}`)];
}

async function playOwn(client: string, { models: names, ...place }: Place): Promise<Loops> {
  const played: Played[] = [];
  for (const model of names) {
    for (const stream of [false, true]) {
      const answer = (await ownClients[client]?.({ ...place, model, stream }).catch(String)) ?? '';
      played.push({ model, stream, answer });
    }
  }
  return { played, faults: [] };
}

/** @returns why the client is skipped, or its loops */
async function playForeign(client: ForeignClient, { url, key, models: names }: Place): Promise<string | Loops> {
  const folder = join(cache, `${client.id}-${client.version}`);
  const reason = await installForeign(client, folder);
  if (reason !== undefined) return reason;
  const { code, out, errors } = await runForeign(client, folder, {
    LOOP_URL: url,
    LOOP_KEY: key,
    LOOP_MODELS: names.join(','),
    LOOP_QUESTION: loop.question,
    LOOP_IMAGE: image,
    LOOP_PDF: pdf,
  });
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  const played = lines.map((line) => JSON.parse(line) as Played);
  const isWhole = code === 0 && played.length > 0 && played.length % names.length === 0;
  return { played, faults: isWhole ? [] : [`ended with ${code} after ${played.length} loops: ${lastLine(errors)}`] };
}

/** Calls that reach Gemini without the signature that it gave them. */
function findUnsigned(requests: readonly RecordedRequest[]): string[] {
  const toGemini = requests.filter(({ path }) => path.includes('/gemini/'));
  const contents = toGemini.flatMap((request) => request.json<GeminiRequest>().contents);
  const calls = contents.flatMap(({ parts }) => parts).filter(({ functionCall }) => functionCall !== undefined);
  return calls.filter((part) => !isSigned(part)).map((part) => `a call without its signature: ${JSON.stringify(part)}`);
}

function isSigned({ thoughtSignature = '' }: GeminiPart): boolean {
  return Buffer.from(thoughtSignature, 'base64').toString().startsWith('signature of call_');
}

interface GeminiPart {
  readonly functionCall?: object;
  readonly thoughtSignature?: string;
}

interface GeminiRequest {
  readonly contents: readonly { readonly parts: readonly GeminiPart[] }[];
}

/** Requests without the image or the PDF in standard base64. Gemini reads both forms. */
function findAltered(requests: readonly RecordedRequest[]): string[] {
  return requests.flatMap((request) => {
    const written = JSON.stringify(request.json());
    const read = request.path.includes('/gemini/') ? written.replaceAll('-', '+').replaceAll('_', '/') : written;
    return [image, pdf].every((file) => read.includes(file)) ? [] : [`a file is altered or missing at ${request.path}`];
  });
}

function yamlFor(url: string): string {
  const formats = models.slice(0, 4);
  return `
pipeline: [auth, plan, format, upstream, log]
upstreams:
${formats.map((name) => `  ${name}: { format: ${name}, base_url: "${url}/${name}", api_keys: [k] }`).join('\n')}
  threads: { vendor: anthropic, base_url: "${url}/threads/x", api_keys: [k1, k2] }
models:
${formats.map((name) => `  ${name}: { routes: [${name}/there] }`).join('\n')}
  threads: { routes: [threads/claude-there] }
`;
}
