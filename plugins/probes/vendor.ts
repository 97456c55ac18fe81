import { stringify } from 'yaml';
import { parseDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import type { CapabilitySettings } from '#core/config/catalog/capabilities.ts';
import type { AuthScheme, Model, Route } from '#core/config/catalog/catalog.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import { validate } from '#core/extension/validation/load.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { answers, countTokens, maxTokens, stop, streams, usage } from './checks/answers.ts';
import { image, reasoning, schema, tool, twoTools } from './checks/abilities.ts';
import type { Check, CheckVerdict } from './checks/check.ts';
import { Meter } from './probe-route.ts';
import { Trials } from './trials.ts';

/** A vendor that is not configured. */
interface VendorTarget {
  readonly url: string;
  readonly model: string; // the vendor's name
  readonly key: string; // '' for none
}

/** Settings of gateway.yaml that may correct a guess. */
interface Settings {
  readonly capabilities?: CapabilitySettings;
  readonly quirks?: QuirkSettings;
}

/** One way to reach the vendor. */
interface Access {
  readonly baseUrl: string;
  readonly formats: readonly string[];
  readonly auth: AuthScheme;
}

interface VendorFindings {
  /** Sections `upstreams` and `models` of gateway.yaml; the key is a variable in them. Undefined when the vendor gave no answer. */
  readonly yaml: string | undefined;
  /** The variable that the key is taken from. */
  readonly variable: string;
  readonly lines: readonly string[];
}

/** Usual authorization of each format, the likeliest first. */
const accesses: readonly (readonly [format: string, schemes: readonly AuthScheme[]])[] = [
  ['chat', ['bearer', 'api-key', 'x-api-key']],
  ['responses', ['bearer']],
  ['messages', ['x-api-key', 'bearer']],
  ['gemini', ['x-goog-api-key', 'bearer']],
  ['ollama', ['bearer']],
];

const noReasoning: Settings = { capabilities: { reasoning: false } };
const otherLimit: Settings = { quirks: { max_tokens_name: 'max_completion_tokens' } };
/** With which a vendor may give its first answer. A model that reasons needs room for it. */
const firstGuesses: readonly Settings[] = [noReasoning, merge(noReasoning, otherLimit), {}, otherLimit];

interface Step {
  readonly check: Check;
  /** Changes that may make the check pass, the likeliest first. */
  readonly guesses: readonly Settings[];
  /** Declared if no change helps; without it, the failure is only reported. */
  readonly otherwise?: Settings;
}

const styles = ['effort', 'enable_thinking', 'thinking', 'openrouter'] as const;

const steps: readonly Step[] = [
  { check: streams, guesses: [{}] },
  { check: usage, guesses: [{}, { quirks: { stream_usage: false } }] },
  {
    check: tool,
    guesses: [{}, { quirks: { tool_schema: 'subset' } }],
    otherwise: { capabilities: { tools: false, parallel_tools: false } },
  },
  { check: twoTools, guesses: [{}], otherwise: { capabilities: { parallel_tools: false } } },
  {
    check: schema,
    guesses: [{}, { capabilities: { structured_output: 'object' } }],
    otherwise: { capabilities: { structured_output: 'none' } },
  },
  { check: image, guesses: [{}], otherwise: { capabilities: { images: false } } },
  {
    check: reasoning,
    guesses: [
      ...styles.map((style): Settings => ({ capabilities: { reasoning: true }, quirks: { reasoning: style } })),
      { capabilities: { reasoning: true }, quirks: { reasoning: 'none', inline_thinking: true } },
    ],
    otherwise: noReasoning,
  },
  { check: maxTokens, guesses: [{}, otherLimit] },
  { check: stop, guesses: [{}], otherwise: { quirks: { stop: 0 } } },
  { check: countTokens, guesses: [{ quirks: { count_tokens: true } }], otherwise: { quirks: { count_tokens: false } } },
];

/** Finds out by requests what a vendor's endpoint does, and writes the configuration for it. @throws ConfigError for a URL or key that cannot be one */
export async function tryVendor(
  gateway: Registry,
  target: VendorTarget,
  hostOf: (config: Pick<Host, 'catalog' | 'stages'>) => Host,
  report: (line: string) => void,
): Promise<VendorFindings> {
  const candidate = new Candidate(gateway, target, hostOf);
  const { variable } = candidate;
  const lines: string[] = [];
  const note = (name: string, verdict: CheckVerdict, settings: Settings): void => {
    const why = verdict.state === 'ok' ? '' : `${verdict.reason} ${verdict.detail ?? ''}`;
    const declared = Object.keys(settings).length === 0 ? '' : JSON.stringify(settings);
    const line = [name.padEnd(13), verdict.state.padEnd(8), declared, why]
      .filter((part) => part !== '')
      .join(' ')
      .trim();
    lines.push(line);
    report(line);
  };
  const begun = await findAccess(candidate, target, note);
  if (begun === undefined) return { yaml: undefined, variable, lines };
  const { access } = begun;
  let { settings } = begun;
  for (const { check, guesses, otherwise } of steps) {
    const best = await firstPassing(candidate, access, settings, check, guesses);
    if (best === undefined) continue;
    const isKnown = best.verdict.state === 'ok' || best.verdict.state === 'failed';
    const added = best.verdict.state === 'ok' ? best.guess : isKnown ? (otherwise ?? {}) : {};
    settings = merge(settings, added);
    note(check.name, best.verdict, added);
  }
  return { yaml: candidate.write(access, settings), variable, lines };
}

async function findAccess(
  candidate: Candidate,
  { url }: VendorTarget,
  note: (name: string, verdict: CheckVerdict, settings: Settings) => void,
): Promise<{ readonly access: Access; readonly settings: Settings } | undefined> {
  const plain = url.replace(/\/+$/, '');
  const urls = /\/(?:v\d\w*|api)$/.test(plain) ? [plain] : [plain, `${plain}/v1`];
  for (const baseUrl of urls) {
    let found: { readonly access: Access; readonly settings: Settings } | undefined;
    for (const [format, schemes] of accesses) {
      for (const auth of found === undefined ? schemes : [found.access.auth]) {
        const access = { baseUrl, formats: [format], auth };
        const best = await firstPassing(
          candidate,
          access,
          {},
          answers,
          found === undefined ? firstGuesses : [found.settings],
        );
        if (best === undefined) continue;
        note(`${format} ${auth}`, best.verdict, best.verdict.state === 'ok' ? best.guess : {});
        if (best.verdict.state !== 'ok') continue;
        const formats = [...(found?.access.formats ?? []), format];
        found = { access: { baseUrl, formats, auth }, settings: found?.settings ?? best.guess };
        break;
      }
    }
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Best {
  readonly guess: Settings;
  readonly verdict: CheckVerdict;
}

/** The first guess with which a check passes; else the first of all. Undefined where the check does not apply. */
async function firstPassing(
  candidate: Candidate,
  access: Access,
  settings: Settings,
  check: Check,
  guesses: readonly Settings[],
): Promise<Best | undefined> {
  let first: Best | undefined;
  for (const guess of guesses) {
    const verdict = await candidate.run(access, merge(settings, guess), check);
    if (verdict === undefined) continue;
    if (verdict.state === 'ok') return { guess, verdict };
    first ??= { guess, verdict };
    if (verdict.state === 'unknown' && verdict.reason !== 'unclear') break;
  }
  return first;
}

function merge(one: Settings, other: Settings): Settings {
  const capabilities = { ...one.capabilities, ...other.capabilities };
  const quirks = { ...one.quirks, ...other.quirks };
  return {
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
    ...(Object.keys(quirks).length > 0 && { quirks }),
  };
}

/** Configurations of one vendor, each read as `daypass check` reads it. */
class Candidate {
  readonly variable: string;
  readonly #gateway: Registry;
  readonly #target: VendorTarget;
  readonly #hostOf: (config: Pick<Host, 'catalog' | 'stages'>) => Host;
  readonly #name: string;

  constructor(gateway: Registry, target: VendorTarget, hostOf: (config: Pick<Host, 'catalog' | 'stages'>) => Host) {
    this.#gateway = gateway;
    this.#target = target;
    this.#hostOf = hostOf;
    this.#name = nameOf(target.url);
    this.variable = `${this.#name.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  }

  /** @returns undefined where the configuration does not declare what is checked */
  async run(access: Access, settings: Settings, check: Check): Promise<CheckVerdict | undefined> {
    const { model, route, host } = this.#open(access, settings);
    if (!check.isDeclared(route)) return undefined;
    await using trials = await Trials.open(host, this.#gateway);
    if (trials === undefined) throw new Error('no stages send requests');
    const { ask } = new Meter(trials, model, route);
    let verdict = await check.run(route, ask);
    for (let tries = 1; tries < check.tries && verdict.state === 'failed' && verdict.reason !== 'refused'; tries++)
      verdict = await check.run(route, ask);
    return verdict;
  }

  write({ baseUrl, formats, auth }: Access, settings: Settings): string {
    const { model, key } = this.#target;
    const isPlain = auth === 'bearer';
    return stringify({
      upstreams: {
        [this.#name]: {
          format: formats.length === 1 ? formats[0] : formats,
          base_url: baseUrl,
          ...(key === '' ? { auth: 'none' } : { ...(!isPlain && { auth }), api_keys: [`\${${this.variable}}`] }),
        },
      },
      models: { [modelName(model)]: { routes: [{ to: `${this.#name}/${model}`, ...settings }] } },
    });
  }

  #open(access: Access, settings: Settings): { readonly model: Model; readonly route: Route; readonly host: Host } {
    const text = `pipeline: [auth, plan, rate-limit, format, upstream, log]\n${this.write(access, settings)}`;
    const document = parseDocument(text, 'gateway.yaml', { [this.variable]: this.#target.key });
    const config = validate(document, this.#gateway);
    const catalog = buildCatalog(config, this.#gateway.vendors, this.#gateway.formats);
    const [model] = catalog.models;
    const [route] = model?.routes ?? [];
    if (model === undefined || route === undefined) throw new Error('the configuration has no route');
    return { model, route, host: this.#hostOf({ catalog, stages: config.stages }) };
  }
}

/** `example` for https://api.example.com/v1. */
function nameOf(url: string): string {
  const labels = new URL(url).hostname.split('.');
  const label = labels.every((part) => /^\d+$/.test(part)) ? 'vendor' : (labels.at(-2) ?? labels[0] ?? '');
  return (
    label
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'vendor'
  );
}

/** The last part of a vendor's name, as clients would write it. */
function modelName(model: string): string {
  const last = model.split('/').at(-1) ?? model;
  return (
    last
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replaceAll(/^[^a-z0-9]+/g, '') || 'model'
  );
}
