import type { TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Traits } from '#core/catalog/traits.ts';
import { efforts } from '../canonical/conversation.ts';
import { noteThoughtless, thinksWithoutTools } from '../chat/thoughtless.ts';
import { member } from '../request/members.ts';
import { isSaid, unlessEmpty, without, withMember } from './adapt-members.ts';
import { rewriteMembers, type SwitchTarget } from './adaptation-probe.ts';

/** Everything by which thinking is asked for in Chat, whoever's word it is. */
const chatNames = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinking_budget'];

/**
 * Asks for thinking in words that the route takes. What its vendor has words of its own for stays as it is: only what is
 * known to be refused is said differently.
 *
 * @throws GatewayError `invalid_request` when that cannot be understood
 */
export function switchReasoning(format: TextFormat, body: JsonObject, target: SwitchTarget): JsonObject {
  if (format === 'chat') return switchChat(body, target);
  if (format === 'responses') return switchResponses(body, target);
  // Gemini's stands within its generationConfig, see generation-switches.ts.
  return format === 'messages' ? switchMessages(body, target) : body;
}

function canThink({ capabilities, parameters }: Traits): boolean {
  return capabilities.reasoning && parameters.reasoning !== 'none';
}

function switchChat(body: JsonObject, target: SwitchTarget): JsonObject {
  const { tools } = body;
  const isRefused = Array.isArray(tools) && tools.length > 0 && thinksWithoutTools(target.traits);
  if (isRefused && body['reasoning_effort'] !== 'none') return withoutEffort(body, target);
  const isAsked = chatNames.some((name) => isSaid(body[name]));
  if (!isAsked) return body;
  if (canThink(target.traits) && !isForeignEffort(body['reasoning_effort'], target.traits)) return body;
  const asked = Object.fromEntries(chatNames.map((name) => [name, body[name]]));
  const { thinking, ...written } = rewriteMembers('chat', asked, target);
  const said = chatNames.flatMap((name) => (isSaid(written[name]) ? [[name, written[name]] as const] : []));
  const switched = { ...without(body, chatNames), ...Object.fromEntries(said) };
  if (!isJsonObject(thinking)) return switched;
  return { ...switched, thinking: { ...(isJsonObject(body['thinking']) && body['thinking']), ...thinking } };
}

function withoutEffort(body: JsonObject, { notes }: SwitchTarget): JsonObject {
  noteThoughtless(notes);
  return { ...without(body, chatNames), reasoning_effort: 'none' };
}

/** True for an effort that is not known there, or where efforts are not known at all. */
function isForeignEffort(effort: JsonValue | undefined, { parameters }: Traits): boolean {
  if (typeof effort !== 'string') return false;
  const isUnknown = !(parameters.efforts as readonly string[]).includes(effort);
  if (parameters.reasoning === 'enable_thinking') return true;
  return isUnknown || (parameters.reasoning === 'thinking' && parameters.efforts.length === efforts.length);
}

const sealedReasoning = 'reasoning.encrypted_content';

function switchResponses(body: JsonObject, target: SwitchTarget): JsonObject {
  const { reasoning, include } = body;
  const isKnown = canThink(target.traits);
  const isRefused = isSaid(reasoning) && (!isKnown || isForeignEffort(member(reasoning, 'effort'), target.traits));
  const switched = isRefused ? withMember(body, 'reasoning', rewriteResponses(reasoning, target)) : body;
  // Who does not think has nothing to seal, and says so with an error.
  if (isKnown || !Array.isArray(include) || !include.includes(sealedReasoning)) return switched;
  const others = include.filter((one) => one !== sealedReasoning);
  return withMember(switched, 'include', others.length === 0 ? undefined : others);
}

function rewriteResponses(reasoning: JsonValue, target: SwitchTarget): JsonValue | undefined {
  const { reasoning: written } = rewriteMembers('responses', { reasoning }, target);
  if (!isJsonObject(written) || !isJsonObject(reasoning)) return written;
  return { ...written, ...reasoning, effort: written['effort'] };
}

function switchMessages(body: JsonObject, target: SwitchTarget): JsonObject {
  const { thinking } = body;
  const effort = member(body['output_config'], 'effort');
  if (!isSaid(thinking) && !isSaid(effort)) return body;
  if (!canThink(target.traits)) return withoutThinking(body, target);
  const isBudget = target.traits.parameters.reasoning === 'budget';
  const isRefused = isForeignThinking(body, target.traits);
  const isEffortRefused = isBudget ? isSaid(effort) : isForeignEffort(effort, target.traits);
  if (!isRefused && !isEffortRefused) return body;
  const rewritten = rewriteMessages(body, target);
  const thinks = isRefused ? withMember(body, 'thinking', rewritten['thinking']) : body;
  return withEffort(thinks, member(rewritten['output_config'], 'effort'));
}

function withoutThinking(body: JsonObject, { notes }: SwitchTarget): JsonObject {
  const isOff = member(body['thinking'], 'type') === 'disabled';
  if (!isOff) notes.drop('reasoning');
  return withEffort(without(body, ['thinking']), undefined);
}

/** True for a way to ask that the model does not know, and for a budget that leaves no room for the answer. */
function isForeignThinking({ thinking, max_tokens: limit }: JsonObject, { parameters }: Traits): boolean {
  const type = member(thinking, 'type');
  if (parameters.reasoning === 'adaptive') return type === 'enabled';
  if (parameters.reasoning !== 'budget') return false;
  const budget = member(thinking, 'budget_tokens');
  const isTooMuch = typeof budget === 'number' && typeof limit === 'number' && budget >= limit;
  return type === 'adaptive' || type === 'between_tools' || (type === 'enabled' && isTooMuch);
}

/** The budget is the client's own where it has given one: an effort beside it is only a hint. */
function rewriteMessages(body: JsonObject, target: SwitchTarget): JsonObject {
  const { thinking, max_tokens, messages } = body;
  const type = member(thinking, 'type');
  const isOwnBudget = target.traits.parameters.reasoning === 'budget' && type === 'enabled';
  const effort = member(body['output_config'], 'effort');
  if (isOwnBudget && isSaid(effort)) target.notes.drop('output_config.effort');
  const isBegun = Array.isArray(messages) && member(messages.at(-1), 'role') === 'assistant';
  const asks = { role: 'user', content: '.' };
  const asked = {
    thinking,
    // Where only tokens are counted there is no limit.
    max_tokens: max_tokens ?? Number.MAX_SAFE_INTEGER,
    ...(isSaid(effort) && !isOwnBudget && { output_config: { effort } }),
    messages: isBegun ? [asks, { role: 'assistant', content: '.' }] : [asks],
  };
  return rewriteMembers('messages', asked, target);
}

function withEffort(body: JsonObject, effort: JsonValue | undefined): JsonObject {
  const config = body['output_config'];
  if (!isJsonObject(config) && effort === undefined) return body;
  const changed = withMember(isJsonObject(config) ? config : {}, 'effort', effort);
  return withMember(body, 'output_config', unlessEmpty(changed));
}
