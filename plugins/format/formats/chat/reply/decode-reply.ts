import type { Profile } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder } from '../../../canonical/codec.ts';
import {
  droppedPart,
  failed,
  type Fragment,
  readFailure,
  textFragment,
  tierFragment,
  usageFragment,
} from '../../../canonical/reply.ts';
import { member, parseBody } from '../../../wire/members.ts';
import type { CallPiece } from './call-tracker.ts';
import { type ChoiceUpdate, ChoiceTracker } from './choice-tracker.ts';
import { endingWithoutFinish, missingFinish, noteFinish, readAbort, readFinish, readUsage } from './finish.ts';
import type { ChatChoice, ChatMessage, ChatReply } from '../../../wire/chat.ts';

/**
 * Reads a Chat Completions reply with the deviations of all vendors. Of several answers it reads the first. Source:
 * OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
 */
export class ChatDecoder implements ReplyDecoder {
  readonly #tracker: ChoiceTracker;
  /** Index of the answer that is read. */
  #choice: JsonValue | undefined;

  readonly #profile: Profile | undefined;
  #hasFinished = false;
  #tier: JsonValue | undefined;

  constructor(profile?: Profile) {
    this.#profile = profile;
    this.#tracker = new ChoiceTracker({ inlineThinking: profile?.quirks.inline_thinking === true });
  }

  event(name: string | undefined, data: string): Fragment[] {
    const json = data.replace(/^\uFEFF/, '').trim();
    if (json === '[DONE]') return [...this.#rest(), this.#end()];
    const chunk: ChatReply | undefined = parseBody(json);
    if (chunk === undefined) return name === 'error' ? [failed({ message: json })] : [];
    if (name === 'error') return [failed(isJsonObject(chunk.error) ? chunk.error : chunk)];
    const error = readFailure(chunk);
    if (error !== undefined) return [{ type: 'error', error }];
    const choice = this.#pick(chunk.choices);
    const fragments = [...(choice === undefined ? [] : this.#answer(choice)), ...readModeration(chunk)];
    if (this.#hasFinished) noteFinish(this.#profile);
    return [...usageFragment(readUsage(chunk)), ...this.#served(chunk), ...fragments];
  }

  whole(body: ChatReply): Fragment[] {
    const error = readFailure(body);
    if (error !== undefined) return [{ type: 'error', error }];
    const choice = this.#pick(body.choices);
    if (choice === undefined) return [failed({ message: 'an answer without choices', ...body })];
    const counted = [...usageFragment(readUsage(body)), ...this.#served(body)];
    const fragments = [...counted, ...this.#answer(choice), ...readModeration(body), ...this.#rest()];
    return fragments.some(({ type }) => type === 'error') ? fragments : [...fragments, { type: 'end' }];
  }

  /** OpenAI repeats the tier in every chunk. */
  #served({ service_tier: tier }: ChatReply): Fragment[] {
    if (tier === this.#tier) return [];
    this.#tier = tier;
    return tierFragment(tier);
  }

  /** The first answer received, whatever its index. */
  #pick(choices: JsonValue | undefined): ChatChoice | undefined {
    const list: readonly ChatChoice[] = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    this.#choice ??= list[0]?.index ?? undefined;
    return list.find(({ index }) => typeof index !== 'number' || index === this.#choice);
  }

  #answer(choice: ChatChoice): Fragment[] {
    const { delta, message } = choice;
    const failure = readFailure(choice);
    if (failure !== undefined) return [{ type: 'error', error: failure }];
    const fragments: Fragment[] = [
      ...(isJsonObject(choice.logprobs) ? [droppedPart('logprobs', '')] : []),
      ...(isJsonObject(delta) ? fragmentsOf(this.#tracker.delta(delta)) : []),
      ...(isJsonObject(message) ? fragmentsOf(this.#tracker.message(message)) : []),
      ...[delta, message].flatMap(readAudio),
    ];
    const error = readAbort(choice);
    if (error !== undefined) return [...fragments, { type: 'error', error }];
    const finish = readFinish(choice);
    if (finish === undefined || finish === 'failed') return fragments;
    this.#hasFinished = true;
    return [...fragments, ...this.#rest(), finish];
  }

  /** The end of a stream. */
  #end(): Fragment {
    const ending = this.#hasFinished ? 'whole' : endingWithoutFinish(this.#profile);
    if (ending === 'cut') return { type: 'error', error: missingFinish() };
    return ending === 'whole' ? { type: 'end' } : { type: 'end', isUnfinished: true };
  }

  #rest(): Fragment[] {
    const { reasoning, text } = this.#tracker.finish();
    return [...textFragment('reasoning', reasoning), ...textFragment('text', text)];
  }
}

function readAudio(message: JsonValue | undefined): Fragment[] {
  return isJsonObject(member<ChatMessage>(message, 'audio')) ? [droppedPart('audio', '')] : [];
}

/** The vendor's judgement of prompt and answer, which other formats do not have. */
function readModeration({ moderation }: ChatReply): Fragment[] {
  return isJsonObject(moderation) ? [droppedPart('moderation', '')] : [];
}

function fragmentsOf({ reasoning, text, refusal, citations, images, calls }: ChoiceUpdate): Fragment[] {
  return [
    ...textFragment('reasoning', reasoning),
    ...textFragment('text', text),
    ...textFragment('refusal', refusal),
    ...citations.map((citation) => ({ type: 'citation', citation }) as const),
    ...images.map((source) => ({ type: 'image', source }) as const),
    ...calls.flatMap(callFragments),
  ];
}

function callFragments({ call: { key }, isCustom, isFirst, isWhole, id, name, input }: CallPiece): Fragment[] {
  const isNews = isFirst || id !== undefined || name !== undefined;
  return [
    ...(isNews ? [{ type: 'call', key, id, name, ...(isCustom && { form: 'freeform' as const }) } as const] : []),
    ...(input === '' ? [] : [{ type: 'input', key, text: input } as const]),
    ...(isWhole ? [{ type: 'call_end', key } as const] : []),
  ];
}
