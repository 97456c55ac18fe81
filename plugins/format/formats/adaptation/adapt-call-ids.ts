import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { anyId, CallIds, type IdForm, numberedId } from '../../canonical/call-ids.ts';
import { nineCharacters } from '../../canonical/openai.ts';
import type { Adaptation } from '../contract/adaptation.ts';

type CallIdRule = Quirks['tool_call_ids'];

/** Writes the ids of a request's calls and results, in their order. Returns the same body if no id changes. */
export type WriteCallIds = (body: JsonObject, ids: WireIds) => JsonObject;

/**
 * Gives calls and their results ids that the vendor accepts: unique ids, or ids of a vendor-specific form. Accepted ids are kept,
 * except that empty ids are filled in for every vendor.
 *
 * @param unique id form of the format, for vendors that require no other form
 */
export function adaptCallIds(write: WriteCallIds, unique: IdForm = anyId): Adaptation {
  return (body, { profile }) => write(body, new WireIds(profile.quirks.tool_call_ids, unique));
}

/** The ids of one request. */
export class WireIds {
  readonly #rule: CallIdRule;
  readonly #form: IdForm;
  /** Created on first use: most requests have no calls. */
  #made: CallIds | undefined;

  constructor(rule: CallIdRule, unique: IdForm) {
    this.#rule = rule;
    this.#form = formOf(rule, unique);
  }

  get #ids(): CallIds {
    return (this.#made ??= new CallIds(this.#form));
  }

  call(given: string, name: string): string {
    return this.#keeps(given) ? given : this.#ids.call(given, name);
  }

  /** The id for a result; the given id if the result belongs to no call. */
  result(given: string): string {
    return this.#keeps(given) ? given : (this.#ids.result(given) ?? given);
  }

  /** Ends the current turn, as `CallIds.endTurn` does. */
  endTurn(): void {
    this.#made?.endTurn();
  }

  #keeps(given: string): boolean {
    return this.#rule === 'any' && given !== '';
  }
}

const nine: IdForm = {
  own: (id) => (id === '' ? '' : nineCharacters(id)),
  numbered: (id, _name, number) => nineCharacters(numberedId(id, number)),
};

/**
 * `functions.NAME:N`, where N counts the calls of a conversation from 0. Source: Moonshot's "Tool call guidance" for Kimi K2, whose
 * prompts contain the ids.
 */
const byFunction: IdForm = {
  own: (id, name) => (id.startsWith(`functions.${name}:`) && /:\d+$/.test(id) ? id : ''),
  numbered: (_id, name, number) => `functions.${name}:${number}`,
  isByPlace: true,
};

function formOf(rule: CallIdRule, unique: IdForm): IdForm {
  if (rule === 'nine_characters') return nine;
  return rule === 'functions' ? byFunction : unique;
}
