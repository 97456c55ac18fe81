import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { anyIdRules, CallIds, type IdRules, appendNumber } from '../../canonical/call-ids.ts';
import { toNineCharacterId } from '../../canonical/openai.ts';
import type { Adaptation } from '../contract/adaptation.ts';

type CallIdRule = Quirks['tool_call_ids'];

/** Rewrites the ids of a request's calls and results, in the order of the request. Returns the same body if no id changes. */
export type WriteCallIds = (body: JsonObject, ids: WireIds) => JsonObject;

/**
 * Gives calls and their results ids that the vendor accepts: unique ids, or ids in a vendor-specific form. Accepted ids are unchanged.
 * Empty ids are filled in for every vendor.
 *
 * @param uniqueForm the format's own form of ids, for vendors that do not require another form
 */
export function adaptCallIds(write: WriteCallIds, uniqueForm: IdRules = anyIdRules): Adaptation {
  return (body, { profile }) => write(body, new WireIds(profile.quirks.tool_call_ids, uniqueForm));
}

export class WireIds {
  readonly #rule: CallIdRule;
  readonly #form: IdRules;
  /** Lazy: most requests have no calls. */
  #createdIds: CallIds | undefined;

  constructor(rule: CallIdRule, uniqueForm: IdRules) {
    this.#rule = rule;
    this.#form = selectForm(rule, uniqueForm);
  }

  get #ids(): CallIds {
    return (this.#createdIds ??= new CallIds(this.#form));
  }

  assignCallId(id: string, name: string): string {
    return this.#isAccepted(id) ? id : this.#ids.addCall(id, name);
  }

  /** A result without a matching call keeps its id. */
  assignResultId(id: string): string {
    return this.#isAccepted(id) ? id : (this.#ids.matchResult(id) ?? id);
  }

  /** Must be called at the first item after the model's turn. */
  endTurn(): void {
    this.#createdIds?.endTurn();
  }

  #isAccepted(id: string): boolean {
    return this.#rule === 'any' && id !== '';
  }
}

const nineCharacterForm: IdRules = {
  toPreferred: (id) => (id === '' ? '' : toNineCharacterId(id)),
  toNumbered: (id, _name, number) => toNineCharacterId(appendNumber(id, number)),
};

/**
 * Ids such as `functions.NAME:N`, where N counts the calls of a conversation from 0. Source: Moonshot's "Tool call guidance" for Kimi K2.
 * The ids are part of the model's prompt.
 */
const functionForm: IdRules = {
  toPreferred: (id, name) => (id.startsWith(`functions.${name}:`) && /:\d+$/.test(id) ? id : ''),
  toNumbered: (_id, name, number) => `functions.${name}:${number}`,
  countsAllCalls: true,
};

function selectForm(rule: CallIdRule, uniqueForm: IdRules): IdRules {
  if (rule === 'nine_characters') return nineCharacterForm;
  return rule === 'functions' ? functionForm : uniqueForm;
}
