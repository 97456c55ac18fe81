import type { Route } from '#core/config/catalog/catalog.ts';
import { isJsonObject } from '#core/platform/json.ts';
import type { TrialReply } from '../trials.ts';
import { readChat } from './chat-reply.ts';
import {
  type Check,
  failed,
  evaluateFault,
  ok,
  chatProfileOf,
  buildQuestion,
  computeTokenBudget,
  unknown,
  type CheckVerdict,
} from './check.ts';

const oneWordPrompt = 'Reply with the single word: ready';
const countingPrompt = 'Write the numbers from 1 to 20 in digits, separated by spaces. Write nothing else.';

const isAlwaysDeclared = () => true;
const streamingMembers = { stream: true, stream_options: { include_usage: true } };

/** Any fault except throttling fails this check. */
export const answers: Check = {
  name: 'answers',
  maxTries: 2,
  isDeclared: isAlwaysDeclared,
  cost: (route) => computeTokenBudget(route, 64) + 50,
  async run(route, ask) {
    const reply = await ask(buildQuestion(route, oneWordPrompt, 64));
    if (reply.fault === 'throttled') return unknown('throttled', reply.error);
    const fault = evaluateFault(reply);
    if (fault !== undefined) return { ...fault, state: 'failed' };
    const { text, finish } = readChat(reply);
    return text.trim() === '' ? failed('empty', finish) : ok;
  },
};

export const streams: Check = {
  name: 'streams',
  maxTries: 2,
  isDeclared: isAlwaysDeclared,
  cost: (route) => computeTokenBudget(route, 128) + 60,
  async run(route, ask) {
    const reply = await ask(buildQuestion(route, countingPrompt, 128, streamingMembers));
    const { contentDeltas } = readChat(reply);
    return (
      evaluateFault(reply) ?? (contentDeltas < 2 ? failed('not_streamed', `${contentDeltas} events with content`) : ok)
    );
  },
};

const billingTolerance = { factor: 5, tokens: 500 }; // beyond the visible text, for example for prompt templates

export const usage: Check = {
  name: 'usage',
  maxTries: 2,
  isDeclared: isAlwaysDeclared,
  cost: (route) => 2 * (computeTokenBudget(route, 64) + 50),
  async run(route, ask) {
    const reply = await ask(buildQuestion(route, oneWordPrompt, 64));
    const verdict = evaluateUsage(reply, oneWordPrompt.length, 'in a non-streaming response');
    if (verdict.state !== 'ok' || !chatProfileOf(route).quirks.stream_usage) return verdict;
    const streamedReply = await ask(buildQuestion(route, oneWordPrompt, 64, streamingMembers));
    return evaluateUsage(streamedReply, oneWordPrompt.length, 'in a stream');
  },
};

function evaluateUsage(reply: TrialReply, promptLength: number, where: string): CheckVerdict {
  const fault = evaluateFault(reply);
  if (fault !== undefined) return fault;
  const { input, output, reasoning = 0, isEstimated } = reply.usage ?? {};
  if (isEstimated === true || input === undefined || output === undefined) return failed('no_usage', where);
  const { text, reasoning: reasoningText } = readChat(reply);
  const billedParts = [
    { name: 'input', tokens: input, characters: promptLength },
    { name: 'output', tokens: output - Math.max(reasoning, 0), characters: text.length + reasoningText.length },
  ];
  const overbilled = billedParts.find(
    ({ tokens, characters }) => tokens > (characters / 4) * billingTolerance.factor + billingTolerance.tokens,
  );
  if (overbilled === undefined) return ok;
  return failed(
    'overbilled',
    `${overbilled.tokens} tokens of ${overbilled.name} for ${overbilled.characters} characters, ${where}`,
  );
}

const requestedLimit = { tokens: 16, tolerance: 8 }; // vendors count the end of a text differently

