/** The JSON Schema of an object of exactly these members, unless `optional` names more. */
export function shape(members: Record<string, object>, optional: Record<string, object> = {}): object {
  return {
    type: 'object',
    properties: { ...members, ...optional },
    required: Object.keys(members),
    additionalProperties: false,
  };
}
