import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder } from '../../canonical/codec.ts';
import { type Fragment, progress, readFailure, toUsageFragments } from '../../canonical/reply.ts';
import { asList, asCount, readMember, parseEventData, scalarToNumber } from '../../wire/members.ts';
import { adaptEndUser, plainEndUser } from '../adaptation/adapt-parameters.ts';
import { isPromptRefused } from '../chat/reply/prompt-filter.ts';
import { type ClientFormat, defineModelEndpoint } from '../contract/descriptor.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { compileParameters } from '../contract/parameters.ts';
import { boolean, integer, number, text } from '../contract/rules.ts';

// Source: OpenAI API reference, "Create completion".
const completionsParameters = compileParameters({
  stream: boolean,
  suffix: text,
  n: integer(1, 128),
  max_tokens: integer(0),
  temperature: number(0, 2),
  top_p: number(0, 1),
});

/** OpenAI's Completions, which editors use to fill in code between a prompt and a suffix. */
export const completions: ClientFormat = {
  name: 'completions',
  kind: 'chat',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/completions',
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/completions/create',
    endpoints: [defineModelEndpoint('completions', '/v1/completions', ['prompt'])],
    parameters: completionsParameters,
    adapt: adaptEndUser(plainEndUser),
    createObserver: ({ n }, listeners) =>
      new FragmentObserver({ createDecoder: () => new CompletionsDecoder() }, listeners, {
        endMark: 'data: [DONE]\n\n',
        requestedChoices: scalarToNumber(n) || 1,
      }),
    modelPlace: { member: 'model' },
  },
};

/** The text passes through, so only the progress is read. */
class CompletionsDecoder implements ReplyDecoder {
  readEvent(_name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    if (data.trim() === '[DONE]') return [{ type: 'end' }];
    const body = parseEventData(data, event);
    return body === undefined ? [] : readReply(body);
  }

  readWhole(body: JsonObject): Fragment[] {
    // A choice with an empty text counts too, because there may be nothing to fill in.
    const hasChoices = asList(body['choices']).length > 0;
    return [...readReply(body), ...(hasChoices ? [progress] : []), { type: 'end' }];
  }
}

function readReply(body: JsonObject): Fragment[] {
  const error = readFailure(body);
  if (error !== undefined) return [{ type: 'error', error }];
  const refusal: Fragment[] = isPromptRefused(body) ? [{ type: 'finish', reason: 'content_filter' }] : [];
  return [...asList(body['choices']).flatMap(readChoice), ...toUsageFragments(readUsage(body)), ...refusal];
}

function readChoice(choice: JsonValue): Fragment[] {
  const reason = readMember(choice, 'finish_reason');
  const answer = readMember(choice, 'index') ?? null;
  if (typeof reason !== 'string' || reason === '')
    return readMember(choice, 'text') === '' ? [] : [progress, { type: 'other', answer }];
  return [progress, { type: 'other', answer, finish: reason === 'content_filter' ? reason : 'stop' }];
}

function readUsage({ usage }: JsonObject): Usage | undefined {
  const input = asCount(readMember(usage, 'prompt_tokens'));
  const output = asCount(readMember(usage, 'completion_tokens'));
  return input === undefined && output === undefined ? undefined : { input, output };
}
