import { openGatewayHome } from '../../support/gateway-home.ts';
import { files, findLosses, readsPdf } from './check-requests.ts';
import { type ForeignClient, foreignClients, type Language } from './clients.ts';
import { createLoopingUpstream, loop } from './looping-upstream.ts';
import { type Installation, installLanguage, lastLine, type Missing, runForeign, versionOf } from './run-foreign.ts';
import { ownClients } from './typescript.ts';

const formats = ['chat', 'responses', 'messages', 'gemini', 'ollama'];
/** Upstreams by name: one of each format, and a Messages vendor that keeps message threads. */
const models = [...formats, 'threads'];

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
 * Plays tool loops of three turns with whole SDKs, streamed and not, each with an image and a PDF. Installs the SDKs of
 * other languages when they are missing.
 *
 * @param databaseUrl a migrated, empty database of a PostgreSQL
 */
export async function playLoops(databaseUrl: string, cells: readonly LoopCell[]): Promise<LoopResults> {
  await using upstream = await createLoopingUpstream();
  await using home = await openGatewayHome(databaseUrl, yamlFor(upstream.url));
  await using gateway = await home.start();
  const languages = await installLanguages(cells);
  const [lines, failures]: [string[], string[]] = [[], []];
  for (const client of new Set(cells.map((cell) => cell.client))) {
    const chosen = cells.filter((cell) => cell.client === client).map((cell) => cell.upstream);
    const place = { url: gateway.url, key: home.key, models: chosen };
    const foreign = foreignClients.find(({ id }) => id === client);
    const installation = foreign && languages.get(foreign.language);
    if (installation && 'reason' in installation) {
      lines.push(`${client}: skipped, ${installation.reason}`);
      if (installation.isFault) failures.push(`${client}: ${installation.reason}`);
      continue;
    }
    const count = upstream.requests.length;
    const loops =
      foreign && installation ? await playForeign(foreign, installation, place) : await playOwn(client, place);
    const name = foreign && installation ? `${client} ${versionOf(foreign, installation)}` : client;
    const faults = [
      ...describeWrong(loops),
      ...findLosses(client, upstream.requests.slice(count), foreign?.hasPdf !== false),
    ];
    lines.push(`${name}: ${chosen.map((model) => countPasses(model, loops)).join(', ')}`);
    failures.push(...faults.map((fault) => `${name}: ${fault}`));
  }
  return { lines, failures };
}

/** One language after the other: compilers need the whole machine. */
async function installLanguages(cells: readonly LoopCell[]): Promise<Map<Language, Installation | Missing>> {
  const chosen = foreignClients.filter(({ id }) => cells.some(({ client }) => client === id));
  const installed = new Map<Language, Installation | Missing>();
  for (const language of new Set(chosen.map((client) => client.language))) {
    installed.set(language, await installLanguage(language));
  }
  return installed;
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
    const given = { ...place, model, image: files.image, pdf: readsPdf(model) ? files.pdf : undefined };
    for (const stream of [false, true]) {
      const answer = (await ownClients[client]?.({ ...given, stream }).catch(String)) ?? '';
      played.push({ model, stream, answer });
    }
  }
  return { played, faults: [] };
}

async function playForeign(client: ForeignClient, installation: Installation, place: Place): Promise<Loops> {
  const { code, out, errors } = await runForeign(client, installation, {
    LOOP_URL: place.url,
    LOOP_KEY: place.key,
    LOOP_MODELS: place.models.join(','),
    LOOP_PDF_MODELS: place.models.filter((model) => readsPdf(model) && client.hasPdf !== false).join(','),
    LOOP_QUESTION: loop.question,
    LOOP_IMAGE: files.image,
    LOOP_PDF: files.pdf,
  });
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  const played = lines.map((line) => JSON.parse(line) as Played);
  const isWhole = code === 0 && played.length === place.models.length * 2;
  return { played, faults: isWhole ? [] : [`ended with ${code} after ${played.length} loops: ${lastLine(errors)}`] };
}

function yamlFor(url: string): string {
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 4 }
  - format
  - upstream
  - log
upstreams:
${formats.map((name) => `  ${name}: { format: ${name}, base_url: "${url}/${name}", api_keys: [k] }`).join('\n')}
  threads: { vendor: anthropic, base_url: "${url}/threads/x", api_keys: [k1, k2] }
models:
${formats.map((name) => `  ${name}: { routes: [${name}/there] }`).join('\n')}
  threads: { routes: [threads/claude-there] }
`;
}
