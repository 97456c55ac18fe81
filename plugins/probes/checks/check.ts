import type { Route } from '#core/config/catalog/catalog.ts';
import { type Profile, profileIn } from '#core/config/catalog/profile.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { TrialReply, TrialRequest } from '../trials.ts';

export const checkNames = [
  'answers',
  'streams',
  'usage',
  'tool',
  'two_tools',
  'schema',
  'image',
  'reasoning',
  'max_tokens',
  'stop',
  'count_tokens',
  'context',
  'fingerprint',
] as const;
export type CheckName = (typeof checkNames)[number];

const reasons = [
  'refused',
  'unreachable',
  'throttled',
  'key',
  'no_model',
  'empty',
  'not_streamed',
  'no_usage',
  'overbilled',
  'no_call',
  'wrong_arguments',
  'one_call',
  'not_json',
  'not_schema',
  'blind',
  'no_reasoning',
  'over_limit',
  'past_stop',
  'miscounted',
  'cut',
  'overflow',
  'other_answers',
  'other_maker',
  'unclear',
  'over_budget',
] as const;
export type Reason = (typeof reasons)[number];

/** `unknown` means inconclusive. */
export type CheckVerdict =
  | { readonly state: 'ok'; readonly detail?: string | undefined }
  | { readonly state: 'failed' | 'unknown'; readonly reason: Reason; readonly detail?: string | undefined };

type FailedVerdict = Extract<CheckVerdict, { readonly reason: Reason }>;

/** Sends a request to the route under test, and adds `model` to its body. */
export type Ask = (request: TrialRequest) => Promise<TrialReply>;

export interface Check {
  readonly name: CheckName;
  isDeclared(route: Route): boolean;
  /** Returns the most input and output tokens that one try can use. */
  cost(route: Route): number;
  /** How many tries must fail, because models do not always use their capabilities. */
  readonly maxTries: number;
  run(route: Route, ask: Ask): Promise<CheckVerdict>;
}

export const ok: CheckVerdict = { state: 'ok' };

export function failed(reason: Reason, detail?: string): FailedVerdict {
  return { state: 'failed', reason, detail: detail?.slice(0, 300) };
}

export function unknown(reason: Reason, detail?: string): FailedVerdict {
  return { state: 'unknown', reason, detail: detail?.slice(0, 300) };
}

/** Chat clients' requests use the route's Chat endpoint if it has one. */
export function chatProfileOf({ profile, upstream }: Route): Profile {
  return upstream.formats.includes('chat') ? profileIn('chat', profile) : profile;
}

export function isConversational({ upstream: { formats } }: Route): boolean {
  return formats.some((format) => ['chat', 'responses', 'messages', 'gemini', 'ollama'].includes(format));
}

function isReasoningRoute(route: Route): boolean {
  const { capabilities, quirks } = chatProfileOf(route);
  return capabilities.reasoning && quirks.reasoning !== 'none';
}

const maxReasoningTokens = 2_048; // before the first word of the answer

export function computeTokenBudget(route: Route, tokens: number): number {
  return isReasoningRoute(route) ? tokens + maxReasoningTokens : tokens;
}

export function buildQuestion(
  route: Route,
  content: JsonValue,
  tokens: number,
  members: JsonObject = {},
): TrialRequest {
  const effort = isReasoningRoute(route) ? { reasoning_effort: 'low' } : {};
  const messages = [{ role: 'user', content }];
  return { endpoint: 'chat', body: { messages, max_tokens: computeTokenBudget(route, tokens), ...effort, ...members } };
}

export function evaluateFault({ fault, error }: TrialReply): FailedVerdict | undefined {
  switch (fault) {
    case undefined:
      return undefined;
    case 'client':
    case 'overflow':
    case 'unsupported':
    case 'setup':
    case 'request':
      return failed('refused', error);
    case 'key':
    case 'throttled':
    case 'no_model':
      return unknown(fault, error);
    default:
      return unknown('unreachable', error);
  }
}
