import type { JsonSchema } from '#core/schema.ts';
import type { ParameterRules } from './parameters.ts';

/** A schema whose members are filled in one by one. */
interface OpenSchema extends JsonSchema {
  properties: Record<string, OpenSchema | JsonSchema>;
}

/**
 * The body of a request as the rules of its format describe it, for the documentation of the API. Other members are allowed:
 * they are left to the upstream.
 *
 * @param required names of members that must be there
 */
export function bodySchema({ all }: ParameterRules, required: readonly string[]): JsonSchema {
  const body: OpenSchema = { type: 'object', properties: {} };
  if (required.includes('model')) body.properties['model'] = { type: 'string' };
  for (const { name, rule } of all) place(body, name.split('.'), rule.schema);
  return { ...body, ...(required.length > 0 && { required }) };
}

function place(parent: OpenSchema, [name = '', ...inner]: readonly string[], schema: JsonSchema): void {
  if (inner.length === 0) {
    parent.properties[name] = { ...schema };
    return;
  }
  const member: OpenSchema = { type: 'object', properties: {}, ...parent.properties[name] };
  parent.properties[name] = member;
  place(member, inner, schema);
}
