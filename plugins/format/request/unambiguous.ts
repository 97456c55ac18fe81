import type { JsonObject } from '#core/json.ts';
import type { ClientFormat } from '../descriptor.ts';
import { fold, type ParameterRules } from './parameters.ts';
import { someMember } from './top-level-members.ts';

/**
 * True when parsers may read different members in a body. It may have a member twice: some parsers take the first, others
 * the last. It may have one in another case: Go's encoding/json takes `Model` for `model`. Or Gemini's path names the model,
 * and its body names another. The gateway has authorised what JSON.parse has read, and the upstream must read the same.
 *
 * Only the outermost members are compared. The gateway decides nothing by what is below: a message with two roles is the
 * client's to explain, and reaches the upstream as it is.
 */
export function isAmbiguous(text: string, { client: { parameters, isModelInPath } }: ClientFormat): boolean {
  const seen = new Set<string>();
  return someMember(text, (begin, end) => {
    const name = text.slice(begin + 1, end);
    // No known name needs escapes, so an escape may hide a duplicate.
    if (name.includes('\\') || isVariant(name, parameters)) return true;
    if (isModelInPath === true && name === 'model') return true;
    const documented = parameters.documented.get(name) ?? name;
    if (seen.has(documented)) return true;
    seen.add(documented);
    return false;
  });
}

/**
 * The text of a body with each member once, as the gateway has read it.
 *
 * @param body with its numbers as they were written, see exact-json.ts
 */
export function writeUnambiguous(body: JsonObject, { client: { parameters, isModelInPath } }: ClientFormat): string {
  const isRead = (name: string): boolean => {
    if (isVariant(name, parameters) || (isModelInPath === true && name === 'model')) return false;
    const documented = parameters.documented.get(name) ?? name;
    return documented === name || !Object.hasOwn(body, documented);
  };
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => isRead(name))));
}

/** True for the name of a parameter in another case. */
function isVariant(name: string, { documented, folded }: ParameterRules): boolean {
  return !documented.has(name) && folded.has(fold(name));
}
