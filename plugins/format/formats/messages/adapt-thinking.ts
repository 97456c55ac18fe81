import type { Profile } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { type Effort, efforts } from '../../canonical/conversation.ts';
import { readTaggedState } from '../../canonical/opaque-state.ts';
import { canReason, clampEffort, isUnsupportedEffort, requiresReasoning } from '../../canonical/reasoning.ts';
import { asFilledObject, asList, readMember } from '../../wire/members.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesOutputConfig,
  MessagesRequest,
  MessagesThinking,
} from '../../wire/messages.ts';
import { isSet, withMember, omitMembers, mapEntries } from '../adaptation/adapt-members.ts';
import { type Adaptation, type AdaptationTarget, reencodeMembers } from '../contract/adaptation.ts';
import { blocksOf, mapBlocks } from './blocks.ts';
import { messagesCodec } from './codec.ts';
import { isCall } from './reply/read-output.ts';

/** Requests thinking in the route's style. Only changes members that the route is known to reject. */
export const adaptThinking: Adaptation = (body: MessagesRequest, target) => {
  const { thinking } = body;
  const effort = readMember<MessagesOutputConfig>(body.output_config, 'effort');
  if (!isSet(thinking) && !isSet(effort)) return canReason(target.profile) ? body : removeThinking(body);
  if (!canReason(target.profile)) return dropThinking(body, target);
  if (isTurnedOff(body, target.profile)) return turnThinkingOff(body, target);
  const usesBudget = target.profile.quirks.reasoning === 'budget';
  const isThinkingRejected = isUnsupportedThinking(body, target.profile);
  const isEffortRejected = usesBudget ? isSet(effort) : isUnsupportedEffort(effort, target.profile);
  if (!isThinkingRejected && !isEffortRejected) return body;
  const rewrittenBody: MessagesRequest = rewriteThinking(body, target);
  const adaptedBody = isThinkingRejected ? withMember(body, 'thinking', rewrittenBody.thinking) : body;
  return withEffort(adaptedBody, readMember<MessagesOutputConfig>(rewrittenBody.output_config, 'effort'));
};

function dropThinking(body: MessagesRequest, { notes }: AdaptationTarget): MessagesRequest {
  const isOff = readMember<MessagesThinking>(body.thinking, 'type') === 'disabled';
  if (!isOff) notes.drop('reasoning');
  return removeThinking(body);
}

function removeThinking(body: MessagesRequest): MessagesRequest {
  return withEffort(omitMembers(body, ['thinking']), undefined);
}

/** Returns true if the client turns thinking off and the model does not allow this with every effort. */
function isTurnedOff({ thinking }: MessagesRequest, { quirks }: Profile): boolean {
  const type = readMember<MessagesThinking>(thinking, 'type');
  if (quirks.no_thinking === 'disabled' || !quirks.efforts.includes('none')) return false;
  return type === 'disabled' || (type === 'between_tools' && type === quirks.no_thinking);
}

function turnThinkingOff(body: MessagesRequest, { profile, notes }: AdaptationTarget): MessagesRequest {
  const isBetweenTools = profile.quirks.no_thinking === 'between_tools';
  const isAdapted = isBetweenTools && readMember<MessagesThinking>(body.thinking, 'type') === 'disabled';
  if (isAdapted) notes.approximate('thinking disabled as between_tools');
  const adaptedBody = isAdapted ? withMember(body, 'thinking', { type: 'between_tools' }) : body;
  const clientEffort = readMember<MessagesOutputConfig>(body.output_config, 'effort');
  const knownEffort = efforts.find((candidate) => candidate === clientEffort);
  const acceptedEfforts: readonly Effort[] = profile.quirks.efforts.filter(
    (candidate) => candidate !== 'xhigh' && candidate !== 'max',
  );
  if (knownEffort === undefined || acceptedEfforts.includes(knownEffort)) return adaptedBody;
  const effort = clampEffort(knownEffort, acceptedEfforts);
  notes.approximate(`reasoning effort as ${effort}`);
  return withEffort(adaptedBody, effort);
}

function isUnsupportedThinking({ thinking, max_tokens: limit }: MessagesRequest, { quirks }: Profile): boolean {
  const type = readMember<MessagesThinking>(thinking, 'type');
  if (type === 'disabled') return !quirks.efforts.includes('none');
  // Only newer Claude models support this type.
  if (type === 'between_tools') return !quirks.claude || quirks.reasoning === 'budget';
  if (quirks.reasoning === 'adaptive') return type === 'enabled';
  if (quirks.reasoning !== 'budget') return false;
  const budget = readMember<MessagesThinking>(thinking, 'budget_tokens');
  // The budget must leave room for the answer.
  const exceedsLimit = typeof budget === 'number' && typeof limit === 'number' && budget >= limit;
  return type === 'adaptive' || (type === 'enabled' && exceedsLimit);
}

