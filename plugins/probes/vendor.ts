import { stringify } from 'yaml';
import type { CapabilitySettings } from '#core/config/catalog/capabilities.ts';
import type { AuthScheme, Model, Route, Upstream } from '#core/config/catalog/catalog.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import { parseDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { checkOrigin } from '#core/gateway/diagnosis/network.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { answers, countTokens, maxTokens, stop, streams, usage } from './checks/answers.ts';
import { image, reasoning, schema, tool, twoTools } from './checks/capabilities.ts';
import type { Check, CheckVerdict } from './checks/check.ts';
import { Meter } from './probe-route.ts';
import { Trials } from './trials.ts';
import { deriveUpstreamName, deriveKeyVariable } from './vendor-name.ts';

interface VendorTarget {
  readonly url: string;
  readonly model: string; // the vendor's name
  readonly key: string; // empty if the vendor needs none
}

interface VendorSettings {
  readonly capabilities?: CapabilitySettings;
  readonly quirks?: QuirkSettings;
}

type VendorEndpoint = Pick<Upstream, 'baseUrl' | 'formats' | 'auth'>;

interface VendorFindings {
  readonly yaml: string | undefined; // sections of gateway.yaml; undefined if the vendor gave no usable response
  readonly unreachable?: string; // error message with advice; undefined if the vendor can be reached
  readonly variable: string; // environment variable for the key
  readonly lines: readonly string[];
}

const authSchemesByFormat: readonly (readonly [format: string, schemes: readonly AuthScheme[]])[] = [
  // The most likely scheme comes first.
  ['chat', ['bearer', 'api-key', 'x-api-key']],
  ['responses', ['bearer']],
  ['messages', ['x-api-key', 'bearer']],
  ['gemini', ['x-goog-api-key', 'bearer']],
  ['ollama', ['bearer']],
];

const noReasoning: VendorSettings = { capabilities: { reasoning: false } };
const maxCompletionTokens: VendorSettings = { quirks: { max_tokens_name: 'max_completion_tokens' } };
/** Settings to try until the vendor answers. Reasoning models need a higher token limit. */
const firstGuesses: readonly VendorSettings[] = [
  noReasoning,
  mergeSettings(noReasoning, maxCompletionTokens),
  {},
  maxCompletionTokens,
];

const connectTimeoutMs = 10_000;

interface Step {
  readonly check: Check;
  readonly guesses: readonly VendorSettings[]; // may let the check pass, most likely first
  readonly fallback?: VendorSettings; // declared if no guess passes; without it, the failure is only reported
}

const reasoningStyles = ['effort', 'enable_thinking', 'thinking', 'openrouter'] as const;

const steps: readonly Step[] = [
  { check: streams, guesses: [{}] },
  { check: usage, guesses: [{}, { quirks: { stream_usage: false } }] },
  {
    check: tool,
    guesses: [{}, { quirks: { tool_schema: 'subset' } }],
    fallback: { capabilities: { tools: false, parallel_tools: false } },
  },
  { check: twoTools, guesses: [{}], fallback: { capabilities: { parallel_tools: false } } },
  {
    check: schema,
    guesses: [{}, { capabilities: { structured_output: 'object' } }],
    fallback: { capabilities: { structured_output: 'none' } },
  },
  { check: image, guesses: [{}], fallback: { capabilities: { images: false } } },
  {
    check: reasoning,
    guesses: [
      ...reasoningStyles.map((style): VendorSettings => ({
        capabilities: { reasoning: true },
        quirks: { reasoning: style },
      })),
      { capabilities: { reasoning: true }, quirks: { reasoning: 'none', inline_thinking: true } },
    ],
    fallback: noReasoning,
  },
  { check: maxTokens, guesses: [{}, maxCompletionTokens] },
  { check: stop, guesses: [{}], fallback: { quirks: { stop: 0 } } },
  { check: countTokens, guesses: [{ quirks: { count_tokens: true } }], fallback: { quirks: { count_tokens: false } } },
];

