import { isJsonObject, type JsonObject } from '#core/json.ts';
import { isSet, without } from '../pass-through/adapt-members.ts';
import { canReason, isForeignEffort } from '../pass-through/adapt-reasoning.ts';
import { type Adaptation, type AdaptationTarget, type Probe, rewriteMembers } from '../pass-through/adaptation.ts';
import { noteReasoningDropped, refusesToolsWithReasoning } from './reasoning-with-tools.ts';

/** All Chat members that request reasoning, of all vendors. */
const names = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinking_budget'];

/**
 * Requests reasoning in the route's style. Vendor-specific members stay, unless the route is known to reject them.
 */
export function adaptReasoning(probe: Probe): Adaptation {
  return (body, target) => {
    const { tools } = body;
    const isRefused = Array.isArray(tools) && tools.length > 0 && refusesToolsWithReasoning(target.profile);
    if (isRefused && body['reasoning_effort'] !== 'none') return withoutEffort(body, target);
    const isAsked = names.some((name) => isSet(body[name]));
    if (!isAsked) return body;
    if (canReason(target.profile) && !isForeignEffort(body['reasoning_effort'], target.profile)) return body;
    const asked = Object.fromEntries(names.map((name) => [name, body[name]]));
    const { thinking, ...written } = rewriteMembers(probe, asked, target);
    const said = names.flatMap((name) => (isSet(written[name]) ? [[name, written[name]] as const] : []));
    const adapted = { ...without(body, names), ...Object.fromEntries(said) };
    if (!isJsonObject(thinking)) return adapted;
    return { ...adapted, thinking: { ...(isJsonObject(body['thinking']) && body['thinking']), ...thinking } };
  };
}

function withoutEffort(body: JsonObject, { notes }: AdaptationTarget): JsonObject {
  noteReasoningDropped(notes);
  return { ...without(body, names), reasoning_effort: 'none' };
}