function rewriteThinking(body: MessagesRequest, target: AdaptationTarget): MessagesRequest {
  const { thinking, max_tokens, messages } = body;
  const type = readMember<MessagesThinking>(thinking, 'type');
  const hasClientBudget = target.profile.quirks.reasoning === 'budget' && type === 'enabled';
  const effort = readMember<MessagesOutputConfig>(body.output_config, 'effort');
  // An effort next to a budget is only a hint.
  if (hasClientBudget && isSet(effort)) target.notes.drop('output_config.effort');
  const isPrefilled = Array.isArray(messages) && readMember<MessagesMessage>(messages.at(-1), 'role') === 'assistant';
  const userMessage = { role: 'user', content: '.' };
  const request: MessagesRequest = {
    thinking,
    // A request that only counts tokens has no limit.
    max_tokens: max_tokens ?? Number.MAX_SAFE_INTEGER,
    ...(isSet(effort) && !hasClientBudget && { output_config: { effort } }),
    messages: isPrefilled ? [userMessage, { role: 'assistant', content: '.' }] : [userMessage],
  };
  return reencodeMembers(messagesCodec, request, target);
}

function withEffort(body: MessagesRequest, effort: JsonValue | undefined): MessagesRequest {
  const config = body.output_config;
  if (!isJsonObject(config) && effort === undefined) return body;
  const changedConfig = withMember<MessagesOutputConfig>(isJsonObject(config) ? config : {}, 'effort', effort);
  return withMember(body, 'output_config', asFilledObject(changedConfig));
}

/**
 * Drops thinking blocks whose signature is missing, or comes from a different or unknown origin, because the route would reject this and
 * every later request of the conversation. The text is kept if the route does not check signatures. A message that only has thinking is
 * removed; consecutive messages of the same role are one turn. Source: Anthropic docs, "Extended thinking".
 */
export function dropForeignThinking(body: MessagesRequest, target: AdaptationTarget): MessagesRequest {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const adaptBlock = (block: MessagesBlock, { role }: MessagesMessage) =>
    role === 'assistant' ? adaptThinkingBlock(block, target) : block;
  return withMember(body, 'messages', mapBlocks(messages, adaptBlock));
}

function adaptThinkingBlock(
  block: MessagesBlock,
  { origin, profile, notes }: AdaptationTarget,
): MessagesBlock | undefined {
  const { type, thinking, signature, data } = block;
  if (type !== 'thinking' && type !== 'redacted_thinking') return block;
  const value = type === 'thinking' ? signature : data;
  const state = typeof value === 'string' ? readTaggedState(value) : undefined;
  if (state?.origin === origin && state.kind !== 'none') return block;
  if (!profile.quirks.signed_thinking && type === 'thinking') return value === '' ? block : { ...block, signature: '' };
  const isEmpty = (thinking ?? '') === '' && (value ?? '') === '';
  if (!isEmpty) notes.drop(`reasoning of ${state === undefined ? 'unknown origin' : 'another upstream'}`);
  return undefined;
}

/**
 * Drops thinking from a request whose tool loop began without it, because the vendor would reject the request. Such a request ends with
 * tool results, and the answer with the calls does not begin with thinking, because another upstream generated the answer. The model thinks
 * again after the tool loop. Source: Anthropic docs, "Extended thinking", "Preserving thinking blocks"; adaptive thinking has no such rule.
 */
export function dropThinkingInToolLoop(body: MessagesRequest, { profile, notes }: AdaptationTarget): MessagesRequest {
  if (!profile.quirks.signed_thinking) return body;
  const { thinking: mode, messages } = body;
  if (readMember<MessagesThinking>(mode, 'type') !== 'enabled' || !Array.isArray(messages)) return body;
  const loopStart = findLoopStart(messages);
  if (loopStart === undefined || isThinking(asList(loopStart.content)[0])) return body;
  notes.drop('reasoning until the end of this tool loop');
  const { thinking: _, ...bodyWithoutThinking } = body;
  return bodyWithoutThinking;
}

/** If the dialogue ends with tool results, the loop starts after the last user message. Consecutive messages are one turn. */
function findLoopStart(messages: readonly JsonValue[]): MessagesMessage | undefined {
  let loopStart: MessagesMessage | undefined;
  let isAnswered = false;
  for (const entry of messages.toReversed()) {
    if (!isJsonObject(entry)) return undefined;
    const message: MessagesMessage = entry;
    if (message.role !== 'assistant') {
      isAnswered ||= blocksOf(message).some(({ type }) => type === 'tool_result');
      continue;
    }
    if (!isAnswered) return loopStart;
    loopStart = message;
    isAnswered = false;
  }
  return loopStart;
}

/**
 * Begins the answers of the history with a thinking block if the vendor rejects answers without one. If the thinking is lost, the vendor
 * accepts an empty block. Source: DeepSeek, "The `content[].thinking` in the thinking mode must be passed back to the API.";
 * qwen-code#3788.
 */
export const replayThinking: Adaptation = (body: MessagesRequest, { profile }) => {
  const { messages } = body;
  if (!requiresReasoning(profile, true) || readMember<MessagesThinking>(body.thinking, 'type') === 'disabled')
    return body;
  if (!Array.isArray(messages)) return body;
  const replayed = mapEntries(messages, (message) => {
    const { role, content: rawContent }: MessagesMessage = isJsonObject(message) ? message : {};
    if (!isJsonObject(message) || role !== 'assistant') return message;
    const content = toBlocks(rawContent);
    if (content.some(isThinking) || !requiresReasoning(profile, content.some(isCall))) return message;
    return { ...message, content: [{ type: 'thinking', thinking: '', signature: '' }, ...content] };
  });
  return replayed === messages ? body : { ...body, messages: replayed };
};

function toBlocks(content: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

function isThinking(block: JsonValue | undefined): boolean {
  const type = readMember<MessagesBlock>(block, 'type');
  return type === 'thinking' || type === 'redacted_thinking';
}