/** @throws ConfigError for an invalid URL or key */
export async function probeVendor(
  gateway: Registry,
  target: VendorTarget,
  createHost: (config: Pick<Host, 'catalog' | 'stages'>) => Host,
  report: (line: string) => void,
): Promise<VendorFindings> {
  const candidate = new Candidate(gateway, target, createHost);
  const { variable } = candidate;
  const lines: string[] = [];
  const recordResult = (name: string, verdict: CheckVerdict, settings: VendorSettings): void => {
    const reason = verdict.state === 'ok' ? '' : `${verdict.reason} ${verdict.detail ?? ''}`;
    const declared = Object.keys(settings).length === 0 ? '' : JSON.stringify(settings);
    const line = [name.padEnd(13), verdict.state.padEnd(8), declared, reason]
      .filter((part) => part !== '')
      .join(' ')
      .trim();
    lines.push(line);
    report(line);
  };
  const origin = await checkOrigin(target.url, AbortSignal.timeout(connectTimeoutMs));
  if (origin.state === 'failed') {
    const unreachable = `${target.url} cannot be reached: ${origin.text}. ${origin.advice ?? ''}`.trim();
    return { yaml: undefined, variable, lines: [unreachable], unreachable };
  }
  const firstAnswer = await findEndpoint(candidate, target, recordResult);
  if (firstAnswer === undefined) return { yaml: undefined, variable, lines };
  const { endpoint } = firstAnswer;
  let { settings } = firstAnswer;
  for (const { check, guesses, fallback } of steps) {
    const result = await findPassingGuess(candidate, endpoint, settings, check, guesses);
    if (result === undefined) continue;
    // A model that answered only with room for reasoning would stop answering without it.
    const needsRoom = check === reasoning && settings.capabilities?.reasoning !== false;
    const usesFallback = result.verdict.state === 'failed' && !needsRoom;
    const fallbackSettings = usesFallback ? (fallback ?? {}) : {};
    const added = result.verdict.state === 'ok' ? result.guess : fallbackSettings;
    settings = mergeSettings(settings, added);
    recordResult(check.name, result.verdict, added);
  }
  return { yaml: candidate.renderYaml(endpoint, settings), variable, lines };
}

interface FirstAnswer {
  readonly endpoint: VendorEndpoint;
  readonly settings: VendorSettings;
}

async function findEndpoint(
  candidate: Candidate,
  { url, key }: VendorTarget,
  recordResult: (name: string, verdict: CheckVerdict, settings: VendorSettings) => void,
): Promise<FirstAnswer | undefined> {
  const trimmedUrl = url.replace(/\/+$/, '');
  const urls = /\/(?:v\d\w*|api)$/.test(trimmedUrl) ? [trimmedUrl] : [trimmedUrl, `${trimmedUrl}/v1`];
  const rejectedSchemes = new Set<string>(); // format and scheme, separated by a space
  for (const baseUrl of urls) {
    const firstAnswer = await findFormats(candidate, baseUrl, key, rejectedSchemes, recordResult);
    if (firstAnswer !== undefined) return firstAnswer;
  }
  return undefined;
}

async function findFormats(
  candidate: Candidate,
  baseUrl: string,
  key: string,
  rejectedSchemes: Set<string>,
  recordResult: (name: string, verdict: CheckVerdict, settings: VendorSettings) => void,
): Promise<FirstAnswer | undefined> {
  let firstAnswer: FirstAnswer | undefined;
  for (const [format, usualSchemes] of authSchemesByFormat) {
    const schemes = key === '' ? usualSchemes.slice(0, 1) : usualSchemes; // without a key, all schemes send the same request
    for (const auth of firstAnswer === undefined ? schemes : [firstAnswer.endpoint.auth]) {
      const name = `${format} ${auth}`;
      if (rejectedSchemes.has(name)) continue;
      const endpoint = { baseUrl, formats: [format], auth };
      const guesses = firstAnswer === undefined ? firstGuesses : [firstAnswer.settings];
      const result = await findPassingGuess(candidate, endpoint, {}, answers, guesses);
      if (result === undefined) continue;
      const { verdict, guess, status } = result;
      recordResult(name, verdict, verdict.state === 'ok' ? guess : {});
      if (verdict.state !== 'ok') {
        if (status === 401) rejectedSchemes.add(name); // a 403 may be about an unknown path
        // If the server cannot be reached, every other format would time out as well.
        if (firstAnswer === undefined && verdict.reason === 'unreachable' && status === undefined) return undefined;
        continue;
      }
      const formats = [...(firstAnswer?.endpoint.formats ?? []), format];
      firstAnswer = { endpoint: { baseUrl, formats, auth }, settings: firstAnswer?.settings ?? guess };
      break;
    }
  }
  return firstAnswer;
}

interface Trial {
  readonly verdict: CheckVerdict;
  readonly status: number | undefined;
}

interface GuessResult extends Trial {
  readonly guess: VendorSettings;
}

