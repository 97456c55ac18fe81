import type { Quirks } from '#core/config/catalog/quirks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import type { Adaptation } from '../contract/adaptation.ts';
import { canOmit, mapEntries, omitMembers } from './adapt-members.ts';

/** OpenRouter and LiteLLM fields that name further models, which neither the account's plan nor the record would cover. */
export const fallbackModelMembers = ['models', 'fallbacks'];

/**
 * Removes members that a route rejects, at any depth: members that another vendor left in the history, defaults that a client sends
 * explicitly, and beta features of vendors other than the route's.
 *
 * @param listVendorMembers lists members that only the format's own vendor supports
 */
export function adaptRefused(listVendorMembers: (quirks: Quirks) => readonly string[] = () => []): Adaptation {
  const rulesByQuirks = new WeakMap<Quirks, MemberRules>();
  return (body, { profile: { quirks }, notes }) => {
    let rules = rulesByQuirks.get(quirks);
    if (rules === undefined) {
      rules = createRules();
      for (const path of [...quirks.refuses, ...listVendorMembers(quirks)]) addPath(rules, 'refuses', path.split('.'));
      for (const path of quirks.accepts) addPath(rules, 'accepts', path.split('.'));
      rulesByQuirks.set(quirks, rules);
    }
    const { refuses, accepts, inner } = rules;
    const isEmpty = refuses.size + accepts.size + inner.size === 0;
    return isEmpty ? body : (removeRefused(body, rules, '', notes) as JsonObject);
  };
}

/** Returns true if a route rejects this member at the top level of a request. */
export function isRefusedMember(name: string, { refuses, accepts }: Quirks): boolean {
  if (refuses.includes(name)) return true;
  return !accepts.includes(name) && accepts.some((path) => !path.includes('.'));
}

interface MemberRules {
  readonly refuses: Set<string>;
  /** If not empty, the only names that are accepted. */
  readonly accepts: Set<string>;
  readonly inner: Map<string, MemberRules>;
}

function createRules(): MemberRules {
  return { refuses: new Set(), accepts: new Set(), inner: new Map() };
}

function addPath(rules: MemberRules, list: 'refuses' | 'accepts', [name = '', ...path]: readonly string[]): void {
  if (path.length === 0) {
    rules[list].add(name);
    return;
  }
  const inner = rules.inner.get(name) ?? createRules();
  rules.inner.set(name, inner);
  addPath(inner, list, path);
}

function removeRefused(value: JsonValue, rules: MemberRules, path: string, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => removeRefused(entry, rules, path, notes));
  // A raw number is also an object, but has no members.
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
  let acceptedObject = value;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (rules.refuses.has(name) || (rules.accepts.size > 0 && !rules.accepts.has(name))) {
      acceptedObject = omitMembers(acceptedObject, [name]);
      if (!canOmit(name, member)) notes.drop(path === '' ? name : `${name} of ${path}`);
      continue;
    }
    const inner = rules.inner.get(name);
    if (inner === undefined) continue;
    const acceptedMember = removeRefused(member, inner, path === '' ? name : `${path}.${name}`, notes);
    if (acceptedMember !== member) acceptedObject = { ...acceptedObject, [name]: acceptedMember };
  }
  return acceptedObject;
}
