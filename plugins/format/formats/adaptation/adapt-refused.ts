import type { Quirks } from '#core/config/catalog/quirks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import type { Adaptation } from '../contract/adaptation.ts';
import { canOmit, mapEntries, omitMembers } from './adapt-members.ts';

/** Members of OpenRouter and LiteLLM that name further models, which neither the account's plan nor the record covers. */
export const fallbackModelMembers = ['models', 'fallbacks'];

/**
 * Removes members that a route rejects, at any depth: another vendor's history, defaults that a client sends explicitly, and
 * beta features of a vendor that is not behind the route.
 *
 * @param listVendorMembers lists members that only the format's own vendor supports
 */
export function adaptRefused(listVendorMembers: (quirks: Quirks) => readonly string[] = () => []): Adaptation {
  const rulesByQuirks = new WeakMap<Quirks, MemberRules>();
  return (body, { profile: { quirks }, notes }) => {
    let rules = rulesByQuirks.get(quirks);
    if (rules === undefined) {
      rules = new MemberRules(quirks, listVendorMembers(quirks));
      rulesByQuirks.set(quirks, rules);
    }
    return rules.isEmpty ? body : (removeRefused(body, rules, '', notes) as JsonObject);
  };
}

/** Returns true if a route rejects a member at the top level of a request. */
export function isRefusedMember(name: string, { refuses, accepts }: Quirks): boolean {
  if (refuses.includes(name)) return true;
  return !accepts.includes(name) && accepts.some((path) => !path.includes('.'));
}

/** Rules for the members of an object and, by name, for the objects inside it. */
class MemberRules {
  readonly #refusedNames = new Set<string>();
  readonly #acceptedNames = new Set<string>();
  readonly #inner = new Map<string, MemberRules>();

  constructor({ refuses, accepts }: Pick<Quirks, 'refuses' | 'accepts'>, vendorMembers: readonly string[]) {
    for (const path of [...refuses, ...vendorMembers])
      this.#addPath(path, (rules, name) => rules.#refusedNames.add(name));
    for (const path of accepts) this.#addPath(path, (rules, name) => rules.#acceptedNames.add(name));
  }

  get isEmpty(): boolean {
    return this.#refusedNames.size === 0 && this.#acceptedNames.size === 0 && this.#inner.size === 0;
  }

  refuses(name: string): boolean {
    return this.#refusedNames.has(name) || (this.#acceptedNames.size > 0 && !this.#acceptedNames.has(name));
  }

  getInnerRules(name: string): MemberRules | undefined {
    return this.#inner.get(name);
  }

  #addPath(path: string, addName: (rules: MemberRules, name: string) => void): void {
    const dot = path.indexOf('.');
    if (dot === -1) return addName(this, path);
    const outer = path.slice(0, dot);
    const inner = this.#inner.get(outer) ?? new MemberRules({ refuses: [], accepts: [] }, []);
    this.#inner.set(outer, inner);
    inner.#addPath(path.slice(dot + 1), addName);
  }
}

/** Removes rejected members. Returns the same value if there are none. */
function removeRefused(value: JsonValue, rules: MemberRules, path: string, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => removeRefused(entry, rules, path, notes));
  // A raw number is also an object but has no members.
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
  let acceptedObject = value;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (rules.refuses(name)) {
      acceptedObject = omitMembers(acceptedObject, [name]);
      if (!canOmit(name, member)) notes.drop(path === '' ? name : `${name} of ${path}`);
      continue;
    }
    const inner = rules.getInnerRules(name);
    if (inner === undefined) continue;
    const acceptedMember = removeRefused(member, inner, path === '' ? name : `${path}.${name}`, notes);
    if (acceptedMember !== member) acceptedObject = { ...acceptedObject, [name]: acceptedMember };
  }
  return acceptedObject;
}
