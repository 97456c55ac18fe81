import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { countTokens, embeds, answers, maxTokens, stop, streams, usage } from './checks/answers.ts';
import { image, reasoning, schema, tool, twoTools } from './checks/capabilities.ts';
import { readChat } from './checks/chat-reply.ts';
import {
  type Ask,
  type Check,
  type CheckName,
  failed,
  evaluateFault,
  isConversational,
  ok,
  buildQuestion,
  computeTokenBudget,
  unknown,
  type CheckVerdict,
} from './checks/check.ts';
import { context } from './checks/context.ts';
import {
  compareSamples,
  type Comparison,
  prompts,
  type Samples,
  samplesPerPrompt,
  significance,
} from './fingerprint.ts';
import {
  startCheck,
  finishCheck,
  reserveTokens,
  type Measurements,
  readBaseline,
  type CheckLimits,
} from './results.ts';
import type { TrialReply, Trials } from './trials.ts';

const shortAnswerTokens = 48;

const fingerprint: Check = {
  name: 'fingerprint',
  maxTries: 2,
  isDeclared: isConversational,
  // Most answers use a fraction of their limit, so only the answers to one prompt are reserved in full.
  cost: (route) =>
    prompts.length * samplesPerPrompt * 60 + samplesPerPrompt * computeTokenBudget(route, shortAnswerTokens),
  // `compareFingerprint` runs the check, because it needs the stored baseline.
  run: async () => ok,
};

const chatChecks: readonly Check[] = [
  // `answers` comes first: the others do not run on a route that fails it.
  answers,
  streams,
  usage,
  tool,
  twoTools,
  schema,
  image,
  reasoning,
  maxTokens,
  stop,
  countTokens,
  context,
  fingerprint,
];

export function listChecks(model: Model, route: Route): readonly Check[] {
  if (model.kind === 'embedding' && route.upstream.formats.includes('embeddings')) return [embeds];
  // Probing other kinds of models costs too much.
  if (model.kind !== 'chat' || !isConversational(route)) return [];
  return chatChecks.filter((check) => check.isDeclared(route));
}

/** Lists each route with checks once, with the first model that it serves. */
export function listProbedRoutes({
  catalog,
}: Pick<Host, 'catalog'>): { readonly model: Model; readonly route: Route }[] {
  const entriesById = new Map<string, { readonly model: Model; readonly route: Route }>();
  for (const model of catalog.models)
    for (const route of model.routes) if (!entriesById.has(route.id)) entriesById.set(route.id, { model, route });
  return [...entriesById.values()].filter(({ model, route }) => listChecks(model, route).length > 0);
}

interface ProbeParts extends CheckLimits {
  readonly host: Pick<Host, 'database' | 'now'>;
  readonly trials: Trials;
  readonly isBaseline?: boolean; // stores the answers as the new baseline
}

export interface CheckResult extends Measurements {
  readonly check: CheckName;
  readonly verdict: CheckVerdict;
}

/** Returns undefined if another process is running the check. */
export async function runCheck(
  parts: ProbeParts,
  model: Model,
  route: Route,
  check: Check,
): Promise<CheckResult | undefined> {
  const { host, budget } = parts;
  const { database } = host;
  const id = await startCheck(database, route, check.name, check.cost(route), parts, host.now());
  if (id === undefined) return undefined;
  if (id === 'over_budget')
    return { check: check.name, verdict: unknown('over_budget', `${check.cost(route)} tokens`), tokens: 0 };
  const meter = new Meter(parts.trials, model, route);
  const reserveTry = () => reserveTokens(database, route, id, check.cost(route), budget, host.now());
  const outcome =
    check.name === 'fingerprint'
      ? await compareFingerprint(parts, route, meter, reserveTry)
      : { verdict: await repeatFailedCheck(check, route, meter.ask, reserveTry) };
  const speed = check.name === 'streams' && outcome.verdict.state === 'ok' ? meter.speed : {};
  const result = { check: check.name, ...outcome, ...speed, tokens: meter.tokens };
  await finishCheck(database, id, result.verdict, result);
  return result;
}

