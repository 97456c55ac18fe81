import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Profile } from '#core/catalog/profile.ts';
import { isSet, undefinedIfEmpty, withMember, without } from '../pass-through/adapt-members.ts';
import { canReason, isForeignEffort } from '../pass-through/adapt-reasoning.ts';
import { type Adaptation, type AdaptationTarget, type Probe, rewriteMembers } from '../pass-through/adaptation.ts';
import { member } from '../request/members.ts';

/** Requests thinking in the style of the route; changes only what is known to be rejected. */
export function adaptThinking(probe: Probe): Adaptation {
  return (body, target) => {
    const { thinking } = body;
    const effort = member(body['output_config'], 'effort');
    if (!isSet(thinking) && !isSet(effort)) return body;
    if (!canReason(target.profile)) return withoutThinking(body, target);
    const isBudget = target.profile.quirks.reasoning === 'budget';
    const isRefused = isForeignThinking(body, target.profile);
    const isEffortRefused = isBudget ? isSet(effort) : isForeignEffort(effort, target.profile);
    if (!isRefused && !isEffortRefused) return body;
    const rewritten = rewriteThinking(body, probe, target);
    const adapted = isRefused ? withMember(body, 'thinking', rewritten['thinking']) : body;
    return withEffort(adapted, member(rewritten['output_config'], 'effort'));
  };
}

function withoutThinking(body: JsonObject, { notes }: AdaptationTarget): JsonObject {
  const isOff = member(body['thinking'], 'type') === 'disabled';
  if (!isOff) notes.drop('reasoning');
  return withEffort(without(body, ['thinking']), undefined);
}

/** True for a way to ask that the model does not know, and for a budget that leaves no room for the answer. */
function isForeignThinking({ thinking, max_tokens: limit }: JsonObject, { quirks }: Profile): boolean {
  const type = member(thinking, 'type');
  if (quirks.reasoning === 'adaptive') return type === 'enabled';
  if (quirks.reasoning !== 'budget') return false;
  const budget = member(thinking, 'budget_tokens');
  const isTooMuch = typeof budget === 'number' && typeof limit === 'number' && budget >= limit;
  return type === 'adaptive' || type === 'between_tools' || (type === 'enabled' && isTooMuch);
}

/** The budget is the client's own where it has given one: an effort beside it is only a hint. */
function rewriteThinking(body: JsonObject, probe: Probe, target: AdaptationTarget): JsonObject {
  const { thinking, max_tokens, messages } = body;
  const type = member(thinking, 'type');
  const isOwnBudget = target.profile.quirks.reasoning === 'budget' && type === 'enabled';
  const effort = member(body['output_config'], 'effort');
  if (isOwnBudget && isSet(effort)) target.notes.drop('output_config.effort');
  const isBegun = Array.isArray(messages) && member(messages.at(-1), 'role') === 'assistant';
  const asks = { role: 'user', content: '.' };
  const asked = {
    thinking,
    // Where only tokens are counted there is no limit.
    max_tokens: max_tokens ?? Number.MAX_SAFE_INTEGER,
    ...(isSet(effort) && !isOwnBudget && { output_config: { effort } }),
    messages: isBegun ? [asks, { role: 'assistant', content: '.' }] : [asks],
  };
  return rewriteMembers(probe, asked, target);
}

function withEffort(body: JsonObject, effort: JsonValue | undefined): JsonObject {
  const config = body['output_config'];
  if (!isJsonObject(config) && effort === undefined) return body;
  const changed = withMember(isJsonObject(config) ? config : {}, 'effort', effort);
  return withMember(body, 'output_config', undefinedIfEmpty(changed));
}
