import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { shortenId, selectRetention } from '../../../canonical/openai.ts';
import { toRequestableTier } from '../../../canonical/service-tier.ts';
import type { ChatRequest } from '../../../wire/chat.ts';
import { asFilledObject, asFilledText, listTexts } from '../../../wire/members.ts';
import { maybeInteger } from '../../../wire/read.ts';
import { compileParameters } from '../../contract/parameters.ts';
import * as rule from '../../contract/rules.ts';

/** Source: OpenAI API reference, "Create chat completion". */
export const chatParameters = compileParameters(
  {
    messages: rule.nonEmptyListOf(rule.objectWith('role', rule.text)),
    stream: rule.boolean,
    stream_options: rule.object,
    'stream_options.include_usage': rule.boolean,
    n: { is: rule.integer(1, 128), to: 'candidates', writtenBy: 'none' },
    max_completion_tokens: { is: rule.integer(1), to: 'maxOutputTokens' },
    max_tokens: { is: rule.integer(1), to: 'maxOutputTokens', writtenBy: 'none' },
    temperature: { is: rule.number(0, 2), to: 'temperature' },
    top_p: { is: rule.number(0, 1), to: 'topP' },
    presence_penalty: { is: rule.number(-2, 2), to: 'presencePenalty' },
    frequency_penalty: { is: rule.number(-2, 2), to: 'frequencyPenalty' },
    seed: { is: rule.seed, to: 'seed' },
    stop: { is: rule.textOr(rule.texts), to: 'stop', read: listTexts },
    tools: rule.objects,
    functions: rule.objects,
    tool_choice: rule.textOrObject,
    parallel_tool_calls: { is: rule.boolean, to: 'parallelToolCalls', writtenBy: 'encoder' },
    reasoning_effort: rule.text,
    response_format: rule.object,
    // `structural_tag` exists only in vLLM and SGLang, `grammar` only in Fireworks.
    'response_format.type': rule.oneOf(
      ['text', 'json_object', 'json_schema', 'structural_tag', 'grammar'],
      'text, json_object or json_schema',
    ),
    logit_bias: { is: rule.object, isLost: (bias) => asFilledObject(bias) !== undefined },
    // In vLLM, -1 means all tokens.
    top_logprobs: { is: rule.integer(-1), to: 'topLogprobs', read: readTopLogprobs, writtenBy: 'encoder' },
    logprobs: {
      is: rule.boolean,
      to: 'topLogprobs',
      read: (isRequested) => (isRequested === true ? 0 : undefined),
      write: () => true,
    },
    user: { is: rule.text, to: 'user', read: asFilledText, writtenBy: 'encoder' },
    safety_identifier: { is: rule.text, to: 'safetyId', read: asFilledText, writtenBy: 'encoder' },
    prompt_cache_key: { is: rule.text, to: 'cacheKey', read: asFilledText, write: writeIfSupported(shortenId) },
    service_tier: { is: rule.text, to: 'serviceTier', read: asFilledText, write: writeIfSupported(toRequestableTier) },
    store: { is: rule.boolean, isLost: (store) => store === true },
    // Never written: OpenAI accepts metadata only for replies that it stores.
    metadata: { is: rule.object, to: 'metadata', read: asFilledObject, writtenBy: 'none' },
    // xAI
    deferred: rule.mustBeFalse(
      'a deferred completion can be fetched only with this service’s vendor key. Use POST /v1/responses with ' +
        '`background: true`',
    ),
  },
  {
    translationOnly: {
      top_k: { is: rule.anything, to: 'topK', read: readTopK, writtenBy: 'none' },
      verbosity: { is: rule.text, to: 'verbosity', read: asFilledText, write: writeIfSupported() },
      prompt_cache_retention: { is: rule.text, to: 'cacheRetention', read: asFilledText, write: selectRetention },
      modalities: { is: rule.textOrTexts, to: 'wantsImages', read: readModalities, write: writeModalities },
    },
    unmappedMembers: ['model', 'function_call', 'reasoning', 'thinking', 'web_search_options'],
  },
);

function readTopLogprobs(value: JsonValue): number | undefined {
  return maybeInteger(value, 'top_logprobs', 0, 20) || undefined;
}

function readTopK(value: JsonValue, notes: Notes): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  notes.drop('top_k');
  return undefined;
}

function readModalities(value: JsonValue): true | undefined {
  const modalities = listTexts(value);
  if (modalities.includes('audio')) {
    throw new GatewayError('not_supported', 'Audio output is not supported.', { param: 'modalities' });
  }
  return modalities.includes('image') || undefined;
}

function writeModalities(_: true, { profile }: EncodeTarget): string[] | undefined {
  // OpenRouter's Chat endpoint is the only one that generates images on request.
  return profile.quirks.reasoning === 'openrouter' ? ['image', 'text'] : undefined;
}

/** Many vendors reject these parameters. Vendors that support custom tools accept them, because both are equally new. */
function writeIfSupported(write: (setting: string) => string | undefined = (setting) => setting) {
  return (setting: string, { profile }: EncodeTarget) => (profile.quirks.freeform_tools ? write(setting) : undefined);
}

export function isSingleChoice({ n }: ChatRequest): boolean {
  return typeof n !== 'number' || n <= 1;
}
