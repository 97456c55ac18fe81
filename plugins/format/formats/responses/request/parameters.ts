import type { EncodeTarget } from '../../../canonical/codec.ts';
import { isPlainMetadata, shortenId, selectRetention } from '../../../canonical/openai.ts';
import { toRequestableTier } from '../../../canonical/service-tier.ts';
import { asFilledObject, asFilledText } from '../../../wire/members.ts';
import { maybeInteger } from '../../../wire/read.ts';
import { compileParameters } from '../../contract/parameters.ts';
import * as rule from '../../contract/rules.ts';

/** Source: OpenAI API reference, "Create a model response". */
export const responsesParameters = compileParameters(
  {
    input: rule.textOr(rule.objects),
    instructions: rule.text,
    stream: rule.boolean,
    max_output_tokens: { is: rule.integer(1), to: 'maxOutputTokens', write: writeLimit },
    temperature: { is: rule.number(0, 2), to: 'temperature' },
    top_p: { is: rule.number(0, 1), to: 'topP' },
    tools: rule.objects,
    tool_choice: rule.textOrObject,
    parallel_tool_calls: { is: rule.boolean, to: 'parallelToolCalls', writtenBy: 'encoder' },
    text: rule.object,
    'text.format': rule.object,
    reasoning: rule.object,
    'reasoning.effort': rule.text,
    include: rule.texts,
    truncation: { is: rule.text, isLost: (truncation) => truncation === 'auto' },
    background: rule.boolean,
    store: rule.boolean,
    user: { is: rule.text, to: 'user', read: asFilledText, writtenBy: 'encoder' },
    safety_identifier: { is: rule.text, to: 'safetyId', read: asFilledText, writtenBy: 'encoder' },
    prompt_cache_key: { is: rule.text, to: 'cacheKey', read: asFilledText, write: shortenId },
    service_tier: { is: rule.text, to: 'serviceTier', read: asFilledText, write: toRequestableTier },
    metadata: {
      is: rule.object,
      to: 'metadata',
      read: asFilledObject,
      write: (all) => (isPlainMetadata(all) ? all : undefined),
    },
    previous_response_id: rule.text,
  },
  {
    translationOnly: {
      // From the Open Responses specification.
      presence_penalty: { is: rule.number(-2, 2), to: 'presencePenalty', writtenBy: 'none' },
      frequency_penalty: { is: rule.number(-2, 2), to: 'frequencyPenalty', writtenBy: 'none' },
      prompt_cache_retention: { is: rule.text, to: 'cacheRetention', read: asFilledText, write: selectRetention },
      'text.verbosity': { is: rule.text, to: 'verbosity' },
      top_logprobs: {
        is: rule.anything,
        to: 'topLogprobs',
        read: (value) => maybeInteger(value, 'top_logprobs', 0, 20) || undefined,
        writtenBy: 'encoder',
      },
    },
    unmappedMembers: [
      'model',
      'conversation',
      'prompt',
      // No upstream needs these. The gateway sends the reply itself, and Codex intends its metadata only for OpenAI.
      'stream_options',
      'client_metadata',
      'reasoning.summary',
      'reasoning.generate_summary',
    ],
    closedObjects: { reasoning: () => true },
  },
);

const minOutputTokens = 16; // OpenAI's minimum

function writeLimit(requestedLimit: number, { notes }: EncodeTarget): number {
  const limit = Math.max(minOutputTokens, requestedLimit);
  if (limit !== requestedLimit) notes.approximate(`output token limit as ${limit}`);
  return limit;
}