async function repeatFailedCheck(
  check: Check,
  route: Route,
  ask: Ask,
  reserveTry: () => Promise<boolean>,
): Promise<CheckVerdict> {
  let verdict = await check.run(route, ask);
  // Only repeated failures count.
  for (let tries = 1; tries < check.maxTries && verdict.state !== 'ok'; tries++) {
    if (verdict.state === 'unknown' && verdict.reason !== 'unclear') return verdict;
    if (!(await reserveTry())) return unknown('over_budget');
    verdict = await check.run(route, ask);
  }
  return verdict;
}

export class Meter {
  tokens = 0;
  #last: TrialReply | undefined;
  readonly #trials: Trials;
  readonly #model: Model;
  readonly #route: Route;

  constructor(trials: Trials, model: Model, route: Route) {
    this.#trials = trials;
    this.#model = model;
    this.#route = route;
  }

  readonly ask: Ask = async ({ body, ...request }) => {
    const reply = await this.#trials.send(this.#model, this.#route, {
      ...request,
      body: { model: this.#model.publicName, ...body },
    });
    const { input = 0, output = 0 } = reply.usage ?? {};
    this.tokens += input + output;
    this.#last = reply;
    return reply;
  };

  /** Status with which the vendor rejected the last request. */
  get status(): number | undefined {
    return this.#last?.status;
  }

  /**
   * Returns the speed of the last stream. If the stream arrived all at once, the vendor buffered it, and the tokens per second are
   * undefined.
   */
  get speed(): Pick<Measurements, 'firstContentMs' | 'tokensPerSecond'> {
    const { firstContentMs, durationMs = 0, usage: { output = 0 } = {} } = this.#last ?? {};
    if (firstContentMs === undefined) return {};
    const streamMs = durationMs - firstContentMs;
    return {
      firstContentMs,
      tokensPerSecond: streamMs < 100 || output === 0 ? undefined : (output * 1000) / streamMs,
    };
  }
}

interface FingerprintResult extends Pick<Measurements, 'score' | 'samples' | 'isBaseline'> {
  readonly verdict: CheckVerdict;
}

async function compareFingerprint(
  { host, isBaseline = false }: ProbeParts,
  route: Route,
  { ask }: Meter,
  reserveTry: () => Promise<boolean>,
): Promise<FingerprintResult> {
  const baseline = isBaseline ? undefined : await readBaseline(host.database, route.id);
  const firstSamples = await collectSamples(route, ask);
  if (!isSamples(firstSamples)) return { verdict: firstSamples };
  if (baseline === undefined) return { verdict: ok, samples: firstSamples, isBaseline: true, score: 100 };
  const firstComparison = compareSamples(baseline, firstSamples);
  if (!isDifferentModel(firstComparison)) return { verdict: ok, samples: firstSamples, score: firstComparison.score };
  if (!(await reserveTry()))
    return { verdict: unknown('over_budget'), samples: firstSamples, score: firstComparison.score };
  const secondSamples = await collectSamples(route, ask);
  if (!isSamples(secondSamples)) return { verdict: secondSamples };
  const secondComparison = compareSamples(baseline, secondSamples);
  const { score, makers, example } = secondComparison;
  if (!isDifferentModel(secondComparison)) return { verdict: ok, samples: secondSamples, score };
  const verdict = makers === undefined ? failed('other_answers', example) : failed('other_maker', makers.join(' → '));
  return { verdict, samples: secondSamples, score };
}

function isDifferentModel({ p, makers }: Comparison): boolean {
  return makers !== undefined || p <= significance;
}

function isSamples(outcome: Samples | CheckVerdict): outcome is Samples {
  return !('state' in outcome && typeof outcome.state === 'string');
}

async function collectSamples(route: Route, ask: Ask): Promise<Samples | CheckVerdict> {
  const samples: Record<string, string[]> = {};
  for (const prompt of prompts) {
    const replies = await Promise.all(
      Array.from({ length: samplesPerPrompt }, () => ask(buildQuestion(route, prompt, shortAnswerTokens))),
    );
    const [fault] = replies.flatMap((reply) => evaluateFault(reply) ?? []);
    if (fault !== undefined) return unknown(fault.reason, fault.detail);
    samples[prompt] = replies.map((reply) => readChat(reply).text.trim().slice(0, 200));
  }
  return samples;
}
