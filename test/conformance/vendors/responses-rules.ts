import type { JsonObject } from '#core/platform/json.ts';
import { objectsOf, textOf } from '../conversation.ts';
import { checkAnswered } from '../upstreams/upstream-format.ts';
import type { Rule } from './vendor.ts';

/* What Responses endpoints refuse. */

const itemsOf = (body: JsonObject): JsonObject[] => objectsOf(body['input']);

/** Calls have results, and results calls. */
export const wellFormed: Rule = ({ body }) => {
  if (typeof body['input'] === 'string') return undefined;
  const idsOf = (pattern: RegExp): string[] =>
    itemsOf(body)
      .filter(({ type }) => pattern.test(textOf(type)))
      .map((item) => textOf(item['call_id']));
  try {
    checkAnswered(idsOf(/_call$/), idsOf(/_call_output$/), 'input');
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

export const functionsOnly: Rule = ({ body }) => {
  const foreign = objectsOf(body['tools']).find(({ type }) => type !== 'function');
  return foreign === undefined ? undefined : `tools: unknown type ${String(foreign['type'])}`;
};

/** Encrypted content that another vendor has made is refused. */
export function ownState(state: string): Rule {
  return ({ body }) => {
    const foreign = itemsOf(body).find(
      ({ encrypted_content: content }) => typeof content === 'string' && content !== state,
    );
    return foreign === undefined ? undefined : 'encrypted content could not be verified';
  };
}
