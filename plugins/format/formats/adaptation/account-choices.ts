import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { CustomerChoice } from '#core/config/catalog/customer-choices.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { isSet, mapObjects, omitMembers } from './adapt-members.ts';

interface AccountField {
  readonly choice: CustomerChoice;
  hasNoExtraCost?(value: JsonValue): boolean;
  /** True if the request must be rejected, because a reply that ignored the field would break a promise. */
  readonly isBinding?: boolean;
}

/** Tiers that cost the default price or less. Sources: OpenAI, Anthropic, Gemini and Groq API references, `service_tier`. */
const freeTiers = new Set([
  'auto',
  'default',
  'flex',
  'batch',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
]);

function isFreeTier(value: JsonValue): boolean {
  return typeof value === 'string' && freeTiers.has(value.toLowerCase().replace(/^service_tier_/, ''));
}

const accountFields: ReadonlyMap<string, AccountField> = new Map<string, AccountField>([
  // Anthropic, SDK 1.10 and 1.11: they select the accounts that are billed and those that usage is counted for.
  ['billing_policy', { choice: 'billing_policy' }],
  ['user_profile_id', { choice: 'user_profile_id' }],
  ['workspace_id', { choice: 'workspace_id' }],
  // Anthropic docs, "Fast mode": `fast` costs more. A number is the speed of a voice.
  ['speed', { choice: 'speed', hasNoExtraCost: (value) => value !== 'fast' }],
  ['service_tier', { choice: 'service_tier', hasNoExtraCost: isFreeTier }],
  ['serviceTier', { choice: 'service_tier', hasNoExtraCost: isFreeTier }],
  // Anthropic docs, "Data residency": costs more, and customers must be able to rely on it.
  ['inference_geo', { choice: 'inference_geo', isBinding: true }],
]);

/**
 * Removes choices that customers may not make for the operator's account from a body in the upstream's format. Returns the same body if
 * there are none.
 *
 * @throws GatewayError `unsupported_content` for a choice that must not be dropped
 */
export function removeAccountChoices(
  body: JsonObject,
  { customerChoices = [] }: Pick<Upstream, 'customerChoices'>,
  notes: Notes,
): JsonObject {
  let allowedBody = body;
  for (const [name, value] of Object.entries(body)) {
    if (name === 'fallbacks') {
      allowedBody = mapObjects(allowedBody, name, (entry) => removeAccountChoices(entry, { customerChoices }, notes));
      continue;
    }
    const field = accountFields.get(name);
    if (field === undefined || !isChosen(value) || field.hasNoExtraCost?.(value) === true) continue;
    if (customerChoices.includes(field.choice)) continue;
    if (field.isBinding === true) throw createRejectedChoiceError(name);
    notes.drop(name);
    allowedBody = omitMembers(allowedBody, [name]);
  }
  return allowedBody;
}

/**
 * Rejects choices that must not be dropped. Call this before a translation, because no other format can express them.
 *
 * @throws GatewayError `unsupported_content` for such a choice
 */
export function refuseBindingChoices(body: JsonObject): void {
  for (const [name, { isBinding }] of accountFields)
    if (isBinding === true && isChosen(body[name])) throw createRejectedChoiceError(name);
}

function isChosen(value: JsonValue | undefined): value is JsonValue {
  return isSet(value) && value !== '';
}

function createRejectedChoiceError(name: string): GatewayError {
  const message = `\`${name}\` cannot be chosen for this model. Omit it.`;
  return new GatewayError('unsupported_content', message, { param: name });
}
