import type { Route } from '#core/config/catalog/catalog.ts';
import { isJsonObject } from '#core/platform/json.ts';
import type { TrialReply } from '../trials.ts';
import { readChat } from './chat-answer.ts';
import {
  type Ask,
  type Check,
  failed,
  faultOf,
  ok,
  profileOf,
  question,
  room,
  unknown,
  type CheckVerdict,
} from './check.ts';

const word = 'Reply with the single word: ready';
const counting = 'Write the numbers from 1 to 20 in digits, separated by spaces. Write nothing else.';

const always = () => true;
const streamed = { stream: true, stream_options: { include_usage: true } };

/** A route that is unreachable now is not tried again; a route that never answers has failed. */
export const answers: Check = {
  name: 'answers',
  tries: 2,
  isDeclared: always,
  cost: (route) => room(route, 64) + 50,
  async run(route, ask) {
    const reply = await ask(question(route, word, 64));
    if (reply.fault === 'throttled') return unknown('throttled', reply.error);
    const fault = faultOf(reply);
    if (fault !== undefined) return { ...fault, state: 'failed' } as CheckVerdict;
    return readChat(reply).text.trim() === '' ? failed('empty', readChat(reply).finish) : ok;
  },
};

export const streams: Check = {
  name: 'streams',
  tries: 2,
  isDeclared: always,
  cost: (route) => room(route, 128) + 60,
  async run(route, ask) {
    const reply = await ask(question(route, counting, 128, streamed));
    const { deltas } = readChat(reply);
    return faultOf(reply) ?? (deltas < 2 ? failed('not_streamed', `${deltas} events with content`) : ok);
  },
};

/** Tolerance for tokens that a vendor bills beyond the visible text, such as those of prompt templates. */
const tolerance = { factor: 5, tokens: 500 };

/** The gateway estimates counts that the vendor does not report. */
export const usage: Check = {
  name: 'usage',
  tries: 2,
  isDeclared: always,
  cost: (route) => 2 * (room(route, 64) + 50),
  async run(route, ask) {
    const whole = await ask(question(route, word, 64));
    const wrong = checkUsage(whole, word.length);
    if (wrong.state !== 'ok' || !profileOf(route).quirks.stream_usage) return wrong;
    return checkUsage(await ask(question(route, word, 64, streamed)), word.length, 'in a stream');
  },
};

function checkUsage(reply: TrialReply, promptLength: number, where = 'in a whole answer'): CheckVerdict {
  const fault = faultOf(reply);
  if (fault !== undefined) return fault;
  const { input, output, reasoning = 0, isEstimated } = reply.usage ?? {};
  if (isEstimated === true || input === undefined || output === undefined) return failed('no_usage', where);
  const { text, reasoning: thoughts } = readChat(reply);
  const billed = [
    { name: 'input', tokens: input, characters: promptLength },
    { name: 'output', tokens: output - Math.max(reasoning, 0), characters: text.length + thoughts.length },
  ];
  const excess = billed.find(
    ({ tokens, characters }) => tokens > (characters / 4) * tolerance.factor + tolerance.tokens,
  );
  if (excess === undefined) return ok;
  return failed(
    'overbilled',
    `${excess.tokens} tokens of ${excess.name} for ${excess.characters} characters, ${where}`,
  );
}

/** Requested limit of output tokens, and tolerance beyond it: vendors count the end of an answer differently. */
const limit = { tokens: 16, tolerance: 8 };

export const maxTokens: Check = {
  name: 'max_tokens',
  tries: 2,
  isDeclared: always,
  // If the vendor ignores the limit, the model counts to the end.
  cost: () => 600,
  async run(_route, ask) {
    const prompt = 'Write the numbers from 1 to 200 in digits, separated by spaces. Write nothing else.';
    const messages = [{ role: 'user', content: prompt }];
    const reply = await ask({ endpoint: 'chat', body: { messages, max_tokens: limit.tokens } });
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const { text, finish } = readChat(reply);
    const output = reply.usage?.isEstimated === true ? undefined : reply.usage?.output;
    if (output !== undefined && output > limit.tokens + limit.tolerance)
      return failed('over_limit', `${output} tokens, although at most ${limit.tokens} were asked for`);
    if (finish === 'length') return ok;
    // 16 tokens do not reach 100 with any tokenizer.
    if (/\b100\b/.test(text)) return failed('over_limit', `it counted to ${text.trim().split(/\s+/).at(-1)}`);
    return unknown('unclear', text.slice(0, 100));
  },
};

export const stop: Check = {
  name: 'stop',
  tries: 2,
  isDeclared: (route) => profileOf(route).quirks.stop > 0,
  cost: (route) => room(route, 128) + 60,
  async run(route, ask) {
    const reply = await ask(question(route, counting, 128, { stop: ['8'] }));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    // The format has no stop sequences, and the gateway cuts the answer.
    if (reply.notes.some((note) => note.includes('stop'))) return ok;
    const { text } = readChat(reply);
    if (/\b8\b/.test(text)) return failed('past_stop', text.slice(0, 100));
    return /\b5\b/.test(text) ? ok : unknown('unclear', text.slice(0, 100));
  },
};

/** Endpoint that counts tokens and member with the count, by format. */
const counters = {
  messages: { endpoint: 'count_tokens', count: 'input_tokens' },
  responses: { endpoint: 'responses_input_tokens', count: 'input_tokens' },
} as const;

/** Plausible ratio of a count to the estimate. */
const countRange = { min: 0.4, max: 3 };

export const countTokens: Check = {
  name: 'count_tokens',
  tries: 2,
  isDeclared: (route) => counterOf(route) !== undefined,
  cost: () => 200,
  async run(route, ask) {
    const counter = counterOf(route);
    if (counter === undefined) return unknown('unclear');
    const text = Array.from({ length: 40 }, (_, index) => `Leaf ${index + 1} drifts past the mill.`).join(' ');
    const body = counter === counters.responses ? { input: text } : { messages: [{ role: 'user', content: text }] };
    const reply = await ask({ endpoint: counter.endpoint, body });
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const counted = isJsonObject(reply.body) ? reply.body[counter.count] : undefined;
    const expected = text.length / 4;
    const isPlausible =
      typeof counted === 'number' && counted >= expected * countRange.min && counted <= expected * countRange.max;
    return isPlausible ? ok : failed('miscounted', `${String(counted)} tokens for ${text.length} characters`);
  },
};

function counterOf({ upstream, profile }: Route) {
  const name = (['messages', 'responses'] as const).find(
    (format) => upstream.formats.includes(format) && (profile.byFormat?.get(format) ?? profile).quirks.count_tokens,
  );
  return name && counters[name];
}

/** The check `answers` for routes that serve embeddings. */
export const embeds: Check = {
  name: 'answers',
  tries: 2,
  isDeclared: always,
  cost: () => 50,
  async run(_route, ask: Ask) {
    const reply = await ask({ endpoint: 'embeddings', body: { input: 'ready' } });
    if (reply.fault === 'throttled') return unknown('throttled', reply.error);
    const fault = faultOf(reply);
    if (fault !== undefined) return { ...fault, state: 'failed' } as CheckVerdict;
    const [first] = Array.isArray(reply.body?.['data']) ? reply.body['data'] : [];
    const vector = isJsonObject(first) ? first['embedding'] : undefined;
    return vector === undefined ? failed('empty') : ok;
  },
};