export const maxTokens: Check = {
  name: 'max_tokens',
  maxTries: 2,
  isDeclared: isAlwaysDeclared,
  // If the vendor ignores the limit, the model counts to 200.
  cost: () => 600,
  async run(_route, ask) {
    const prompt = 'Write the numbers from 1 to 200 in digits, separated by spaces. Write nothing else.';
    const messages = [{ role: 'user', content: prompt }];
    const reply = await ask({ endpoint: 'chat', body: { messages, max_tokens: requestedLimit.tokens } });
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const { text, finish } = readChat(reply);
    const output = reply.usage?.isEstimated === true ? undefined : reply.usage?.output;
    if (output !== undefined && output > requestedLimit.tokens + requestedLimit.tolerance)
      return failed('over_limit', `${output} tokens, but max_tokens was ${requestedLimit.tokens}`);
    if (finish === 'length') return ok;
    // No tokenizer gets to 100 in 16 tokens.
    if (/\b100\b/.test(text)) return failed('over_limit', `counted to ${text.trim().split(/\s+/).at(-1)}`);
    return unknown('unclear', text.slice(0, 100));
  },
};

export const stop: Check = {
  name: 'stop',
  maxTries: 2,
  isDeclared: (route) => chatProfileOf(route).quirks.stop > 0,
  cost: (route) => computeTokenBudget(route, 128) + 60,
  async run(route, ask) {
    const reply = await ask(buildQuestion(route, countingPrompt, 128, { stop: ['8'] }));
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    // If the format has no stop sequences, the gateway applies them itself and adds a note.
    if (reply.notes.some((note) => note.includes('stop'))) return ok;
    const { text } = readChat(reply);
    if (/\b8\b/.test(text)) return failed('past_stop', text.slice(0, 100));
    return /\b5\b/.test(text) ? ok : unknown('unclear', text.slice(0, 100));
  },
};

const countEndpoints = {
  messages: { endpoint: 'count_tokens', countField: 'input_tokens' },
  responses: { endpoint: 'responses_input_tokens', countField: 'input_tokens' },
} as const;

const plausibleRatio = { min: 0.4, max: 3 }; // of the vendor's count to the gateway's estimate

export const countTokens: Check = {
  name: 'count_tokens',
  maxTries: 2,
  isDeclared: (route) => findCountEndpoint(route) !== undefined,
  cost: () => 200,
  async run(route, ask) {
    const counter = findCountEndpoint(route);
    if (counter === undefined) return unknown('unclear');
    const text = Array.from({ length: 40 }, (_, index) => `Leaf ${index + 1} drifts past the mill.`).join(' ');
    const body =
      counter === countEndpoints.responses ? { input: text } : { messages: [{ role: 'user', content: text }] };
    const reply = await ask({ endpoint: counter.endpoint, body });
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const countedTokens = isJsonObject(reply.body) ? reply.body[counter.countField] : undefined;
    const expectedTokens = text.length / 4;
    const isPlausible =
      typeof countedTokens === 'number' &&
      countedTokens >= expectedTokens * plausibleRatio.min &&
      countedTokens <= expectedTokens * plausibleRatio.max;
    return isPlausible ? ok : failed('miscounted', `${String(countedTokens)} tokens for ${text.length} characters`);
  },
};

function findCountEndpoint({ upstream, profile }: Route) {
  const name = (['messages', 'responses'] as const).find(
    (format) => upstream.formats.includes(format) && (profile.byFormat?.get(format) ?? profile).quirks.count_tokens,
  );
  return name && countEndpoints[name];
}

export const embeds: Check = {
  name: 'answers',
  maxTries: 2,
  isDeclared: isAlwaysDeclared,
  cost: () => 50,
  async run(_route, ask) {
    const reply = await ask({ endpoint: 'embeddings', body: { input: 'ready' } });
    if (reply.fault === 'throttled') return unknown('throttled', reply.error);
    const fault = evaluateFault(reply);
    if (fault !== undefined) return { ...fault, state: 'failed' };
    const [first] = Array.isArray(reply.body?.['data']) ? reply.body['data'] : [];
    const vector = isJsonObject(first) ? first['embedding'] : undefined;
    return vector === undefined ? failed('empty') : ok;
  },
};