/** Returns the first guess that passes or, if none does, the first one tried. Undefined if the check does not apply. */
async function findPassingGuess(
  candidate: Candidate,
  endpoint: VendorEndpoint,
  settings: VendorSettings,
  check: Check,
  guesses: readonly VendorSettings[],
): Promise<GuessResult | undefined> {
  let firstResult: GuessResult | undefined;
  for (const guess of guesses) {
    const trial = await candidate.run(endpoint, mergeSettings(settings, guess), check);
    if (trial === undefined) continue;
    if (trial.verdict.state === 'ok') return { guess, ...trial };
    firstResult ??= { guess, ...trial };
    if (!dependsOnSettings(trial)) break;
  }
  return firstResult;
}

function dependsOnSettings({ verdict, status }: Trial): boolean {
  if (verdict.state === 'ok') return true;
  // Other settings cannot help if the key, the model's name, the path or the server is at fault.
  switch (verdict.reason) {
    case 'key':
    case 'no_model':
    case 'throttled':
      return false;
    case 'unreachable':
      return status === 500; // some servers reject a parameter with 500
    default:
      return verdict.state === 'failed' || verdict.reason === 'unclear';
  }
}

function mayPassLater({ verdict, status = 0 }: Trial): boolean {
  if (verdict.state !== 'failed') return false;
  // A model's answers vary, and overloaded servers recover.
  if (verdict.reason === 'unreachable') return status > 500;
  return !['refused', 'key', 'no_model'].includes(verdict.reason);
}

function mergeSettings(base: VendorSettings, changes: VendorSettings): VendorSettings {
  const capabilities = { ...base.capabilities, ...changes.capabilities };
  const quirks = { ...base.quirks, ...changes.quirks };
  return {
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
    ...(Object.keys(quirks).length > 0 && { quirks }),
  };
}

class Candidate {
  readonly variable: string;
  readonly #gateway: Registry;
  readonly #target: VendorTarget;
  readonly #createHost: (config: Pick<Host, 'catalog' | 'stages'>) => Host;
  readonly #name: string;

  constructor(gateway: Registry, target: VendorTarget, createHost: (config: Pick<Host, 'catalog' | 'stages'>) => Host) {
    this.#gateway = gateway;
    this.#target = target;
    this.#createHost = createHost;
    this.#name = deriveUpstreamName(target.url);
    this.variable = deriveKeyVariable(this.#name);
  }

  async run(endpoint: VendorEndpoint, settings: VendorSettings, check: Check): Promise<Trial | undefined> {
    const { model, route, host } = this.#createRoute(endpoint, settings);
    if (!check.isDeclared(route)) return undefined;
    await using trials = await Trials.open(host, this.#gateway);
    if (trials === undefined) throw new Error('no stages send requests');
    const meter = new Meter(trials, model, route);
    const attempt = async (): Promise<Trial> => {
      const verdict = await check.run(route, meter.ask);
      return { verdict, status: meter.status };
    };
    let trial = await attempt();
    for (let tries = 1; tries < check.maxTries && mayPassLater(trial); tries++) trial = await attempt();
    return trial;
  }

  renderYaml({ baseUrl, formats, auth }: VendorEndpoint, settings: VendorSettings): string {
    const { model, key } = this.#target;
    const isBearer = auth === 'bearer';
    return stringify({
      upstreams: {
        [this.#name]: {
          format: formats.length === 1 ? formats[0] : formats,
          base_url: baseUrl,
          ...(key === '' ? { auth: 'none' } : { ...(!isBearer && { auth }), api_keys: [`\${${this.variable}}`] }),
        },
      },
      models: { [derivePublicName(model)]: { routes: [{ to: `${this.#name}/${model}`, ...settings }] } },
    });
  }

  #createRoute(
    endpoint: VendorEndpoint,
    settings: VendorSettings,
  ): { readonly model: Model; readonly route: Route; readonly host: Host } {
    const text = `pipeline: [auth, plan, rate-limit, format, upstream, log]\n${this.renderYaml(endpoint, settings)}`;
    const document = parseDocument(text, 'gateway.yaml', { [this.variable]: this.#target.key });
    const config = validate(document, this.#gateway);
    const catalog = buildCatalog(config, this.#gateway.vendors, this.#gateway.formats);
    const [model] = catalog.models;
    const [route] = model?.routes ?? [];
    if (model === undefined || route === undefined) throw new Error('the configuration has no route');
    return { model, route, host: this.#createHost({ catalog, stages: config.stages }) };
  }
}

function derivePublicName(model: string): string {
  const lastPart = model.split('/').at(-1) ?? model;
  return (
    lastPart
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replaceAll(/^[^a-z0-9]+/g, '') || 'model'
  );
}
